// What is sent. Invariant: it is what the caller has given, in bodies, queries, paths and headers alike. What would
// become something else on its way is an `invalid-request` that names its place, before anything is sent.

import { GrantdError } from './error.ts';
import { isObject, membersOf } from './members.ts';

/** Half of a surrogate pair, which UTF-8 cannot carry: as a rule, a text that was cut in the middle of an emoji. */
const HALF_PAIR = /\p{Surrogate}/u;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[ -~]*$/;
const REVISION = /^[!#-~]{1,256}$/;
export const JSON_TYPE = 'application/json';
/** The text form of rules. */
export const RULES_TYPE = 'text/vnd.grantd.rules';
/** Deeper values could exhaust the stack. */
const DEPTH_MAX = 500;

/** The members of these are the application's own: an undefined one is no option that was left out. */
const FREE: ReadonlySet<string> = new Set(['context', 'properties']);

export const refused = (place: string, why: string): GrantdError =>
  new GrantdError('invalid-request', 400, `${JSON.stringify(place.slice(0, 200))} ${why}`);

export const isSendable = (text: string): boolean => !HALF_PAIR.test(text);

function textOf(text: string, place: string): string {
  if (isSendable(text)) return text;
  throw refused(place, 'has half of a surrogate pair: it is a text that was cut in the middle of a character.');
}

function kindOf(value: object): string {
  const { name } = value.constructor ?? {};
  return typeof name === 'string' && name !== '' ? name : 'value of a type';
}

/** The objects and lists around a value, whether its members are free, and its place. */
interface Around {
  readonly above: readonly object[];
  readonly isFree: boolean;
  readonly place: string;
}

/** For what is in the value. */
function aboveIn({ above, place }: Around, value: object): readonly object[] {
  if (above.includes(value)) throw refused(place, 'contains itself, which JSON cannot carry.');
  if (above.length >= DEPTH_MAX) throw refused(place, `is nested more than ${DEPTH_MAX} levels deep.`);
  return [...above, value];
}

function listOf(value: readonly unknown[], { place, isFree, ...around }: Around): readonly unknown[] {
  const above = aboveIn({ ...around, place, isFree }, value);
  return Array.from(value, (each, index) => sendable(each, { above, isFree, place: `${place}[${index}]` }));
}

function objectOf(value: object, around: Around): object {
  const { place, isFree } = around;
  const above = aboveIn(around, value);
  const members = isFree ? { ...membersOf(value), ...value } : membersOf(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === null || (isObject(prototype) && Object.hasOwn(prototype, 'hasOwnProperty'));
  if (Symbol.iterator in value || (!isPlain && Object.keys(members).length === 0)) {
    throw refused(place, `is a ${kindOf(value)}, which JSON cannot carry.`);
  }
  const entries = Object.entries(members).map(([name, member]) => {
    const there = { above, isFree: isFree || FREE.has(name), place: place === '' ? name : `${place}.${name}` };
    return [textOf(name, there.place), sendable(member, there)];
  });
  return Object.fromEntries(entries);
}

/** A copy that JSON carries as it is. */
function sendable(given: unknown, around: Around): unknown {
  const { place } = around;
  // Its JSON is null, which would be an expiry that never comes.
  if (given instanceof Date && Number.isNaN(given.getTime())) throw refused(place, 'is an invalid Date.');
  const value = isObject(given) && 'toJSON' in given && typeof given.toJSON === 'function' ? given.toJSON() : given;
  switch (typeof value) {
    case 'string':
      return textOf(value, place);
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value)) return value;
      throw refused(place, `is ${value}, a number that JSON does not have.`);
    case 'object':
      if (value === null) return null;
      if (value instanceof String || value instanceof Number || value instanceof Boolean) {
        return sendable(value.valueOf(), around);
      }
      return Array.isArray(value) ? listOf(value, around) : objectOf(value, around);
    default:
      throw refused(
        place,
        `is ${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}, which JSON cannot carry.`,
      );
  }
}

/** The JSON of a body. */
export const jsonOf = (body: unknown): string =>
  JSON.stringify(sendable(body, { above: [], isFree: false, place: '' }));

/** A body as it is sent, and its type: only rules are a text. */
export const contentOf = (body: unknown): readonly [content: string, type: string] =>
  typeof body === 'string' ? [textOf(body, 'rule_set'), RULES_TYPE] : [jsonOf(body), JSON_TYPE];

/** A parameter of a query. */
export function parameterOf(value: unknown, name: string): string {
  if (typeof value === 'string') return textOf(value, name);
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  throw refused(name, 'must be a text.');
}

/** A parameter of a query that is a list; an empty one, if it may be, is absent. */
export function listParameter(value: unknown, name: string, { mayBeEmpty = false } = {}): string | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw refused(name, 'must be a list of texts.');
  if (value.length === 0 && !mayBeEmpty) throw refused(name, 'is an empty list.');
  const items = value.map((each: unknown, index) => {
    const item = parameterOf(each, `${name}[${index}]`);
    if (item !== '' && !item.includes(',')) return item;
    throw refused(`${name}[${index}]`, 'is empty or has a comma, which separates the items.');
  });
  return items.length === 0 ? undefined : items.join();
}

/** A segment of a path. It can be no `.` or `..`, which every URL resolves. */
export function segmentOf(value: unknown, name: string): string {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value !== 'string' || value === '' || value === '.' || value === '..') {
    throw refused(name, 'is not an id.');
  }
  return encodeURIComponent(textOf(value, name));
}

/** The value of `If-Match` or `If-None-Match`. */
export function revisionTag(value: unknown, name: string): string {
  if (typeof value === 'string' && REVISION.test(value)) return `"${value}"`;
  throw refused(name, 'is not a revision.');
}

/** A text of printable ASCII as the string of a header (RFC 9651). */
export function quoted(value: unknown, name: string): string {
  if (typeof value === 'string' && HEADER_VALUE.test(value)) return `"${value.replaceAll(/[\x22\x5c]/g, '\\$&')}"`;
  throw refused(name, 'must be printable ASCII: it is sent as a header.');
}

/** The headers that a hook gives. Throws for a name or value that a header cannot have. */
export function sendableHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name)) throw refused(`headers.${name}`, 'is not the name of a header.');
    if (typeof value !== 'string' || !HEADER_VALUE.test(value)) {
      throw refused(`headers.${name}`, 'is not one line of printable ASCII.');
    }
  }
  return headers;
}
