// Up to 1,000 grants and revocations in order, each an operation of its own.

import { assert, assertNever } from '../../core/assert.ts';
import type { GrantAttributes } from '../../core/grant-attributes.ts';
import { WRITES_PER_CALL_MAX } from '../../core/limits.ts';
import { parseTuple } from '../../core/tuples.ts';
import type { GrantRefusal, GrantRequest, GrantResult } from '../../shard/shard.ts';
import { GrantOutcome } from '../gen/grantd/v1/GrantOutcome.ts';
import type { GrantResult__Output, GrantResult as WireGrantResult } from '../gen/grantd/v1/GrantResult.ts';
import type { WriteGrants__Output } from '../gen/grantd/v1/WriteGrants.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';
import { demandCount, malformed } from './parts/answer-fields.ts';
import { attributesFrom } from './parts/grants.ts';
import { relationFrom, relationToWire } from './parts/request-fields.ts';

const WRITE_MS = 0.02;
/** The year 2300: beyond what any front lets through. */
const EXPIRY_MS_MAX = Date.UTC(2300, 0, 1);

function writesFrom({ writes }: WriteGrants__Output): readonly GrantRequest[] {
  demand(
    writes.length >= 1 && writes.length <= WRITES_PER_CALL_MAX,
    `A call must have 1 to ${WRITES_PER_CALL_MAX} writes.`,
  );
  const relations = writes.map(({ relation }) => relationFrom(relation));
  return writes.map(({ revoke, subject, object, expiresAtMs, permanent }, index) => ({
    ...parseTuple(subject, relations[index], object, 'writes', index),
    revoke,
    ...expiryFrom(revoke, expiresAtMs, permanent),
  }));
}

function expiryFrom(revoke: boolean, expiresAtMs: number, permanent: boolean): Pick<GrantRequest, 'expiresAtMs'> {
  if (expiresAtMs === 0 && !permanent) return {};
  demand(!revoke, 'A revocation has no expiry.');
  if (permanent) return { expiresAtMs: null };
  demand(expiresAtMs > 0 && expiresAtMs <= EXPIRY_MS_MAX, 'An expiry is out of bounds.');
  return { expiresAtMs };
}

function resultToWire(result: GrantResult): WireGrantResult {
  switch (result.kind) {
    case 'created':
      return { outcome: GrantOutcome.GRANT_CREATED, ...attributesToWire(result) };
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

const attributesToWire = ({ grantId, createdAtMs, expiresAtMs = 0 }: GrantAttributes) => ({
  grantId,
  createdAtMs,
  expiresAtMs,
});

const isGrantRefusal = (code: string): code is GrantRefusal =>
  code === 'namespace-limit-reached' || code === 'grant-limit-reached' || code === 'invalid-request';

function resultFrom(result: GrantResult__Output): GrantResult {
  const { outcome, errorCode, errorMessage } = result;
  switch (outcome) {
    case GrantOutcome.GRANT_CREATED:
      return { kind: 'created', ...attributesFrom(result) };
    case GrantOutcome.GRANT_EXISTS:
      return { kind: 'exists', ...attributesFrom(result) };
    case GrantOutcome.GRANT_REVOKED:
      return { kind: 'revoked' };
    case GrantOutcome.GRANT_NOT_FOUND:
      return { kind: 'not-found' };
    case GrantOutcome.GRANT_REFUSED:
      if (!isGrantRefusal(errorCode)) throw malformed(`A write was refused: ${errorCode}.`);
      return { kind: 'refused', code: errorCode, message: errorMessage };
    default:
      throw malformed('A write has no outcome.');
  }
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
        writes: writes.map(({ revoke, subject, relation, object, expiresAtMs }) => ({
          revoke,
          subject,
          relation: relationToWire(relation),
          object,
          ...(typeof expiresAtMs === 'number' ? { expiresAtMs } : {}),
          ...(expiresAtMs === null ? { permanent: true } : {}),
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
