// A few tuples of one entity as one string: relation and counterpart of each, with a string or null. As objects of
// their own, tuples would take three times the memory and reach as many more places in it, of which few are in the
// processor's caches. A text never changes; a change makes a new one. Invariants: the tuples ascend by the number of
// the relation, then by the bytes of the counterpart, each at most once; a text has memory of its own.
//
// A tuple, in UTF-16 units: two of its relation and two of the length of its counterpart, each a byte, the low one
// first; its counterpart; its value. The sixteen bytes of most values follow as they are; others follow their length,
// again two units. The highest of the four bytes also tells which of the two it is, or that the value is null. As long
// as no unit is wide, V8 needs one byte for each.

import { assert } from '../../core/assert.ts';
import { PACKED_ID_LENGTH } from '../../core/grant-attributes.ts';
import { unitAt } from '../../core/structures/string-map.ts';
import { RELATION_BITS } from './relation-numbers.ts';
import { commonUnits, compareBehind } from './text-order.ts';

const HEAD_LENGTH = 4;
/** What the value is: null; sixteen units; a length in two units, and as many. */
const [NULL, SHORT, LONG] = [0, 1, 2];
const SHORT_LENGTH = PACKED_ID_LENGTH;
const LENGTH_LENGTH = 2;
/** Bits of the length of a counterpart. */
const COUNTERPART_BITS = 10;
const HIGH_BITS = COUNTERPART_BITS - 8;
const HIGH_MASK = (1 << HIGH_BITS) - 1;

/** Most texts fit. */
const copied = Buffer.alloc(8192);

const WIDE = /[\u0100-\uffff]/;

/** What V8 needs for a string: two bytes per unit as soon as one unit needs two. */
export const bytesOfText = (text: string): number => (WIDE.test(text) ? 2 * text.length : text.length);

/** A copy: V8 keeps the parts of a concatenation, and all of a string of which a slice is used. */
export function copyOf(text: string): string {
  const encoding = WIDE.test(text) ? 'utf16le' : 'latin1';
  if (2 * text.length > copied.length) return Buffer.from(text, encoding).toString(encoding);
  return copied.toString(encoding, 0, copied.write(text, encoding));
}

const twoUnits = (number: number): string => String.fromCharCode(number & 0xff, number >>> 8);
const numberAt = (text: string, place: number): number => unitAt(text, place) | (unitAt(text, place + 1) << 8);

/** A text of one tuple. It may share memory with its parts. */
export function tupleText(relation: number, counterpart: string, value: string | null): string {
  assert(relation > 0 && relation < 1 << RELATION_BITS, 'a relation number fits into its bits');
  assert(counterpart.length < 1 << COUNTERPART_BITS, 'the length of a counterpart fits into its bits');
  const kind = value === null ? NULL : value.length === SHORT_LENGTH ? SHORT : LONG;
  const head = twoUnits(relation) + twoUnits(counterpart.length | (kind << COUNTERPART_BITS));
  if (value === null) return head + counterpart;
  return kind === SHORT ? head + counterpart + value : head + counterpart + twoUnits(value.length) + value;
}

// ---- the tuple at a place ----

export const relationAt = numberAt;

const lengthAt = (text: string, place: number): number =>
  unitAt(text, place + 2) | ((unitAt(text, place + 3) & HIGH_MASK) << 8);

const kindAt = (text: string, place: number): number => unitAt(text, place + 3) >>> HIGH_BITS;

/** A slice of the text: copy it to keep it. */
export const counterpartAt = (text: string, place: number): string =>
  text.slice(place + HEAD_LENGTH, place + HEAD_LENGTH + lengthAt(text, place));

/** A slice of the text: copy it to keep it. */
export function valueAt(text: string, place: number): string | null {
  const start = place + HEAD_LENGTH + lengthAt(text, place);
  const kind = kindAt(text, place);
  if (kind === SHORT) return text.slice(start, start + SHORT_LENGTH);
  return kind === NULL ? null : text.slice(start + LENGTH_LENGTH, start + LENGTH_LENGTH + numberAt(text, start));
}

