// The calls about the grants of a tenant: writes, revocations by a filter, and pages of grants.

import { assertNever } from '../../core/assert.ts';
import { GRANT_REFUSALS } from '../../core/bulk-writes.ts';
import { FILTER_NAMES_MAX } from '../../core/change-feed.ts';
import { attributesOf, type GrantAttributes, type TermsRequest } from '../../core/grant-attributes.ts';
import {
  BULK_CHANGES_MAX,
  BULK_PRECONDITIONS_MAX,
  REVOKED_PER_CALL_MAX,
  WRITES_PER_CALL_MAX,
} from '../../core/limits.ts';
import { UNFOLLOWED_REASONS, type UnfollowedGrant } from '../../core/service-warnings.ts';
import { type Grant, tupleKey } from '../../core/tuples.ts';
import type { BulkWriteResult, GrantedTuple, GrantFilter, GrantRequest, GrantResult } from '../../shard/shard.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';
import { condition, identifier, pageFields, pageQuery, relation, shortText, subject } from './fields.ts';
import * as s from './schema.ts';

const WRITE_MS = 0.02;
const BULK_CHANGE_MS = 0.01;
/** What revoking the most grants takes. */
const REVOKE_MS = 5;
const LISTED_MS = 0.003;

/** Written only if it is true. */
const mark: s.Field<boolean | undefined> = { ...s.sparse(s.flag), write: (value) => value === true || undefined };
const tupleFields = { subject, relation, object: identifier };

// ---- which grants a request means, and grants ----

const filterFields = { subject: s.sparse(s.text), object: s.sparse(s.text), relation: s.orUndefined(relation) };

/** An empty filter must never mean all grants. */
function anchorOf(subject: string | undefined, object: string | undefined): GrantFilter['of'] {
  demand((subject === undefined) !== (object === undefined), 'A filter names either a subject or an object.');
  return subject === undefined ? { object: object ?? '' } : { subject };
}

const filter: s.Field<GrantFilter> = s.messageOf(
  filterFields,
  ({ of, relation: name }) => ({ ...of, relation: name }),
  ({ subject, object, relation: name }) => ({ of: anchorOf(subject, object), relation: name }),
);

const storedCondition = s.optional(condition);
const storedGrant = s.message<Grant>({
  subject: s.text,
  relation,
  object: s.text,
  grantId: s.text,
  createdAtMs: s.int64,
  expiresAtMs: s.optional(s.int64),
  condition: storedCondition,
});

/** A page has up to 1,000: each crosses without a walk over its fields. */
export const grant: s.Field<Grant> = {
  ...storedGrant,
  write: (each) => ({ ...each, expiresAtMs: each.expiresAtMs ?? 0, condition: each.condition ?? '' }),
  read: (wire) => {
    const {
      subject,
      relation: name,
      object,
      grantId,
      createdAtMs,
      expiresAtMs,
      condition: terms,
    } = wire as Required<Grant>;
    const attributes = attributesOf({
      grantId,
      createdAtMs,
      expiresAtMs: expiresAtMs || undefined,
      condition: storedCondition.read(terms, 'condition'),
    } as GrantAttributes);
    return { subject, relation: relation.read(name, 'relation'), object, ...attributes };
  },
};

const grantsFields = {
  items: s.as('grants', s.list(grant)),
  nextCursor: s.orUndefined(s.text),
  feedCursor: s.refined(s.text, (cursor) => demand(cursor !== '', 'A page of grants lacks its cursor of the feed.')),
};
const GRANTS = { reply: 'grants', answer: s.message(grantsFields) } as const;

const REVOKED = {
  costMs: REVOKE_MS,
  request: filter,
  reply: 'revoked',
  answer: s.message({ revoked: s.uint32In(0, REVOKED_PER_CALL_MAX), complete: s.flag }),
} as const;

// ---- the terms that a write sets ----

/** The year 2300: beyond what any front lets through. */
const EXPIRY_MS_MAX = Date.UTC(2300, 0, 1);

/** Terms as the wire has them: what removes one is a field of its own. */
type WireTerms<Terms> = Omit<Terms, 'expiresAtMs' | 'condition'> & {
  readonly expiresAtMs?: number | undefined;
  readonly permanent?: boolean | undefined;
  readonly condition?: string | undefined;
  readonly unconditional?: boolean | undefined;
};

