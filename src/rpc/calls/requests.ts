// The calls of a front, as a shard's server reads them: each is validated in full before the shard sees it. What breaks
// the protocol throws WireViolation; an ill-formed identifier answers that call alone.

import { hasApiKeyForm } from '../../core/api-keys.ts';
import { GrantdError } from '../../core/errors.ts';
import { ALL_SCOPES, type ScopeMask } from '../../core/scopes.ts';
import {
  IDENTIFIER_LENGTH_MAX,
  isNamespaceName,
  parseTuple,
  type Relation,
  relationOf,
  type TupleColumns,
} from '../../core/tuples.ts';
import type {
  Attempt,
  FrontReport,
  GrantRequest,
  PageQuery,
  TenantUsageReport,
  TrailQuery,
} from '../../shard/shard.ts';
import type { Call__Output } from '../gen/grantd/v1/Call.ts';
import type { CheckBulk__Output } from '../gen/grantd/v1/CheckBulk.ts';
import type { Checks__Output } from '../gen/grantd/v1/Checks.ts';
import type { ListTrail__Output } from '../gen/grantd/v1/ListTrail.ts';
import type { Report__Output } from '../gen/grantd/v1/Report.ts';
import type { Usage__Output } from '../gen/grantd/v1/Usage.ts';
import type { WriteGrants__Output } from '../gen/grantd/v1/WriteGrants.ts';
import {
  BULK_CHECKS_MAX,
  CHECKS_PER_MESSAGE_MAX,
  PAGE_LIMIT_MAX,
  USAGE_PER_REPORT_MAX,
  WRITES_PER_CALL_MAX,
} from '../protocol.ts';
import { demand } from '../wire-violation.ts';

/** UTF-16 units: a code point takes two at most. */
const IDENTIFIER_UNITS_MAX = 2 * IDENTIFIER_LENGTH_MAX;
/** Ids, hashes, names of plans and of operators: far above any that this program makes. */
export const SHORT_TEXT_MAX = 256;
/** Names of keys and tenants have up to 256 code points. */
export const NAME_MAX = 512;
const HASH_PATTERN = /^[0-9a-f]{64}$/;

export function present<Value>(value: Value | null | undefined): Value {
  demand(value !== null && value !== undefined, 'A call lacks its request.');
  return value;
}

export function shortText(value: string, field: string, lengthMax = SHORT_TEXT_MAX): string {
  demand(value.length <= lengthMax, `${field} is longer than ${lengthMax}.`);
  return value;
}

export function hashText(value: string): string {
  demand(HASH_PATTERN.test(value), 'A hash has 64 hexadecimal characters.');
  return value;
}

/** Says nothing of the value: it may be a key all the same. */
export function keyText(value: string): string {
  demand(hasApiKeyForm(value), 'A claim has no API key.');
  return value;
}

/** Of a new key. */
export function scopesFrom(mask: number): ScopeMask {
  demand(mask >= 1 && mask <= ALL_SCOPES, `${mask} is no set of scopes.`);
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

export function pageOf(page: { readonly limit: number; readonly cursor: string }): PageQuery {
  return { limit: limitOf(page.limit), cursor: page.cursor === '' ? undefined : page.cursor };
}

export function trailQueryOf(query: ListTrail__Output): TrailQuery & { readonly tenantId: string } {
  const { tenantId, newestFirst, sinceMs, untilMs, action, actor, subject, object, requestId } = query;
  demand(Number.isFinite(sinceMs) && Number.isFinite(untilMs), 'A bound of time is not a number.');
  return {
    ...pageOf(query),
    tenantId: shortText(tenantId, 'A tenant id'),
    newestFirst,
    sinceMs: sinceMs === 0 ? undefined : sinceMs,
    untilMs: untilMs === 0 ? undefined : untilMs,
    action: shortText(action, 'An action'),
    actor: shortText(actor, 'An actor'),
    subject: shortText(subject, 'A subject', IDENTIFIER_UNITS_MAX),
    object: shortText(object, 'An object', IDENTIFIER_UNITS_MAX),
    requestId: shortText(requestId, 'A request id'),
  };
}

export function relationFrom(number: number): Relation {
  const relation = relationOf(number);
  demand(relation !== undefined, `${number} is not a relation.`);
  return relation;
}

export function namespaceFrom(name: string): string {
  if (!isNamespaceName(name)) throw new GrantdError('invalid-request', 'The name of the namespace is ill-formed.');
  return name;
}

/** Refuses columns of unequal length. The cells are looked at one by one, by `demandCheck`. */
export function demandColumns(checks: Checks__Output): void {
  const count = checks.ids.length;
  demand(count <= CHECKS_PER_MESSAGE_MAX, `A message has more than ${CHECKS_PER_MESSAGE_MAX} checks.`);
  demand(
    checks.handles.length === count &&
      checks.subjects.length === count &&
      checks.relations.length === count &&
      checks.objects.length === count,
    'The columns of the checks differ in length.',
  );
}

export function demandCheck(handle: number, subject: string, relation: number, object: string): void {
  demand(handle > 0, 'A check has no handle.');
  demandTuple(subject, relation, object);
}

/** Lengths only: what is not an identifier is in no grant, and a front has parsed them all. */
function demandTuple(subject: string, relation: number, object: string): void {
  demand(relationOf(relation) !== undefined, `${relation} is not a relation.`);
  demand(
    subject.length <= IDENTIFIER_UNITS_MAX && object.length <= IDENTIFIER_UNITS_MAX,
    'An identifier is longer than any can be.',
  );
}

export function bulkChecksOf(bulk: CheckBulk__Output): TupleColumns {
  const { subjects, relations, objects } = bulk;
  demand(subjects.length <= BULK_CHECKS_MAX, `A bulk call has more than ${BULK_CHECKS_MAX} checks.`);
  demand(
    relations.length === subjects.length && objects.length === subjects.length,
    'The columns of a bulk call differ in length.',
  );
  for (let index = 0; index < subjects.length; index += 1) {
    demandTuple(subjects[index] ?? '', relations[index] ?? 0, objects[index] ?? '');
  }
  return bulk;
}

/** Lengths only: what the numbers say, and whether the tenants are this shard's, the shard judges. */
export function reportFrom({ load, usage }: Report__Output): FrontReport {
  return { load: load ?? undefined, usage: usage === null ? [] : usageFrom(usage) };
}

function usageFrom({ minute, slots, tenantIds, requests, refused, checks }: Usage__Output): TenantUsageReport[] {
  const count = slots.length;
  demand(count <= USAGE_PER_REPORT_MAX, `A report has more than ${USAGE_PER_REPORT_MAX} tenants.`);
  demand(
    [tenantIds, requests, refused, checks].every(({ length }) => length === count),
    'The columns of a report differ in length.',
  );
  return slots.map((slot, index) => ({
    slot,
    tenantId: tenantIds[index] ?? '',
    minute,
    requests: requests[index] ?? 0,
    refused: refused[index] ?? 0,
    checks: checks[index] ?? 0,
  }));
}

export function writesOf(call: WriteGrants__Output): GrantRequest[] {
  const { writes } = call;
  demand(
    writes.length >= 1 && writes.length <= WRITES_PER_CALL_MAX,
    `A call has not 1 to ${WRITES_PER_CALL_MAX} writes.`,
  );
  const relations = writes.map(({ relation }) => relationFrom(relation));
  return writes.map(({ revoke, subject, object }, index) => ({
    ...parseTuple(subject, relations[index], object, 'writes', index),
    revoke,
  }));
}
