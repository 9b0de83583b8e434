// The calls about the grants of a tenant: writes, revocations by a filter, and pages of grants.

import { assert, assertNever } from '../../core/assert.ts';
import { GRANT_REFUSALS } from '../../core/bulk-writes.ts';
import { attributesOf, type GrantAttributes, type TermsRequest } from '../../core/grant-attributes.ts';
import { type ConditionRequest, isCondition } from '../../core/grant-condition.ts';
import type { ExpiryRequest } from '../../core/grant-expiry.ts';
import { BULK_CHANGES_MAX, BULK_CONDITIONS_MAX, REVOKED_PER_CALL_MAX, WRITES_PER_CALL_MAX } from '../../core/limits.ts';
import { UNFOLLOWED_REASONS, type Unfollowed } from '../../core/service-warnings.ts';
import { type Grant, parseTuple, type Tuple } from '../../core/tuples.ts';
import type {
  BulkWrite,
  BulkWriteResult,
  GrantFilter,
  GrantRefusal,
  GrantRequest,
  GrantResult,
  GrantsPage,
  RevokeResult,
} from '../../shard/shard.ts';
import type { BulkWritten, BulkWritten__Output } from '../gen/grantd/v1/BulkWritten.ts';
import { GrantOutcome } from '../gen/grantd/v1/GrantOutcome.ts';
import type { GrantRecord__Output } from '../gen/grantd/v1/GrantRecord.ts';
import type { GrantResult__Output, GrantResult as WireGrantResult } from '../gen/grantd/v1/GrantResult.ts';
import type { Grants, Grants__Output } from '../gen/grantd/v1/Grants.ts';
import type { Revoked__Output } from '../gen/grantd/v1/Revoked.ts';
import type { WireTuple, WireTuple__Output } from '../gen/grantd/v1/WireTuple.ts';
import type { WriteBulk__Output } from '../gen/grantd/v1/WriteBulk.ts';
import type { WriteGrants__Output } from '../gen/grantd/v1/WriteGrants.ts';
import { demand } from '../wire-violation.ts';
import { demandCount, knownRelation, malformed, nextCursorOf, pageFrom } from './answer-fields.ts';
import { defineCall } from './define-call.ts';
import { pageQueryFromWire, pageQueryToWire, relationFrom } from './request-fields.ts';

const WRITE_MS = 0.02;
const BULK_CHANGE_MS = 0.01;
/** What revoking the most grants takes. */
const REVOKE_MS = 5;
const LISTED_MS = 0.003;

// ---- grants, and which ones a request means ----

interface WireFilter {
  readonly subject: string;
  readonly object: string;
  readonly relation: string;
}

const filterToWire = ({ of, relation }: GrantFilter) => ({ ...of, relation: relation ?? '' });

/** An empty filter must never mean all grants. */
function filterFrom({ subject, object, relation }: WireFilter): GrantFilter {
  demand((subject === '') !== (object === ''), 'A filter names either a subject or an object.');
  return {
    of: subject === '' ? { object } : { subject },
    relation: relation === '' ? undefined : relationFrom(relation),
  };
}

export const grantToWire = (grant: Grant) => ({
  ...grant,
  expiresAtMs: grant.expiresAtMs ?? 0,
  condition: grant.condition ?? '',
});

const grantsToWire = (page: GrantsPage): Grants => ({
  grants: page.items.map(grantToWire),
  nextCursor: nextCursorOf(page),
  feedCursor: page.feedCursor,
});

export function grantFrom(grant: GrantRecord__Output): Grant {
  const { subject, object } = grant;
  return { subject, relation: knownRelation(grant.relation), object, ...attributesFrom(grant) };
}

type WireAttributes = Pick<GrantRecord__Output, 'grantId' | 'createdAtMs' | 'expiresAtMs' | 'condition'>;

/** 0: the grant never expires; an empty condition: it has none. */
function attributesFrom({ grantId, createdAtMs, expiresAtMs, condition }: WireAttributes): GrantAttributes {
  if (condition !== '' && !isCondition(condition)) throw malformed('The condition of a grant is ill-formed.');
  return attributesOf({
    grantId,
    createdAtMs,
    ...(expiresAtMs === 0 ? {} : { expiresAtMs }),
    ...(condition === '' ? {} : { condition }),
  });
}

