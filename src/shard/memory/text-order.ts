// Texts kept ascending by the bytes of their UTF-8 form, one change at a time: a change is a binary search and a move
// of pointers, so that a listing never sorts. Texts of one subject often begin alike, and a comparison of two that do
// costs microseconds; the search therefore knows how much of the text its two bounds share, and compares from there on.

/** How many units two texts have in common at their beginning, given that they share `from`. */
function commonUnits(left: string, right: string, from: number): number {
  const end = Math.min(left.length, right.length);
  let index = from;
  while (index < end && left.charCodeAt(index) === right.charCodeAt(index)) index += 1;
  return index;
}

/** Surrogates stand for code points above every single unit. */
const rankOf = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/** The order of two texts that share exactly `common` units: negative, zero or positive. */
function compareBehind(left: string, right: string, common: number): number {
  if (common === left.length || common === right.length) return left.length - right.length;
  return rankOf(left.charCodeAt(common)) - rankOf(right.charCodeAt(common));
}

/**
 * Where a text stands among `count` ascending ones, within [low, high): its index, or where it is not there, −1 minus
 * the index of the first greater one. Reads each unit of the text about once, however many of the others begin like it.
 */
export function searchText(textAt: (index: number) => string, text: string, low: number, high: number): number {
  let sharedLow = 0;
  let sharedHigh = 0;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = textAt(middle);
    const common = commonUnits(text, other, Math.min(sharedLow, sharedHigh));
    const order = compareBehind(text, other, common);
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

export class TextOrder {
  readonly #texts: string[] = [];

  /** Ascending. To be read before the next change. */
  get texts(): readonly string[] {
    return this.#texts;
  }

  /** Adds a text that is not there. */
  add(text: string): void {
    const texts = this.#texts;
    const last = texts.at(-1);
    // What is read from the store comes in this order.
    if (last === undefined || compareBehind(last, text, commonUnits(last, text, 0)) < 0) texts.push(text);
    else texts.splice(-1 - this.#search(text), 0, text);
  }

  delete(text: string): void {
    const index = this.#search(text);
    if (index >= 0) this.#texts.splice(index, 1);
  }

  #search(text: string): number {
    return searchText((index) => this.#texts[index] ?? '', text, 0, this.#texts.length);
  }
}

/** The position of the first text greater than `after` in an ascending list. */
export function firstAfter(ascending: readonly string[], after: string): number {
  const index = searchText((at) => ascending[at] ?? '', after, 0, ascending.length);
  return index >= 0 ? index + 1 : -1 - index;
}
