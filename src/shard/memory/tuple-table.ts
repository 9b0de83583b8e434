// The tuples of one entity: relation and counterpart, each with a string or null. Most entities have a handful, so
// these lie in one array that is searched linearly. A map per relation would take twice the memory and be slower, since
// little of it would be in the processor's cache. Beyond a handful the table uses maps.
//
// The values of a handful are one string if all of them are short, as those of most grants are: a string of its own
// would take twice the memory of such a value, and a cell that points to it half as much again.

import { assert } from '../../core/assert.ts';
import { PACKED_ID_LENGTH } from '../../core/grant-attributes.ts';
import { StringMap, unitAt } from '../../core/structures/string-map.ts';
import { RELATION_BITS } from './relation-numbers.ts';

/** Tuples that are searched linearly. */
const FEW_MAX = 16;
/** Trailing characters of a counterpart that form its code: there those of one entity mostly differ. */
const CODE_CHARACTERS = 8;
/** Code and counterpart of each tuple, one after another. */
const CELLS_PER_TUPLE = 2;

type Cells = readonly (number | string)[];
const NO_CELLS: Cells = Object.freeze([]);

/** The length of a short value, of which each character holds a byte. */
const SHORT_LENGTH = PACKED_ID_LENGTH;
const SHORT = /^[\0-\xff]{16}$/s;
const isShort = (value: string | null): value is string => value?.length === SHORT_LENGTH && SHORT.test(value);

/**
 * A string of bytes with memory of its own: V8 keeps the parts of a concatenation, and all of a string of which a slice
 * is used.
 */
const ownBytes = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

/** Short values one after another, or any values. */
type Values = string | readonly (string | null)[];

/** Different codes mean different tuples. Equal codes say little: the counterparts must be compared. */
function codeOf(relation: number, counterpart: string): number {
  const { length } = counterpart;
  let code = length;
  for (let index = Math.max(0, length - CODE_CHARACTERS); index < length; index += 1) {
    code = (Math.imul(code, 31) + unitAt(counterpart, index)) | 0;
  }
  return (code << RELATION_BITS) | relation;
}

const relationIn = (code: number | string | undefined): number => Number(code) & ((1 << RELATION_BITS) - 1);

export class TupleTable {
  #cells: Cells = NO_CELLS;
  #values: Values = '';
  /** By relation, once there are more than a few tuples. */
  #maps: Map<number, StringMap<string | null>> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Undefined: the table lacks the tuple. */
  get(relation: number, counterpart: string): string | null | undefined {
    if (this.#maps !== undefined) {
      return this.#maps.get(relation)?.get(counterpart);
    }
    const place = this.#placeOf(relation, counterpart);
    return place < 0 ? undefined : this.#valueAt(place / CELLS_PER_TUPLE);
  }

  /** Whether the tuple has a string. Undefined: the table lacks the tuple. */
  has(relation: number, counterpart: string): boolean | undefined {
    if (this.#maps !== undefined) {
      const value = this.#maps.get(relation)?.get(counterpart);
      return value === undefined ? undefined : value !== null;
    }
    const place = this.#placeOf(relation, counterpart);
    if (place < 0) return undefined;
    return typeof this.#values === 'string' || this.#values[place / CELLS_PER_TUPLE] !== null;
  }

