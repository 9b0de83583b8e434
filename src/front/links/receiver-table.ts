// Who waits for which answer on one stream, by id. It keeps: an id names one request and no other until 4 billion have
// passed, so an answer that comes late finds nobody. An array by the low bits of the id, not a Map: a Map that is
// always filled and emptied leaves a chain of outgrown tables, each with what was waiting when it was outgrown, and all
// of them survive until the next full garbage collection.

import { assert } from '../../core/assert.ts';

const ID_MAX = 0xffff_ffff;
/** A power of two, so that the low bits of an id are its place. */
const PLACES = 16_384;

export class ReceiverTable<Receiver extends object> {
  readonly #receivers: (Receiver | undefined)[] = new Array(PLACES).fill(undefined);
  /** The id at each place; 0: nobody. */
  readonly #ids = new Uint32Array(PLACES);
  #lastId = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The id by which the answer finds the receiver; 1 and up. */
  add(receiver: Receiver): number {
    assert(this.#size < PLACES, 'whoever adds a receiver keeps the bound');
    let id = this.#lastId;
    do {
      id = id >= ID_MAX ? 1 : id + 1;
    } while (this.#ids[id % PLACES] !== 0);
    this.#lastId = id;
    this.#ids[id % PLACES] = id;
    this.#receivers[id % PLACES] = receiver;
    this.#size += 1;
    return id;
  }

  /** Takes out the receiver of an id; undefined where nobody waits for it. */
  take(id: number): Receiver | undefined {
    const place = id % PLACES;
    if (id === 0 || this.#ids[place] !== id) return undefined;
    const receiver = this.#receivers[place];
    this.#ids[place] = 0;
    this.#receivers[place] = undefined;
    this.#size -= 1;
    return receiver;
  }

  /** Takes out all. */
  takeAll(): Receiver[] {
    if (this.#size === 0) return [];
    const all = this.#receivers.filter((receiver) => receiver !== undefined);
    this.#receivers.fill(undefined);
    this.#ids.fill(0);
    this.#size = 0;
    return all;
  }
}