/** Whether the value is of sixteen units; null: it is null. */
export function isShortAt(text: string, place: number): boolean | null {
  const kind = kindAt(text, place);
  return kind === SHORT || (kind === NULL ? null : false);
}

/** The place of the next tuple, or the end of the text. */
export function nextAfter(text: string, place: number): number {
  const high = unitAt(text, place + 3);
  const end = place + HEAD_LENGTH + (unitAt(text, place + 2) | ((high & HIGH_MASK) << 8));
  const kind = high >>> HIGH_BITS;
  if (kind === SHORT) return end + SHORT_LENGTH;
  return kind === NULL ? end : end + LENGTH_LENGTH + numberAt(text, end);
}

export function countIn(text: string): number {
  let count = 0;
  for (let place = 0; place < text.length; place = nextAfter(text, place)) count += 1;
  return count;
}

// ---- searches ----

/** The place of a tuple; −1: the text lacks it. */
export function placeOf(text: string, relation: number, counterpart: string): number {
  const { length } = counterpart;
  // There the counterparts of one entity mostly differ.
  const lastUnit = unitAt(counterpart, length - 1);
  for (let place = 0; place < text.length; place = nextAfter(text, place)) {
    if (
      unitAt(text, place + HEAD_LENGTH + length - 1) === lastUnit &&
      relationAt(text, place) === relation &&
      lengthAt(text, place) === length &&
      text.startsWith(counterpart, place + HEAD_LENGTH)
    ) {
      return place;
    }
  }
  return -1;
}

/** The place of the first tuple that does not come before this one, or the end of the text. */
export function placeFrom(text: string, relation: number, counterpart: string): number {
  let place = 0;
  while (place < text.length && orderAt(text, place, relation, counterpart) > 0) place = nextAfter(text, place);
  return place;
}

/** Whether the tuple comes before the one at the place (negative), is it (zero), or comes after it (positive). */
function orderAt(text: string, place: number, relation: number, counterpart: string): number {
  const other = relationAt(text, place);
  if (other !== relation) return relation - other;
  const length = lengthAt(text, place);
  const common = commonUnits(counterpart, text, place + HEAD_LENGTH, length, 0);
  return compareBehind(counterpart, text, place + HEAD_LENGTH, length, common);
}

/**
 * The index of the last of ascending texts whose first tuple does not come after this one; 0 if there is none. Reads
 * each unit of the counterpart about once, however many of the others share its prefix.
 */
export function indexOfText(texts: readonly string[], relation: number, counterpart: string): number {
  let [low, high] = [1, texts.length];
  let [sharedLow, sharedHigh] = [0, 0];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const text = texts[middle] ?? '';
    let order = relation - relationAt(text, 0);
    let common = 0;
    if (order === 0) {
      const length = lengthAt(text, 0);
      common = commonUnits(counterpart, text, HEAD_LENGTH, length, Math.min(sharedLow, sharedHigh));
      order = compareBehind(counterpart, text, HEAD_LENGTH, length, common);
    }
    if (order >= 0) {
      low = middle + 1;
      sharedLow = common;
    } else {
      high = middle;
      sharedHigh = common;
    }
  }
  return low - 1;
}

// ---- changes ----

/** The text with this value of the tuple. */
export function withTuple(text: string, relation: number, counterpart: string, value: string | null): string {
  const found = placeOf(text, relation, counterpart);
  const place = found < 0 ? placeFrom(text, relation, counterpart) : found;
  const rest = found < 0 ? place : nextAfter(text, place);
  return copyOf(text.slice(0, place) + tupleText(relation, counterpart, value) + text.slice(rest));
}

/** The text without the tuple; the same text if it lacks it. */
export function withoutTuple(text: string, relation: number, counterpart: string): string {
  const place = placeOf(text, relation, counterpart);
  return place < 0 ? text : copyOf(text.slice(0, place) + text.slice(nextAfter(text, place)));
}

/** Two texts of several tuples, divided behind the tuple that reaches the place, but before the last one. */
export function divided(text: string, place: number): [string, string] {
  let end = nextAfter(text, 0);
  for (let next = nextAfter(text, end); end < place && next < text.length; next = nextAfter(text, next)) end = next;
  return [copyOf(text.slice(0, end)), copyOf(text.slice(end))];
}
