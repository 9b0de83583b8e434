// What became of one grant of a write, in replies, both ways.

import { assertNever } from '../../../core/assert.ts';
import type { GrantRefusal, GrantResult } from '../../../shard/shard.ts';
import { GrantOutcome } from '../../gen/grantd/v1/GrantOutcome.ts';
import type { GrantResult__Output, GrantResult as WireGrantResult } from '../../gen/grantd/v1/GrantResult.ts';
import { malformed } from './answer-fields.ts';

export function resultToWire(result: GrantResult): WireGrantResult {
  switch (result.kind) {
    case 'created':
      return { outcome: GrantOutcome.GRANT_CREATED, grantId: result.grantId, createdAtMs: result.createdAtMs };
    case 'exists':
      return { outcome: GrantOutcome.GRANT_EXISTS, grantId: result.grantId, createdAtMs: result.createdAtMs };
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

const isGrantRefusal = (code: string): code is GrantRefusal =>
  code === 'namespace-limit-reached' || code === 'grant-limit-reached';

type Refused = Extract<GrantResult, { kind: 'refused' }>;

export function refusalFrom(code: string, message: string): Refused {
  if (!isGrantRefusal(code)) throw malformed(`A write was refused: ${code}.`);
  return { kind: 'refused', code, message };
}

export function resultFrom({
  outcome,
  grantId,
  createdAtMs,
  errorCode,
  errorMessage,
}: GrantResult__Output): GrantResult {
  switch (outcome) {
    case GrantOutcome.GRANT_CREATED:
      return { kind: 'created', grantId, createdAtMs };
    case GrantOutcome.GRANT_EXISTS:
      return { kind: 'exists', grantId, createdAtMs };
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
