// The terms of a grant: its condition and, at the end, its expiry. A condition is the name of a condition of the
// tenant's rules, and the part of its context that the grant itself fixes. In memory, in the log, in tables and in
// messages it is one text: the name and, unless the context is empty, a space and the canonical JSON of the context. So
// a grant without a condition costs nothing, and two conditions are the same if their texts are. Only the owner of the
// tenant decides, by the rules of that moment, whether a condition is declared.

import { assert } from './assert.ts';
import { GrantdError } from './errors.ts';
import { demandMembers, isJsonObject, type JsonObject } from './json-members.ts';
import { parseJson } from './text/json.ts';
import { formatTimestamp, parseTimestamp } from './text/timestamps.ts';

/** UTF-8 bytes of the canonical context that a grant stores. */
export const GRANT_CONTEXT_BYTES_MAX = 512;
/** Objects and arrays inside of each other that a condition can see. */
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

/** JSON that `JSON.parse` reads as the infinity that a number beyond the doubles is. */
const numberText = (value: number): string =>
  Number.isFinite(value) ? JSON.stringify(value) : value > 0 ? '1e999' : '-1e999';

/**
 * The canonical JSON of a value that JSON.parse made: members ascending by name, no white space. What no condition can
 * use (a number that lost digits, half of a surrogate pair, what is nested too deep) is written such that it stays so:
 * the conversion to the type of a parameter refuses it, and where no parameter asks for it, it does not matter.
 */
function canonicalJson(value: unknown, depth: number): string {
  if (typeof value === 'number') return numberText(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isCut = depth >= CONTEXT_DEPTH_MAX;
  if (Array.isArray(value)) {
    return isCut ? '[]' : `[${value.map((each) => canonicalJson(each, depth + 1)).join(',')}]`;
  }
  if (isCut) return '{}';
  const written = Object.keys(value)
    .sort()
    .map((name) => {
      const member: unknown = Reflect.get(value, name);
      return `${JSON.stringify(name)}:${canonicalJson(member, depth + 1)}`;
    });
  return `{${written.join(',')}}`;
}

/** The canonical JSON of a context. Throws `invalid-request`, which names the place. */
export function canonicalContext(value: unknown, place: string, bytesMax: number): string {
  if (!isJsonObject(value)) throw invalid(`${quoted(place)} must be a JSON object.`);
  const text = canonicalJson(value, 0);
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

// ---- the expiry ----
//
// The field `expires_at` of a new grant or key, in requests of both APIs. Only the owner of the tenant decides, by the
// time of its slot, whether the moment lies in the future.

const YEARS_MAX = 100;
/** A day more than that many years have. */
const EXPIRY_MS_MAX = (YEARS_MAX * 365.25 + 1) * 24 * 3_600_000;

/** The expiry that a request sets on a grant: absent keeps the present one; `null` removes it. */
export interface ExpiryRequest {
  readonly expiresAtMs?: number | null;
}

/**
 * Throws `invalid-request` unless the value is a moment within the next hundred years or so, null or absent. `field`:
 * the place of the value, for the message.
 */
export function parseExpiry(value: unknown, wallMs: number, field = 'expires_at'): ExpiryRequest {
  if (value === undefined) return {};
  if (value === null) return { expiresAtMs: null };
  const expiresAtMs = typeof value === 'string' ? parseTimestamp(value) : undefined;
  if (expiresAtMs === undefined) {
    throw new GrantdError(
      'invalid-request',
      `"${field}" must be an ISO 8601 timestamp with a time zone, such as 2030-01-31T12:00:00Z, or null.`,
    );
  }
  if (expiresAtMs - wallMs > EXPIRY_MS_MAX) {
    throw new GrantdError('invalid-request', `"${field}" must be within ${YEARS_MAX} years; it is not.`);
  }
  if (expiresAtMs <= 0) throw new GrantdError('invalid-request', expiryPassed(field));
  return { expiresAtMs };
}

export const expiryPassed = (field = 'expires_at'): string => `"${field}" must be a moment in the future; it is not.`;

/** The same, to a moment that lies in the future by the wall clock: it has passed by the time of the log alone. */
export function expiryPassedInLog(expiresAtMs: number, logMs: number, wallMs: number, field = 'expires_at'): string {
  if (expiresAtMs <= wallMs) return expiryPassed(field);
  const aheadBy = `ahead of the clock by ${Math.ceil((logMs - wallMs) / 1000)} s, because a clock was wrong`;
  return `"${field}" must be after the time of this tenant's log, ${formatTimestamp(logMs)}, which is ${aheadBy}.`;
}

/** The end of an API key; undefined: it never ends. Throws `invalid-request` for one that no clock can call future. */
export function keyExpiry(expiresAtMs: number | null | undefined): number | undefined {
  if (expiresAtMs === null || expiresAtMs === undefined) return undefined;
  if (expiresAtMs > 0) return expiresAtMs;
  throw new GrantdError('invalid-request', expiryPassed());
}