function grantsFrom({ grants, nextCursor, feedCursor }: Grants__Output): GrantsPage {
  if (feedCursor === '') throw malformed('A page of grants lacks its cursor of the change feed.');
  return { ...pageFrom(grants.map(grantFrom), nextCursor), feedCursor };
}

const GRANTS_REPLY = { reply: 'grants', replyToWire: grantsToWire, replyFromWire: grantsFrom } as const;

const REVOKED_REPLY = {
  reply: 'revoked',
  replyToWire: (result: RevokeResult) => result,
  replyFromWire({ revoked, complete }: Revoked__Output): RevokeResult {
    if (revoked > REVOKED_PER_CALL_MAX) throw malformed(`A call has revoked ${revoked} grants.`);
    return { revoked, complete };
  },
} as const;

// ---- the terms that a write sets ----

/** The year 2300: beyond what any front lets through. */
const EXPIRY_MS_MAX = Date.UTC(2300, 0, 1);

interface WireTerms {
  readonly expiresAtMs: number;
  readonly permanent: boolean;
  readonly condition: string;
  readonly unconditional: boolean;
  readonly keepsExisting: boolean;
}

const termsToWire = ({ expiresAtMs, condition, keepsExisting }: TermsRequest): Partial<WireTerms> => ({
  ...(typeof expiresAtMs === 'number' ? { expiresAtMs } : {}),
  ...(expiresAtMs === null ? { permanent: true } : {}),
  ...(typeof condition === 'string' ? { condition } : {}),
  ...(condition === null ? { unconditional: true } : {}),
  ...(keepsExisting ? { keepsExisting } : {}),
});

const termsFrom = (terms: WireTerms): TermsRequest => ({
  ...expiryFrom(terms),
  ...conditionFrom(terms),
  ...(terms.keepsExisting ? { keepsExisting: true } : {}),
});

function expiryFrom({ expiresAtMs, permanent }: WireTerms): ExpiryRequest {
  if (permanent) return { expiresAtMs: null };
  if (expiresAtMs === 0) return {};
  demand(expiresAtMs > 0 && expiresAtMs <= EXPIRY_MS_MAX, 'An expiry is out of bounds.');
  return { expiresAtMs };
}

function conditionFrom({ condition, unconditional }: WireTerms): ConditionRequest {
  if (unconditional) return { condition: null };
  if (condition === '') return {};
  demand(isCondition(condition), 'The condition of a write is ill-formed.');
  return { condition };
}

const demandNoTerms = ({ expiresAtMs, permanent, condition, unconditional, keepsExisting }: WireTerms): void =>
  demand(
    expiresAtMs === 0 && !permanent && condition === '' && !unconditional && !keepsExisting,
    'A revocation has neither an expiry nor a condition.',
  );

// ---- the result of one grant of a write ----

function resultToWire(result: GrantResult): WireGrantResult {
  switch (result.kind) {
    case 'created':
      return { outcome: GrantOutcome.GRANT_CREATED, ...attributesToWire(result) };
    case 'changed':
      return { outcome: GrantOutcome.GRANT_EXISTS, changed: true, ...attributesToWire(result) };
    case 'exists':
      return { outcome: GrantOutcome.GRANT_EXISTS, ...attributesToWire(result) };
    case 'revoked':
      return { outcome: GrantOutcome.GRANT_REVOKED };
    case 'not-found':
      return { outcome: GrantOutcome.GRANT_NOT_FOUND };
    case 'refused':
      return { outcome: GrantOutcome.GRANT_REFUSED, errorCode: result.code, errorMessage: result.message };
    default:
      return assertNever(result);
  }
}

const attributesToWire = (grant: GrantAttributes & Unfollowed) => ({
  grantId: grant.grantId,
  createdAtMs: grant.createdAtMs,
  expiresAtMs: grant.expiresAtMs ?? 0,
  condition: grant.condition ?? '',
  notFollowed: grant.notFollowed ?? '',
});

/** A reason that this version does not know is left out: it is only a hint. */
function unfollowedFrom({ notFollowed }: GrantResult__Output): Unfollowed {
  const reason = UNFOLLOWED_REASONS.find((each) => each === notFollowed);
  return reason === undefined ? {} : { notFollowed: reason };
}