  /** Returns whether the tuple is new. */
  set(relation: number, counterpart: string, value: string | null): boolean {
    assert(relation > 0 && relation < 1 << RELATION_BITS, 'a relation number fits into its bits');
    if (this.#maps !== undefined) return this.#setInMap(this.#maps, relation, counterpart, value);
    const place = this.#placeOf(relation, counterpart);
    if (place >= 0) {
      this.#splice(place / CELLS_PER_TUPLE, 1, value);
      return false;
    }
    if (this.#size < FEW_MAX) {
      // Exactly as long as its content: an array that grows by itself reserves extra space.
      this.#cells = [...this.#cells, codeOf(relation, counterpart), counterpart];
      this.#splice(this.#size, 0, value);
      this.#size += 1;
      return true;
    }
    const maps = new Map<number, StringMap<string | null>>();
    const tuples = [...this.tuples()];
    this.#size = 0;
    for (const each of tuples) this.#setInMap(maps, each.relation, each.counterpart, each.value);
    this.#maps = maps;
    this.#cells = NO_CELLS;
    this.#values = '';
    return this.#setInMap(maps, relation, counterpart, value);
  }

  /** Returns whether the tuple was there. */
  delete(relation: number, counterpart: string): boolean {
    if (this.#maps !== undefined) {
      if (this.#maps.get(relation)?.delete(counterpart) !== true) return false;
    } else {
      const place = this.#placeOf(relation, counterpart);
      if (place < 0) return false;
      this.#cells = this.#cells.toSpliced(place, CELLS_PER_TUPLE);
      this.#splice(place / CELLS_PER_TUPLE, 1);
    }
    this.#size -= 1;
    return true;
  }

  /** The counterparts of one relation, unordered. */
  counterparts(relation: number): string[] {
    if (this.#maps !== undefined) return [...(this.#maps.get(relation)?.keys() ?? [])];
    return [...this.tuples()].filter((tuple) => tuple.relation === relation).map(({ counterpart }) => counterpart);
  }

  /** The relations of the tuples, unordered; with some that only earlier tuples had. */
  get relations(): Iterable<number> {
    return this.#maps?.keys() ?? new Set(this.byRelation().map(({ relation }) => relation));
  }

  /** The counterparts of some relations (undefined: of all), unordered, without the empty lists. */
  byRelation(relations?: readonly number[]): { readonly relation: number; readonly texts: readonly string[] }[] {
    const lists: { readonly relation: number; readonly texts: string[] }[] = [];
    const cells = this.#cells;
    for (let place = 0; place < cells.length; place += CELLS_PER_TUPLE) {
      const relation = relationIn(cells[place]);
      if (relations?.includes(relation) === false) continue;
      let list = lists.find((each) => each.relation === relation);
      if (list === undefined) {
        list = { relation, texts: [] };
        lists.push(list);
      }
      list.texts.push(String(cells[place + 1]));
    }
    for (const [relation, map] of this.#maps ?? []) {
      if (relations?.includes(relation) !== false) lists.push({ relation, texts: [...map.keys()] });
    }
    return lists;
  }

  /** Unordered. Consume it completely before deleting anything; otherwise it may skip tuples. */
  *tuples(): Generator<{ readonly relation: number; readonly counterpart: string; readonly value: string | null }> {
    const cells = this.#cells;
    const values = this.#list();
    for (let place = 0; place < cells.length; place += CELLS_PER_TUPLE) {
      const relation = relationIn(cells[place]);
      const value = values[place / CELLS_PER_TUPLE] ?? null;
      yield { relation, counterpart: String(cells[place + 1]), value };
    }
    for (const [relation, map] of this.#maps ?? []) {
      for (const [counterpart, value] of map.entries()) yield { relation, counterpart, value };
    }
  }

  #setInMap(maps: Map<number, StringMap<string | null>>, relation: number, counterpart: string, value: string | null) {
    let map = maps.get(relation);
    if (map === undefined) {
      map = new StringMap();
      maps.set(relation, map);
    }
    const { size } = map;
    map.set(counterpart, value);
    if (map.size === size) return false;
    this.#size += 1;
    return true;
  }

  #valueAt(index: number): string | null {
    const values = this.#values;
    if (typeof values !== 'string') return values[index] ?? null;
    return values.slice(SHORT_LENGTH * index, SHORT_LENGTH * (index + 1));
  }

  /** The values of the cells, each in memory of its own. */
  #list(): readonly (string | null)[] {
    if (typeof this.#values !== 'string') return this.#values;
    return Array.from({ length: this.#values.length / SHORT_LENGTH }, (_, index) =>
      ownBytes(this.#valueAt(index) ?? ''),
    );
  }

  /** Replaces `count` values from an index on. */
  #splice(index: number, count: number, ...added: readonly (string | null)[]): void {
    const values = this.#values;
    if (typeof values === 'string' && added.every(isShort)) {
      const [before, after] = [values.slice(0, SHORT_LENGTH * index), values.slice(SHORT_LENGTH * (index + count))];
      this.#values = ownBytes(before + added.join('') + after);
    } else {
      this.#values = this.#list().toSpliced(index, count, ...added);
    }
  }

  /** The index of the tuple's code; −1: the tuple is missing. */
  #placeOf(relation: number, counterpart: string): number {
    const cells = this.#cells;
    const code = codeOf(relation, counterpart);
    for (let place = 0; place < cells.length; place += CELLS_PER_TUPLE) {
      if (cells[place] === code && cells[place + 1] === counterpart) return place;
    }
    return -1;
  }
}
