// Strings in ascending order of their UTF-8 bytes: searches, and a list of them that changes one at a time. Objects of
// one subject often share a long prefix, and so do subjects of one object, which would make comparisons cost
// microseconds. A search therefore tracks the prefix that the string shares with both bounds, and compares from there
// on. A change of the list is a search and a move of pointers, so that a listing never sorts.

import { unitAt } from '../../core/structures/string-map.ts';
import { compareUtf8 } from '../../core/tuples.ts';

/**
 * The length in UTF-16 units of the common prefix of a string and a part of another one, given that the first `from`
 * units are equal.
 */
export function commonUnits(left: string, right: string, start: number, length: number, from: number): number {
  const end = Math.min(left.length, length);
  let index = from;
  while (index < end && unitAt(left, index) === unitAt(right, start + index)) index += 1;
  return index;
}

/** Surrogates encode code points above every single unit. */
const rankOf = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/** The order of a string and a part of another one that share exactly `common` units: negative, zero or positive. */
export function compareBehind(left: string, right: string, start: number, length: number, common: number): number {
  if (common === left.length || common === length) return left.length - length;
  return rankOf(unitAt(left, common)) - rankOf(unitAt(right, start + common));
}

/**
 * The index of a string among `count` ascending ones, within [low, high); if it is missing, −1 minus the index of the
 * first greater one. Reads each unit of the string about once, however many of the others share its prefix.
 */
export function searchText(textAt: (index: number) => string, text: string, low: number, high: number): number {
  let sharedLow = 0;
  let sharedHigh = 0;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = textAt(middle);
    const common = commonUnits(text, other, 0, other.length, Math.min(sharedLow, sharedHigh));
    const order = compareBehind(text, other, 0, other.length, common);
    if (order === 0) return middle;
    if (order > 0) {
      low = middle + 1;
      sharedLow = common;
    } else {
      high = middle;
      sharedHigh = common;
    }
  }
  return -1 - low;
}

export class TextOrder<Text extends string = string> {
  readonly #texts: Text[] = [];

  /** Ascending. Read it before the next change. */
  get texts(): readonly Text[] {
    return this.#texts;
  }

  /** Adds a string that is not in the list. */
  add(text: Text): void {
    const texts = this.#texts;
    const last = texts.at(-1);
    // Strings that are read from the store come in this order.
    if (last === undefined || compareUtf8(last, text) < 0) texts.push(text);
    else texts.splice(-1 - this.#search(text), 0, text);
  }

  delete(text: Text): void {
    const index = this.#search(text);
    if (index >= 0) this.#texts.splice(index, 1);
  }

  #search(text: Text): number {
    return searchText((index) => this.#texts[index] ?? '', text, 0, this.#texts.length);
  }
}

/** The index of the first string greater than `after` in an ascending list. */
export function firstAfter(ascending: readonly string[], after: string): number {
  const index = searchText((at) => ascending[at] ?? '', after, 0, ascending.length);
  return index >= 0 ? index + 1 : -1 - index;
}
