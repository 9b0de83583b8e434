// Up to 100 changes of grants, with conditions: one operation, applied as a whole or not at all.

import { assert } from '../../core/assert.ts';
import { BULK_CHANGES_MAX, BULK_CONDITIONS_MAX } from '../../core/limits.ts';
import { parseTuple, type Tuple } from '../../core/tuples.ts';
import type { BulkWrite, BulkWriteResult } from '../../shard/shard.ts';
import type { BulkWritten, BulkWritten__Output } from '../gen/grantd/v1/BulkWritten.ts';
import type { WireTuple, WireTuple__Output } from '../gen/grantd/v1/WireTuple.ts';
import type { WriteBulk__Output } from '../gen/grantd/v1/WriteBulk.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';
import { demandCount, malformed } from './parts/answer-fields.ts';
import { refusalFrom, resultFrom, resultToWire } from './parts/grant-results.ts';
import { relationFrom, relationToWire } from './parts/request-fields.ts';

const CHANGE_MS = 0.01;

const tupleToWire = ({ subject, relation, object }: Tuple): WireTuple => ({
  subject,
  relation: relationToWire(relation),
  object,
});

function tuplesFrom(tuples: readonly WireTuple__Output[], list: string): readonly Tuple[] {
  const relations = tuples.map(({ relation }) => relationFrom(relation));
  return tuples.map(({ subject, object }, index) => parseTuple(subject, relations[index], object, list, index));
}

function writeFrom({ grants, revocations, conditions }: WriteBulk__Output): BulkWrite {
  const changes = grants.length + revocations.length;
  demand(changes >= 1 && changes <= BULK_CHANGES_MAX, `A bulk write must have 1 to ${BULK_CHANGES_MAX} changes.`);
  demand(conditions.length <= BULK_CONDITIONS_MAX, `A bulk write has more than ${BULK_CONDITIONS_MAX} conditions.`);
  const named = new Set(
    [...grants, ...revocations].map(({ subject, relation, object }) => `${subject} ${relation} ${object}`),
  );
  demand(named.size === changes, 'Two changes of a bulk write name the same tuple.');
  const asked = tuplesFrom(conditions, 'conditions');
  return {
    grants: tuplesFrom(grants, 'grants'),
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

export const writeBulk = defineCall({
  request: 'writeBulk',
  reply: 'bulkWritten',
  access: 'grant:write',
  write: 'repeatable',
  costMs: ({ grants, revocations, conditions }) => CHANGE_MS * (grants.length + revocations.length + conditions.length),
  requestToWire: ({ grants, revocations, conditions }: BulkWrite) => {
    assert(grants.length + revocations.length <= BULK_CHANGES_MAX, 'a bulk write has at most 100 changes');
    return {
      writeBulk: {
        grants: grants.map(tupleToWire),
        revocations: revocations.map(tupleToWire),
        conditions: conditions.map((condition) => ({ ...tupleToWire(condition), exists: condition.exists })),
      },
    };
  },
  requestFromWire: writeFrom,
  serve: ({ connection, handle, attempt }, write) => connection.writeBulk(handle, attempt, write),
  replyToWire: (result) => ({ bulkWritten: writtenToWire(result) }),
  replyFromWire: writtenFrom,
});
