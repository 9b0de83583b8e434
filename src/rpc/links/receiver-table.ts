// Finds the receiver of each reply on one stream, by id. Invariant: an id names one request, and no other until 4
// billion have passed, so a late reply finds no receiver. The table is an array by the low bits of the id, not a Map: a
// Map that is constantly filled and emptied leaves a chain of outgrown tables, each with what was waiting when it was
// outgrown, and all of them survive until the next full garbage collection.

import { assert } from '../../core/assert.ts';

const ID_MAX = 0xffff_ffff;
/** A power of two, so that the low bits of an id are its place. */
const PLACES = 16_384;

export class ReceiverTable<Receiver extends object> {
  readonly #receivers: (Receiver | undefined)[] = new Array(PLACES).fill(undefined);
  /** The id at each place; 0: free. */
  readonly #ids = new Uint32Array(PLACES);
  #lastId = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns the id by which the reply finds the receiver, at least 1. */
  add(receiver: Receiver): number {
    assert(this.#size < PLACES, 'a receiver is only added while the table has a free place');
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

  /** The receiver of an id, which goes on waiting; undefined if none does. */
  get(id: number): Receiver | undefined {
    const place = id % PLACES;
    return id === 0 || this.#ids[place] !== id ? undefined : this.#receivers[place];
  }

  /** Removes and returns the receiver of an id; undefined if none waits for it. */
  take(id: number): Receiver | undefined {
    const place = id % PLACES;
    if (id === 0 || this.#ids[place] !== id) return undefined;
    const receiver = this.#receivers[place];
    this.#ids[place] = 0;
    this.#receivers[place] = undefined;
    this.#size -= 1;
    return receiver;
  }

  /** From now on, the reply finds another receiver, if one still waits for it. */
  replace(id: number, receiver: Receiver): void {
    const place = id % PLACES;
    if (this.#ids[place] === id) this.#receivers[place] = receiver;
  }

  /** Removes and returns all. */
  takeAll(): Receiver[] {
    if (this.#size === 0) return [];
    const all = this.#receivers.filter((receiver) => receiver !== undefined);
    this.#receivers.fill(undefined);
    this.#ids.fill(0);
    this.#size = 0;
    return all;
  }
}
