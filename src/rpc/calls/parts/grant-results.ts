// What became of one grant of a write, in replies, both ways.

import { assertNever } from '../../../core/assert.ts';
import type { GrantAttributes } from '../../../core/grant-attributes.ts';
import { UNFOLLOWED_REASONS, type Unfollowed } from '../../../core/service-warnings.ts';
import type { GrantRefusal, GrantResult } from '../../../shard/shard.ts';
import { GrantOutcome } from '../../gen/grantd/v1/GrantOutcome.ts';
import type { GrantResult__Output, GrantResult as WireGrantResult } from '../../gen/grantd/v1/GrantResult.ts';
import { malformed } from './answer-fields.ts';
import { attributesFrom } from './grants.ts';

export function resultToWire(result: GrantResult): WireGrantResult {
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

const attributesToWire = ({ grantId, createdAtMs, expiresAtMs = 0, notFollowed }: GrantAttributes & Unfollowed) => ({
  grantId,
  createdAtMs,
  expiresAtMs,
  notFollowed: notFollowed ?? '',
});

/** A reason that this version does not know is left out: it is only a hint. */
function unfollowedFrom({ notFollowed }: GrantResult__Output): Unfollowed {
  const reason = UNFOLLOWED_REASONS.find((each) => each === notFollowed);
  return reason === undefined ? {} : { notFollowed: reason };
}

const isGrantRefusal = (code: string): code is GrantRefusal =>
  code === 'namespace-limit-reached' || code === 'grant-limit-reached' || code === 'invalid-request';

type Refused = Extract<GrantResult, { kind: 'refused' }>;

export function refusalFrom(code: string, message: string): Refused {
  if (!isGrantRefusal(code)) throw malformed(`A write was refused: ${code}.`);
  return { kind: 'refused', code, message };
}

export function resultFrom(result: GrantResult__Output): GrantResult {
  const { outcome, errorCode, errorMessage } = result;
  switch (outcome) {
    case GrantOutcome.GRANT_CREATED:
      return { kind: 'created', ...attributesFrom(result), ...unfollowedFrom(result) };
    case GrantOutcome.GRANT_EXISTS:
      return { kind: 'exists', ...attributesFrom(result), ...unfollowedFrom(result) };
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