const grantRefusals: ReadonlySet<string> = new Set(GRANT_REFUSALS);
const isGrantRefusal = (code: string): code is GrantRefusal => grantRefusals.has(code);

type Refused = Extract<GrantResult, { kind: 'refused' }>;

function refusalFrom(code: string, message: string): Refused {
  if (!isGrantRefusal(code)) throw malformed(`A write was refused: ${code}.`);
  return { kind: 'refused', code, message };
}

function resultFrom(result: GrantResult__Output): GrantResult {
  const { outcome, errorCode, errorMessage } = result;
  switch (outcome) {
    case GrantOutcome.GRANT_CREATED:
      return { kind: 'created', ...attributesFrom(result), ...unfollowedFrom(result) };
    case GrantOutcome.GRANT_EXISTS:
      return { kind: result.changed ? 'changed' : 'exists', ...attributesFrom(result), ...unfollowedFrom(result) };
    case GrantOutcome.GRANT_REVOKED:
      return { kind: 'revoked' };
    case GrantOutcome.GRANT_NOT_FOUND:
      return { kind: 'not-found' };
    case GrantOutcome.GRANT_REFUSED:
      return refusalFrom(errorCode, errorMessage);
    default:
      throw malformed('A write has no outcome.');
  }
}

// ---- writes ----

function writesFrom({ writes }: WriteGrants__Output): readonly GrantRequest[] {
  demand(
    writes.length >= 1 && writes.length <= WRITES_PER_CALL_MAX,
    `A call must have 1 to ${WRITES_PER_CALL_MAX} writes.`,
  );
  const relations = writes.map(({ relation }) => relationFrom(relation));
  return writes.map((write, index) => {
    const { revoke, subject, object } = write;
    if (revoke) demandNoTerms(write);
    demand(!(revoke && write.keepsOutside), 'Types exclude no revocation.');
    const tuple = parseTuple(subject, relations[index], object, 'writes', index);
    return { ...tuple, revoke, ...termsFrom(write), ...(write.keepsOutside ? { keepsOutside: true } : {}) };
  });
}

export const tupleToWire = ({ subject, relation, object }: Tuple): WireTuple => ({ subject, relation, object });

export function tuplesFrom(
  tuples: readonly Pick<WireTuple__Output, 'subject' | 'relation' | 'object'>[],
  list: string,
): readonly Tuple[] {
  const relations = tuples.map(({ relation }) => relationFrom(relation));
  return tuples.map(({ subject, object }, index) => parseTuple(subject, relations[index], object, list, index));
}

function bulkFrom({ grants, revocations, conditions }: WriteBulk__Output): BulkWrite {
  const changes = grants.length + revocations.length;
  demand(changes >= 1 && changes <= BULK_CHANGES_MAX, `A bulk write must have 1 to ${BULK_CHANGES_MAX} changes.`);
  demand(conditions.length <= BULK_CONDITIONS_MAX, `A bulk write has more than ${BULK_CONDITIONS_MAX} conditions.`);
  const named = new Set(
    [...grants, ...revocations].map(({ subject, relation, object }) => `${subject} ${relation} ${object}`),
  );
  demand(named.size === changes, 'Two changes of a bulk write name the same tuple.');
  const granted = tuplesFrom(grants, 'grants');
  const asked = tuplesFrom(conditions, 'conditions');
  for (const revocation of revocations) demandNoTerms(revocation);
  return {
    grants: grants.flatMap((grant, index) => {
      const tuple = granted[index];
      return tuple === undefined ? [] : [{ ...tuple, ...termsFrom(grant) }];
    }),
    revocations: tuplesFrom(revocations, 'revocations'),
    conditions: asked.map((tuple, index) => ({ ...tuple, exists: conditions[index]?.exists === true })),
  };
}

function writtenToWire(result: BulkWriteResult): BulkWritten {
  switch (result.kind) {
    case 'written':
      return {
        grants: result.grants.map(({ created, ...grant }) =>
          resultToWire({ kind: created ? 'created' : 'exists', ...grant }),
        ),
        revoked: [...result.revoked],
      };
    case 'condition-not-met':
      return { unmetCondition: result.condition + 1 };
    case 'refused':
      return { errorCode: result.code, errorMessage: result.message };
  }
}

