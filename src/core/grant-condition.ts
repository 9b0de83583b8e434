// The condition of a grant: the name of a condition of the tenant's rules, and the part of its context that the grant
// itself fixes. In memory, in the log, in tables and in messages it is one text: the name and, unless the context is
// empty, a space and the canonical JSON of the context. So a grant without a condition costs nothing, and two
// conditions are the same if their texts are. Only the owner of the tenant decides, by the rules of that moment,
// whether a condition is declared.

import { assert } from './assert.ts';
import { GrantdError } from './errors.ts';
import { demandMembers, isJsonObject, type JsonObject, memberAt } from './json-members.ts';
import { parseJson } from './text/json.ts';

/** UTF-8 bytes of the canonical context that a grant stores. */
export const GRANT_CONTEXT_BYTES_MAX = 512;
/** Objects and arrays inside of each other. */
export const CONTEXT_DEPTH_MAX = 16;
/** UTF-8 bytes of a condition as text: its name, a space, and its context. */
export const CONDITION_BYTES_MAX = 64 + 1 + GRANT_CONTEXT_BYTES_MAX;

export const CONDITION_NAME_PATTERN = '[A-Za-z][A-Za-z0-9_.-]{0,63}';
const CONDITION_NAME_REGEX = new RegExp(`^${CONDITION_NAME_PATTERN}$`);
const CONDITION_REGEX = new RegExp(`^${CONDITION_NAME_PATTERN}(?: \\{.+\\})?$`, 's');

const CONDITION_MEMBERS = ['name', 'context'];

/** The condition that a request sets on a grant: absent keeps the present one; `null` removes it. */
export interface ConditionRequest {
  readonly condition?: string | null;
}

const invalid = (message: string): GrantdError => new GrantdError('invalid-request', message);

const quoted = (place: string): string => JSON.stringify(place);

/**
 * The canonical JSON of a value that JSON.parse made: members ascending by name, no white space. Throws
 * `invalid-request`, which names the place, for what JSON could not give back unchanged: a number that is not exact, a
 * lone surrogate. `placeOf`: called only for what has parts, and for a message.
 */
function canonicalJson(value: unknown, placeOf: () => string, depth: number): string {
  if (typeof value === 'number') {
    if (Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value)) return JSON.stringify(value);
    const why = 'is a number beyond 2^53, which JSON does not carry exactly; write it as a string.';
    throw invalid(`${quoted(placeOf())} ${why}`);
  }
  if (typeof value === 'string' && !value.isWellFormed()) {
    throw invalid(`${quoted(placeOf())} contains half of a surrogate pair.`);
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const place = placeOf();
  if (depth >= CONTEXT_DEPTH_MAX) {
    throw invalid(`${quoted(place)} lies inside of ${CONTEXT_DEPTH_MAX} objects and arrays; more are not allowed.`);
  }
  if (Array.isArray(value)) {
    return `[${value.map((each, index) => canonicalJson(each, () => `${place}[${index}]`, depth + 1)).join(',')}]`;
  }
  const members = Object.keys(value).sort();
  const written = members.map((name) => {
    if (!name.isWellFormed()) throw invalid(`${quoted(memberAt(place, name))} contains half of a surrogate pair.`);
    const member: unknown = Reflect.get(value, name);
    return `${JSON.stringify(name)}:${canonicalJson(member, () => memberAt(place, name), depth + 1)}`;
  });
  return `{${written.join(',')}}`;
}

/** The canonical JSON of a context. Throws `invalid-request`, which names the place. */
export function canonicalContext(value: unknown, place: string, bytesMax: number): string {
  if (!isJsonObject(value)) throw invalid(`${quoted(place)} must be a JSON object.`);
  const text = canonicalJson(value, () => place, 0);
  const bytes = Buffer.byteLength(text);
  if (bytes <= bytesMax) return text;
  throw invalid(`${quoted(place)} takes ${bytes} bytes as compact JSON; at most ${bytesMax} are allowed.`);
}

/** `context`: canonical JSON of an object. */
export const conditionText = (name: string, context: string): string =>
  context === '{}' ? name : `${name} ${context}`;

/**
 * Throws `invalid-request` unless the value is `{name, context?}`, null or absent. `field`: the place of the value, for
 * the message.
 */
export function parseCondition(value: unknown, field = 'condition'): ConditionRequest {
  if (value === undefined) return {};
  if (value === null) return { condition: null };
  if (!isJsonObject(value)) throw invalid(`${quoted(field)} must be an object with "name" and "context", or null.`);
  demandMembers(value, CONDITION_MEMBERS, field);
  const { name, context = {} } = value;
  if (typeof name !== 'string' || !CONDITION_NAME_REGEX.test(name)) {
    throw invalid(`"${field}.name" must be the name of a condition that the rules declare.`);
  }
  return { condition: conditionText(name, canonicalContext(context, `${field}.context`, GRANT_CONTEXT_BYTES_MAX)) };
}

/**
 * A condition as people write it in one text, as `name` or `name {"key": "value"}`, not yet validated. Throws
 * `invalid-request` for a context that is not JSON.
 */
export function conditionInText(text: string): { readonly name: string; readonly context?: unknown } {
  const name = conditionNameOf(text);
  const context = text.slice(name.length).trim();
  return context === '' ? { name } : { name, context: parseJson(context, 'The context of the condition') };
}

/** A revocation names the tuple alone. */
export function refuseCondition(value: unknown, field = 'condition'): void {
  if (value === undefined) return;
  throw invalid(`"${field}" must not be given with a revocation.`);
}

/** Whether a text has the form of a condition, within its bounds. The context was validated when it was written. */
export const isCondition = (text: string): boolean =>
  Buffer.byteLength(text) <= CONDITION_BYTES_MAX && CONDITION_REGEX.test(text);

/** The name in the text of a condition. */
export function conditionNameOf(condition: string): string {
  const end = condition.indexOf(' ');
  return end < 0 ? condition : condition.slice(0, end);
}

/** The canonical JSON of the context in the text of a condition. */
export function conditionContextOf(condition: string): string {
  const end = condition.indexOf(' ');
  return end < 0 ? '{}' : condition.slice(end + 1);
}

/** A context from its canonical JSON. */
export function contextIn(text: string): JsonObject {
  const context: unknown = JSON.parse(text);
  assert(isJsonObject(context), 'a context is a JSON object');
  return context;
}

export interface ConditionRecord {
  readonly name: string;
  readonly context: JsonObject;
}

/** A condition as JSON, in both APIs; the context is there even if it is empty. */
export const conditionRecord = (condition: string): ConditionRecord => ({
  name: conditionNameOf(condition),
  context: contextIn(conditionContextOf(condition)),
});