/** Most terms remove nothing: they are the same on the wire. */
const withTerms = <Write extends GrantedTuple>(fields: s.FieldsOf<Omit<Write, keyof GrantedTuple>>): s.Field<Write> =>
  s.converted<WireTerms<Write>, Write>(
    s.message({
      ...fields,
      ...tupleFields,
      expiresAtMs: s.sparse(s.int64In(1, EXPIRY_MS_MAX)),
      permanent: mark,
      condition: s.sparse(condition),
      unconditional: mark,
      keepsExisting: mark,
    } as unknown as s.FieldsOf<WireTerms<Write>>),
    (write) => {
      const { expiresAtMs, condition } = write;
      if (expiresAtMs !== null && condition !== null) return write as unknown as WireTerms<Write>;
      const permanent = expiresAtMs === null;
      const unconditional = condition === null;
      return {
        ...write,
        expiresAtMs: expiresAtMs ?? undefined,
        permanent,
        condition: condition ?? undefined,
        unconditional,
      };
    },
    (wire) => {
      if (wire.permanent === undefined && wire.unconditional === undefined) return wire as unknown as Write;
      const { permanent, unconditional, ...write } = wire;
      const removed = { ...(permanent && { expiresAtMs: null }), ...(unconditional && { condition: null }) };
      return { ...write, ...removed } as unknown as Write;
    },
  );

const hasTerms = ({ expiresAtMs, condition, keepsExisting }: TermsRequest): boolean =>
  expiresAtMs !== undefined || condition !== undefined || keepsExisting !== undefined;

const grantedTuple = withTerms<GrantedTuple>({});
/** Callers may revoke grants as they have read them: the terms stay behind. */
const revocation = s.converted(
  s.refined(grantedTuple, (tuple) => demand(!hasTerms(tuple), 'A revocation has terms.')),
  ({ subject, relation, object }: GrantedTuple) => ({ subject, relation, object }),
  (tuple) => tuple,
);
const write = s.refined(withTerms<GrantRequest>({ revoke: s.flag, keepsOutside: mark }), (each) =>
  demand(!each.revoke || !(hasTerms(each) || each.keepsOutside), 'A revocation has terms.'),
);

// ---- the result of one grant of a write ----

const refusalFields = { errorCode: s.sparse(s.word(...GRANT_REFUSALS)), errorMessage: s.sparse(s.text) };

function refusalFrom({ errorCode, errorMessage = '' }: s.ValuesOf<typeof refusalFields>) {
  demand(errorCode !== undefined, 'A refusal has no reason.');
  return { kind: 'refused', code: errorCode, message: errorMessage } as const;
}

const resultFields = {
  outcome: s.outcome({ created: 1, exists: 2, revoked: 3, 'not-found': 4, refused: 5 }),
  grantId: s.sparse(s.text),
  createdAtMs: s.sparse(s.int64),
  expiresAtMs: s.sparse(s.int64),
  condition: s.sparse(condition),
  notFollowed: s.sparse(s.text),
  changed: s.sparse(s.flag),
  ...refusalFields,
};
type WireResult = s.ValuesOf<typeof resultFields>;

type WrittenAttributes = GrantAttributes & UnfollowedGrant;

const attributesToWire = ({ grantId, createdAtMs, expiresAtMs, condition, notFollowed }: WrittenAttributes) => ({
  grantId,
  createdAtMs,
  expiresAtMs: expiresAtMs ?? 0,
  condition: condition ?? '',
  notFollowed: notFollowed ?? '',
});

function attributesFrom(wire: WireResult): WrittenAttributes {
  const { grantId = '', createdAtMs = 0, expiresAtMs, condition, notFollowed } = wire;
  const attributes = attributesOf({ grantId, createdAtMs, expiresAtMs, condition } as GrantAttributes);
  if (notFollowed === undefined) return attributes;
  // A reason that this version does not know is left out: it is only a hint.
  const reason = UNFOLLOWED_REASONS.find((each) => each === notFollowed);
  return reason === undefined ? attributes : { ...attributes, notFollowed: reason };
}

function resultToWire(result: GrantResult): Partial<WireResult> & Pick<WireResult, 'outcome'> {
  switch (result.kind) {
    case 'created':
    case 'exists':
      return { outcome: result.kind, ...attributesToWire(result) };
    case 'changed':
      return { outcome: 'exists', changed: true, ...attributesToWire(result) };
    case 'revoked':
    case 'not-found':
      return { outcome: result.kind };
    case 'refused':
      return { outcome: result.kind, errorCode: result.code, errorMessage: result.message };
    default:
      return assertNever(result);
  }
}

function resultFrom(wire: WireResult): GrantResult {
  switch (wire.outcome) {
    case 'created':
      return { kind: 'created', ...attributesFrom(wire) };
    case 'exists':
      return { kind: wire.changed ? 'changed' : 'exists', ...attributesFrom(wire) };
    case 'revoked':
    case 'not-found':
      return { kind: wire.outcome };
    case 'refused':
      return refusalFrom(wire);
    default:
      return assertNever(wire.outcome);
  }
}

const result = s.messageOf(resultFields, resultToWire, resultFrom);

// ---- bulk writes ----

