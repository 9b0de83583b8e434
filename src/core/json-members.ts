// Unknown members of JSON objects. Every object refuses them: a misspelled `expires_at` would make a grant permanent, a
// misspelled `relation` would widen a revocation.

import { GrantdError } from './errors.ts';
import { nearestName } from './text/nearest-name.ts';

const SHOWN_LENGTH_MAX = 100;

const quote = (name: string): string => JSON.stringify(name);

/** Completes the sentence `"<member>" …`. */
export function isUnknown(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined
    ? `is unknown; known here: ${known.map(quote).join(', ')}`
    : `is unknown; the nearest known name is ${quote(nearest)}`;
}

/** As messages show it, at its place: `grants[3].expiresAt`. */
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
