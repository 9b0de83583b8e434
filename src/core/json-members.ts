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

// ---- the nearest name ----

/** More differences than this make another word, not a typing error; and so do more than a third of the letters. */
const DISTANCE_MAX = 4;
const LETTERS_PER_DIFFERENCE = 3;
/** No known name is longer, and comparing takes time that grows with the length. */
const LENGTH_MAX = 100;

const distanceMax = (name: string): number =>
  Math.min(DISTANCE_MAX, Math.max(1, Math.floor(name.length / LETTERS_PER_DIFFERENCE)));

/** Levenshtein's distance: insertions, deletions and replacements of one character. Above `max`, some value above. */
function editDistance(left: string, right: string, max: number): number {
  if (Math.abs(left.length - right.length) > max) return max + 1;
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current: number[] = [];
    let least = row;
    current[0] = row;
    // Further from the diagonal, more characters are inserted or deleted than `max`.
    const last = Math.min(right.length, row + max);
    for (let column = Math.max(1, row - max); column <= last; column += 1) {
      const replaced = (previous[column - 1] ?? max + 1) + (left[row - 1] === right[column - 1] ? 0 : 1);
      const distance = Math.min(replaced, (previous[column] ?? max + 1) + 1, (current[column - 1] ?? max + 1) + 1);
      current[column] = distance;
      least = Math.min(least, distance);
    }
    if (least > max) return max + 1;
    previous = current;
  }
  return previous[right.length] ?? max + 1;
}

/** `expiresAt` and `expires_at` differ in style alone. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '');

/** The nearest of `names`, the first of equals, or undefined if none is near. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  if (name.length > LENGTH_MAX) return undefined;
  const given = plain(name);
  let nearest: string | undefined;
  let distance = distanceMax(given) + 1;
  for (const candidate of names) {
    const difference = editDistance(given, plain(candidate), distance - 1);
    if (difference < distance) {
      nearest = candidate;
      distance = difference;
    }
  }
  return nearest;
}