const bulkWrite = s.refined(
  s.message({
    grants: s.list(grantedTuple, { max: BULK_CHANGES_MAX }),
    revocations: s.list(revocation, { max: BULK_CHANGES_MAX }),
    preconditions: s.as(
      'conditions',
      s.list(s.message({ ...tupleFields, exists: s.flag }), { max: BULK_PRECONDITIONS_MAX }),
    ),
  }),
  ({ grants, revocations }) => {
    const tuples = [...grants, ...revocations];
    const { length } = tuples;
    demand(length >= 1 && length <= BULK_CHANGES_MAX, `A bulk write must have 1 to ${BULK_CHANGES_MAX} changes.`);
    demand(new Set(tuples.map(tupleKey)).size === length, 'Two changes of a bulk write name the same tuple.');
  },
);

const bulkResult: s.Field<BulkWriteResult> = s.messageOf(
  {
    grants: s.sparse(s.list(result)),
    revoked: s.sparse(s.list(s.flag)),
    /** From 1. */
    unmetCondition: s.sparse(s.uint32),
    ...refusalFields,
  },
  (written) => {
    switch (written.kind) {
      case 'written':
        return {
          grants: written.grants.map(
            ({ created, ...grant }): GrantResult => ({ kind: created ? 'created' : 'exists', ...grant }),
          ),
          revoked: written.revoked,
        };
      case 'precondition-not-met':
        return { unmetCondition: written.precondition + 1 };
      case 'refused':
        return { errorCode: written.code, errorMessage: written.message };
      default:
        return assertNever(written);
    }
  },
  ({ grants = [], revoked = [], unmetCondition, ...refusal }) => {
    if (refusal.errorCode !== undefined) return refusalFrom(refusal);
    if (unmetCondition !== undefined) return { kind: 'precondition-not-met', precondition: unmetCondition - 1 };
    const written = grants.map(({ kind, ...attributes }) => {
      demand((kind === 'created' || kind === 'exists') && 'grantId' in attributes, 'A written grant has no record.');
      return { created: kind === 'created', ...attributes };
    });
    return { kind: 'written', grants: written, revoked };
  },
);

const demandOneEach = (results: readonly unknown[], items: readonly unknown[]): void =>
  demand(results.length === items.length, `${items.length} items have ${results.length} results.`);

// ---- the calls ----

export const grantCalls = {
  /** In order, each an operation of its own. */
  writeGrants: defineCall('writeGrants', {
    access: 'grant:write',
    write: 'repeatable',
    costMs: WRITE_MS,
    per: ['writes'],
    request: s.only('writes', s.list(write, { min: 1, max: WRITES_PER_CALL_MAX })),
    reply: 'grantResults',
    answer: s.only('results', s.list(result)),
    fits: demandOneEach,
  }),

  /** One operation, applied as a whole or not at all. */
  writeBulk: defineCall('writeBulk', {
    access: 'grant:write',
    write: 'repeatable',
    costMs: BULK_CHANGE_MS,
    per: ['grants', 'revocations', 'preconditions'],
    request: bulkWrite,
    reply: 'bulkWritten',
    answer: bulkResult,
    fits: (answer, { grants, revocations, preconditions }) => {
      if (answer.kind === 'precondition-not-met') {
        demand(answer.precondition < preconditions.length, `A bulk write has no precondition ${answer.precondition}.`);
      }
      if (answer.kind !== 'written') return;
      demandOneEach(answer.grants, grants);
      demandOneEach(answer.revoked, revocations);
    },
  }),

  /** Revokes the grants of one subject, or on one object: one operation, up to 1,000 at one moment. */
  revokeGrants: defineCall('revokeGrants', { access: 'grant:write', write: 'repeatable', ...REVOKED }),
  /** What such a revocation would do. */
  previewRevocation: defineCall('previewRevocation', { access: 'grant:write', ...REVOKED }),

  /** The grants of one subject, or on one object. */
  listGrants: defineCall('listGrants', {
    access: 'check:read',
    costMs: LISTED_MS,
    per: ['limit'],
    request: s.messageOf(
      { ...pageFields, ...filterFields },
      ({ of, ...query }) => ({ ...query, ...of }),
      ({ subject, object, ...query }) => ({ ...query, of: anchorOf(subject, object) }),
    ),
    ...GRANTS,
  }),

  /** All grants of some relations on objects of some namespaces. */
  snapshotGrants: defineCall('snapshotGrants', {
    access: 'check:read',
    costMs: LISTED_MS,
    per: ['limit'],
    request: s.message({ ...pageFields, on: s.list(shortText, { min: 1, max: FILTER_NAMES_MAX }) }),
    reply: 'grants',
    answer: s.message({ ...grantsFields, seq: s.int64 }),
  }),

  /** Every grant of the tenant. */
  exportGrants: defineCall('exportGrants', {
    access: 'operator-handle',
    enumerates: true,
    request: pageQuery,
    ...GRANTS,
  }),
};
