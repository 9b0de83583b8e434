// The tuples of one entity: relation and counterpart, each with a text or with nothing. Most entities have a handful, so
// these lie in one array, which is looked through. A map for each relation takes twice the memory, and more time:
// little of so much is in the processor's cache. Beyond a handful there are maps.

import { assert } from '../../core/assert.ts';
import { StringMap, unitAt } from '../../core/structures/string-map.ts';

/** Tuples that are searched linearly. */
const FEW_MAX = 16;
/** Characters at the end of a counterpart that its code is made of: where those of one entity mostly differ. */
const CODE_CHARACTERS = 8;
/** Relations have numbers from 1 to 9. */
const RELATION_BITS = 4;
/** Code, counterpart and value of each tuple, one after the other. */
const CELLS_PER_TUPLE = 3;

type Cells = readonly (number | string | null)[];
const NO_CELLS: Cells = Object.freeze([]);

/** Another one means another tuple. The same one says little: the counterpart has to be compared. */
function codeOf(relation: number, counterpart: string): number {
  const { length } = counterpart;
  let code = length;
  for (let index = Math.max(0, length - CODE_CHARACTERS); index < length; index += 1) {
    code = (Math.imul(code, 31) + unitAt(counterpart, index)) | 0;
  }
  return (code << RELATION_BITS) | relation;
}

export class TupleTable {
  #cells: Cells = NO_CELLS;
  /** By relation, once there are more than a few tuples. */
  #maps: (StringMap<string | null> | undefined)[] | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Undefined: the tuple is not there. */
  get(relation: number, counterpart: string): string | null | undefined {
    if (this.#maps !== undefined) {
      return this.#maps[relation]?.get(counterpart);
    }
    const place = this.#placeOf(relation, counterpart);
    return place < 0 ? undefined : (this.#cells[place + 2] as string | null);
  }

  /** Whether the tuple is new. */
  set(relation: number, counterpart: string, value: string | null): boolean {
    assert(relation > 0 && relation < 1 << RELATION_BITS, 'a relation has its number');
    if (this.#maps !== undefined) return this.#setInMap(this.#maps, relation, counterpart, value);
    const place = this.#placeOf(relation, counterpart);
    if (place >= 0) {
      this.#cells = this.#cells.with(place + 2, value);
      return false;
    }
    if (this.#size < FEW_MAX) {
      // As long as its content: an array that grows by itself takes space for more.
      this.#cells = [...this.#cells, codeOf(relation, counterpart), counterpart, value];
      this.#size += 1;
      return true;
    }
    const maps: (StringMap<string | null> | undefined)[] = [];
    const tuples = [...this.tuples()];
    this.#size = 0;
    for (const each of tuples) this.#setInMap(maps, each.relation, each.counterpart, each.value);
    this.#maps = maps;
    this.#cells = NO_CELLS;
    return this.#setInMap(maps, relation, counterpart, value);
  }

  /** Whether the tuple was there. */
  delete(relation: number, counterpart: string): boolean {
    if (this.#maps !== undefined) {
      if (this.#maps[relation]?.delete(counterpart) !== true) return false;
    } else {
      const place = this.#placeOf(relation, counterpart);
      if (place < 0) return false;
      this.#cells = this.#cells.toSpliced(place, CELLS_PER_TUPLE);
    }
    this.#size -= 1;
    return true;
  }

  /** Of one relation, in no order. */
  counterparts(relation: number): string[] {
    if (this.#maps !== undefined) return [...(this.#maps[relation]?.keys() ?? [])];
    return [...this.tuples()].filter((tuple) => tuple.relation === relation).map(({ counterpart }) => counterpart);
  }

  /** In no order; to be taken whole before anything is deleted, for which others might be left out. */
  *tuples(): Generator<{ readonly relation: number; readonly counterpart: string; readonly value: string | null }> {
    const cells = this.#cells;
    for (let place = 0; place < cells.length; place += CELLS_PER_TUPLE) {
      const relation = Number(cells[place]) & ((1 << RELATION_BITS) - 1);
      yield { relation, counterpart: String(cells[place + 1]), value: cells[place + 2] as string | null };
    }
    for (const [relation, map] of this.#maps?.entries() ?? []) {
      for (const [counterpart, value] of map?.entries() ?? []) yield { relation, counterpart, value };
    }
  }

  #setInMap(
    maps: (StringMap<string | null> | undefined)[],
    relation: number,
    counterpart: string,
    value: string | null,
  ) {
    let map = maps[relation];
    if (map === undefined) {
      map = new StringMap();
      maps[relation] = map;
    }
    const { size } = map;
    map.set(counterpart, value);
    if (map.size === size) return false;
    this.#size += 1;
    return true;
  }

  /** Of the code of the tuple; −1 where it is not there. */
  #placeOf(relation: number, counterpart: string): number {
    const cells = this.#cells;
    const code = codeOf(relation, counterpart);
    for (let place = 0; place < cells.length; place += CELLS_PER_TUPLE) {
      if (cells[place] === code && cells[place + 1] === counterpart) return place;
    }
    return -1;
  }
}
