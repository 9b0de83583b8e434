// Fields that requests have in common, as the server of a shard reads them. A field that breaks the protocol throws
// WireViolation, which fails its call alone.

import { hasApiKeyForm } from '../../core/api-keys.ts';
import { assert } from '../../core/assert.ts';
import { type KeyId, parseKeyId } from '../../core/ids.ts';
import { PAGE_LIMIT_MAX } from '../../core/limits.ts';
import { ALL_SCOPES, type ScopeMask } from '../../core/scopes.ts';
import { IDENTIFIER_LENGTH_MAX, isRelationName, type Relation, relationOf } from '../../core/tuples.ts';
import type { Attempt, PageQuery } from '../../shard/shard.ts';
import type { Call__Output } from '../gen/grantd/v1/Call.ts';
import { demand } from '../wire-violation.ts';

/** UTF-16 units: a code point takes two at most. */
export const IDENTIFIER_UNITS_MAX = 2 * IDENTIFIER_LENGTH_MAX;
/** For ids, hashes, and names of plans and operators: far above any that this program creates. */
const SHORT_TEXT_MAX = 256;
const HASH_PATTERN = /^[0-9a-f]{64}$/;

export function present<Value>(value: Value): NonNullable<Value> {
  demand(value !== null && value !== undefined, 'A call lacks its request.');
  return value;
}

export function shortText(value: string, field: string, lengthMax = SHORT_TEXT_MAX): string {
  demand(value.length <= lengthMax, `${field} is longer than ${lengthMax}.`);
  return value;
}

/** Of a 64-bit field: it is read as a number. */
export const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

/**
 * A bound of time that a client has set, as the wire carries it: 0 means none. Nothing is older than the clock's first
 * millisecond, so an earlier bound means the same.
 */
export const timeBoundToWire = (ms: number | undefined): number => (ms === undefined ? 0 : Math.max(1, ms));

export const orUndefined = (text: string): string | undefined => (text === '' ? undefined : text);

export function hashText(value: string): string {
  demand(HASH_PATTERN.test(value), 'A hash has 64 hexadecimal characters.');
  return value;
}

export function keyIdText(value: string): KeyId {
  const keyId = parseKeyId(value);
  demand(keyId !== undefined, 'A key id is ill-formed.');
  return keyId;
}

/** The error does not quote the value, which may be a key all the same. */
export function keyText(value: string): string {
  demand(hasApiKeyForm(value), 'A claim has no API key.');
  return value;
}

/** The scopes of a new key. */
export function scopesFrom(mask: number): ScopeMask {
  demand(mask >= 1 && mask <= ALL_SCOPES, 'The scopes of a key are none.');
  return mask;
}

export function handleOf(call: Call__Output): number {
  demand(call.handle > 0, 'A call that needs a handle has none.');
  return call.handle;
}

export function attemptOf(call: Call__Output): Attempt {
  const { attempt } = call;
  demand(attempt !== null, 'A write lacks its attempt.');
  demand(attempt.requestId.length > 0, 'An attempt lacks its request id.');
  demand(Number.isFinite(attempt.expiresAtMs), 'The expiry of an attempt is not a number.');
  return { requestId: shortText(attempt.requestId, 'A request id'), expiresAtMs: attempt.expiresAtMs };
}

export function limitOf(limit: number): number {
  demand(limit >= 1 && limit <= PAGE_LIMIT_MAX, `A limit is outside 1 to ${PAGE_LIMIT_MAX}.`);
  return limit;
}

/** A relation, built-in or own, or a name that rules may define: all have the same form. */
export function relationFrom(name: string): Relation {
  demand(isRelationName(name), 'A relation is ill-formed.');
  return name;
}

/** Of a check. Checks lengths only: no grant contains an invalid identifier, and the front has parsed all of these. */
export function demandTuple(subject: string, relation: number, object: string): void {
  demand(relationOf(relation) !== undefined, 'The number of a relation is none.');
  demandIdentifiers(subject, object);
}

export function demandIdentifiers(subject: string, object: string): void {
  demand(
    subject.length <= IDENTIFIER_UNITS_MAX && object.length <= IDENTIFIER_UNITS_MAX,
    'An identifier is longer than any valid one.',
  );
}

/** An empty cursor means none: the page is the first one. */
export function pageQueryToWire(query: PageQuery, limitMax = PAGE_LIMIT_MAX) {
  assert(query.limit >= 1 && query.limit <= PAGE_LIMIT_MAX, 'a page has 1 to 1,000 items');
  return { limit: Math.min(query.limit, limitMax), cursor: query.cursor ?? '' };
}

export function pageQueryFromWire(page: { readonly limit: number; readonly cursor: string }): PageQuery {
  return { limit: limitOf(page.limit), cursor: orUndefined(page.cursor) };
}