function writtenFrom(written: BulkWritten__Output, { grants, revocations, conditions }: BulkWrite): BulkWriteResult {
  const { unmetCondition, errorCode, errorMessage } = written;
  if (errorCode !== '') return refusalFrom(errorCode, errorMessage);
  if (unmetCondition > 0) {
    if (unmetCondition > conditions.length) throw malformed(`A bulk write has no condition ${unmetCondition}.`);
    return { kind: 'condition-not-met', condition: unmetCondition - 1 };
  }
  demandCount(written.grants, grants);
  demandCount(written.revoked, revocations);
  const results = written.grants.map(resultFrom).map((result) => {
    if (result.kind !== 'created' && result.kind !== 'exists')
      throw malformed('A grant of a bulk write has no record.');
    const { kind, ...attributes } = result;
    return { created: kind === 'created', ...attributes };
  });
  return { kind: 'written', grants: results, revoked: written.revoked };
}

// ---- the calls ----

export const grantCalls = {
  /** In order, each an operation of its own. */
  writeGrants: defineCall('writeGrants', {
    access: 'grant:write',
    write: 'repeatable',
    costMs: ({ writes }) => WRITE_MS * writes.length,
    requestToWire: (writes) => {
      assert(writes.length >= 1 && writes.length <= WRITES_PER_CALL_MAX, 'a call has 1 to 1,000 writes');
      return {
        writes: writes.map((write) => ({
          revoke: write.revoke,
          ...tupleToWire(write),
          ...termsToWire(write),
          ...(write.keepsOutside ? { keepsOutside: true } : {}),
        })),
      };
    },
    requestFromWire: writesFrom,
    reply: 'grantResults',
    replyToWire: (results) => ({ results: results.map(resultToWire) }),
    replyFromWire: ({ results }, writes) => {
      demandCount(results, writes);
      return results.map(resultFrom);
    },
  }),

  /** One operation, applied as a whole or not at all. */
  writeBulk: defineCall('writeBulk', {
    access: 'grant:write',
    write: 'repeatable',
    costMs: ({ grants, revocations, conditions }) =>
      BULK_CHANGE_MS * (grants.length + revocations.length + conditions.length),
    requestToWire: ({ grants, revocations, conditions }) => {
      assert(grants.length + revocations.length <= BULK_CHANGES_MAX, 'a bulk write has at most 100 changes');
      return {
        grants: grants.map((grant) => ({ ...tupleToWire(grant), ...termsToWire(grant) })),
        revocations: revocations.map(tupleToWire),
        conditions: conditions.map((condition) => ({ ...tupleToWire(condition), exists: condition.exists })),
      };
    },
    requestFromWire: bulkFrom,
    reply: 'bulkWritten',
    replyToWire: writtenToWire,
    replyFromWire: writtenFrom,
  }),

  /** Revokes the grants of one subject, or on one object: one operation, up to 1,000 at one moment. */
  revokeGrants: defineCall('revokeGrants', {
    access: 'grant:write',
    write: 'repeatable',
    costMs: () => REVOKE_MS,
    requestToWire: filterToWire,
    requestFromWire: filterFrom,
    ...REVOKED_REPLY,
  }),

  /** What such a revocation would do. */
  previewRevocation: defineCall('previewRevocation', {
    access: 'grant:write',
    costMs: () => REVOKE_MS,
    requestToWire: filterToWire,
    requestFromWire: filterFrom,
    ...REVOKED_REPLY,
  }),

  /** The grants of one subject, or on one object. */
  listGrants: defineCall('listGrants', {
    access: 'check:read',
    costMs: ({ limit }) => LISTED_MS * limit,
    requestToWire: (query) => ({ ...pageQueryToWire(query), ...filterToWire(query) }),
    requestFromWire: (query) => ({ ...pageQueryFromWire(query), ...filterFrom(query) }),
    ...GRANTS_REPLY,
  }),

  /** Every grant of the tenant. */
  exportGrants: defineCall('exportGrants', {
    access: 'operator-handle',
    enumerates: true,
    requestToWire: (query) => pageQueryToWire(query),
    requestFromWire: pageQueryFromWire,
    ...GRANTS_REPLY,
  }),
};
