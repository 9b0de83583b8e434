// Unknown members of JSON objects. Every object refuses them: a misspelled `expires_at` would make a grant permanent, a
// misspelled `relation` would widen a revocation.

import { GrantdError } from './errors.ts';

const SHOWN_LENGTH_MAX = 100;

const quote = (name: string): string => JSON.stringify(name);

/** Completes the sentence `"<member>" …`. */
export function isUnknown(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined
    ? `is unknown; known here: ${known.map(quote).join(', ')}`
    : `is unknown; the nearest known name is ${quote(nearest)}`;
}

/** The place of a member in messages: `grants[3].expiresAt`. */
export const memberAt = (place: string, name: string): string =>
  `${place === '' ? '' : `${place}.`}${name.slice(0, SHOWN_LENGTH_MAX)}`;

function firstUnknown(fields: object, known: readonly string[]): string | undefined {
  // Only JSON.parse made it, so that all of its members are its own.
  for (const name in fields) if (!known.includes(name)) return name;
  return undefined;
}

/** A sentence that names the first unknown member of a parsed JSON object and the nearest known one; or undefined. */
export function unknownMember(fields: object, known: readonly string[], place = ''): string | undefined {
  const name = firstUnknown(fields, known);
  return name === undefined ? undefined : `${quote(memberAt(place, name))} ${isUnknown(name, known)}.`;
}

/** Throws `invalid-request` for an unknown member of a parsed JSON object. */
export function demandMembers(fields: object, known: readonly string[], place = ''): void {
  const refusal = unknownMember(fields, known, place);
  if (refusal !== undefined) throw new GrantdError('invalid-request', refusal);
}

/** The same for each object of a list, which is the value of `field`. */
export function demandMembersOfEach(list: readonly unknown[], known: readonly string[], field: string): void {
  for (const [index, value] of list.entries()) {
    if (isJsonObject(value) && firstUnknown(value, known) !== undefined)
      demandMembers(value, known, `${field}[${index}]`);
  }
}

/** A parsed JSON value that is an object, not yet validated. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of an array; of anything else, none. */
export const objectsIn = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

// ---- names in messages ----

/** Names that one message lists, and their characters: a message has a thousand at most. */
const NAMES_SHOWN_MAX = 30;
const NAMES_LENGTH_MAX = 600;

/** How many of the names a message lists, from the first on. */
export function shownNames(names: readonly string[]): number {
  let length = 0;
  const beyond = names.slice(0, NAMES_SHOWN_MAX).findIndex((name) => {
    length += name.length;
    return length > NAMES_LENGTH_MAX;
  });
  return beyond < 0 ? Math.min(names.length, NAMES_SHOWN_MAX) : beyond;
}

/** `a, b and 470 more` */
export function firstNames(names: readonly string[], count = shownNames(names)): string {
  const more = names.length - count;
  return `${names.slice(0, count).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

// ---- the nearest name ----

/** More differences than this make another word, not a typing error; and so do more than a third of the letters. */
const DISTANCE_MAX = 4;
const LETTERS_PER_DIFFERENCE = 3;
/** No known name is longer, and comparing takes time that grows with the length. */
const LENGTH_MAX = 100;
/** Comparisons of characters, over all names: some tenths of a millisecond. Names after that are not compared. */
const COMPARISONS_MAX = 25_000;

const distanceMax = (name: string): number =>
  Math.min(DISTANCE_MAX, Math.max(1, Math.floor(name.length / LETTERS_PER_DIFFERENCE)));

/** Compares a name with others, in bounded time. */
class Distances {
  /** Lengths differ by DISTANCE_MAX at most. */
  #beforePrevious = new Uint8Array(LENGTH_MAX + DISTANCE_MAX + 1);
  #previous = new Uint8Array(LENGTH_MAX + DISTANCE_MAX + 1);
  #current = new Uint8Array(LENGTH_MAX + DISTANCE_MAX + 1);
  #comparisons = 0;

  get isSpent(): boolean {
    return this.#comparisons > COMPARISONS_MAX;
  }

  /**
   * Insertions, deletions and replacements of one character, and exchanges of two beside each other: the optimal string
   * alignment. Above `max`, some value above.
   */
  between(left: string, right: string, max: number): number {
    if (Math.abs(left.length - right.length) > max) return max + 1;
    const least = Math.min(left.length, right.length);
    let start = 0;
    while (start < least && left.charCodeAt(start) === right.charCodeAt(start)) start += 1;
    let end = 0;
    const [lastOfLeft, lastOfRight] = [left.length - 1, right.length - 1];
    while (end < least - start && left.charCodeAt(lastOfLeft - end) === right.charCodeAt(lastOfRight - end)) end += 1;
    this.#comparisons += start + end + 1;
    return this.#ofParts(left.slice(start, left.length - end), right.slice(start, right.length - end), max);
  }

  #ofParts(left: string, right: string, max: number): number {
    for (let column = 0; column <= right.length; column += 1) this.#previous[column] = column;
    for (let row = 1; row <= left.length; row += 1) {
      const [previous, current] = [this.#previous, this.#current];
      // Further from the diagonal, more characters are inserted or deleted than `max`.
      const [first, last] = [Math.max(1, row - max), Math.min(right.length, row + max)];
      this.#comparisons += last - first + 1;
      let before = first === 1 ? row : max + 1;
      let least = before;
      current[first - 1] = before;
      for (let column = first; column <= last; column += 1) {
        const above = column === row + max ? max + 1 : (previous[column] ?? 0);
        const replaced = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
        const exchanged = this.#exchanged(left, right, row, column);
        before = Math.min(replaced, above + 1, before + 1, exchanged);
        current[column] = before;
        if (before < least) least = before;
      }
      if (least > max) return max + 1;
      [this.#beforePrevious, this.#previous, this.#current] = [previous, current, this.#beforePrevious];
    }
    return this.#previous[right.length] ?? 0;
  }

  /** With the last two characters exchanged. */
  #exchanged(left: string, right: string, row: number, column: number): number {
    const isExchange =
      row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
    return isExchange ? (this.#beforePrevious[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
  }
}

/** `expiresAt` and `expires_at` differ in style alone. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '');

/**
 * The nearest of `names`, the first of equals, or undefined if none is near. Of very many, only the first are compared.
 */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  if (name.length > LENGTH_MAX) return undefined;
  const given = plain(name);
  // A letter may have two small ones.
  if (given.length > LENGTH_MAX) return undefined;
  const distances = new Distances();
  let nearest: string | undefined;
  let distance = distanceMax(given) + 1;
  for (const candidate of names) {
    if (distance === 0 || distances.isSpent) break;
    const difference = distances.between(given, plain(candidate), distance - 1);
    if (difference < distance) {
      nearest = candidate;
      distance = difference;
    }
  }
  return nearest;
}
