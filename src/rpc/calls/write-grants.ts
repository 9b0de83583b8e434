// Up to 1,000 grants and revocations in order, each an operation of its own.

import { assert } from '../../core/assert.ts';
import { WRITES_PER_CALL_MAX } from '../../core/limits.ts';
import { parseTuple } from '../../core/tuples.ts';
import type { GrantRequest } from '../../shard/shard.ts';
import type { WriteGrants__Output } from '../gen/grantd/v1/WriteGrants.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';
import { demandCount } from './parts/answer-fields.ts';
import { resultFrom, resultToWire } from './parts/grant-results.ts';
import { relationFrom, relationToWire } from './parts/request-fields.ts';

const WRITE_MS = 0.02;

function writesFrom({ writes }: WriteGrants__Output): readonly GrantRequest[] {
  demand(
    writes.length >= 1 && writes.length <= WRITES_PER_CALL_MAX,
    `A call must have 1 to ${WRITES_PER_CALL_MAX} writes.`,
  );
  const relations = writes.map(({ relation }) => relationFrom(relation));
  return writes.map(({ revoke, subject, object }, index) => ({
    ...parseTuple(subject, relations[index], object, 'writes', index),
    revoke,
  }));
}

export const writeGrants = defineCall({
  request: 'writeGrants',
  reply: 'grantResults',
  access: 'grant:write',
  write: 'repeatable',
  costMs: ({ writes }) => WRITE_MS * writes.length,
  requestToWire: (writes: readonly GrantRequest[]) => {
    assert(writes.length >= 1 && writes.length <= WRITES_PER_CALL_MAX, 'a call has 1 to 1,000 writes');
    return {
      writeGrants: {
        writes: writes.map(({ revoke, subject, relation, object }) => ({
          revoke,
          subject,
          relation: relationToWire(relation),
          object,
        })),
      },
    };
  },
  requestFromWire: writesFrom,
  serve: ({ connection, handle, attempt }, writes) => connection.writeGrants(handle, attempt, writes),
  replyToWire: (results) => ({ grantResults: { results: results.map(resultToWire) } }),
  replyFromWire: ({ results }, writes) => {
    demandCount(results, writes);
    return results.map(resultFrom);
  },
});
