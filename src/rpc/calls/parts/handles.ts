// A handle in replies, both ways.

import type { IssuedHandle } from '../../../shard/shard.ts';
import type { Handle, Handle__Output } from '../../gen/grantd/v1/Handle.ts';
import type { Reply__Output } from '../../gen/grantd/v1/Reply.ts';
import { answered, malformed, tenantIdFrom, zeroAsUndefined } from './answer-fields.ts';

export function handleToWire(grant: IssuedHandle): Handle {
  return { ...grant, expiresAtMs: grant.expiresAtMs ?? 0 };
}

export function handleFrom({
  handle,
  tenantId,
  keyId,
  scopes,
  expiresAtMs,
  plan,
  suspended,
}: Handle__Output): IssuedHandle {
  if (handle === 0) throw malformed('A handle has the number 0.');
  return {
    handle,
    tenantId: tenantIdFrom(tenantId),
    keyId,
    scopes,
    expiresAtMs: zeroAsUndefined(expiresAtMs),
    plan,
    suspended,
  };
}

/** From the reply to either call that requests a handle. */
export const handleGrantOf = (reply: Reply__Output): IssuedHandle => handleFrom(answered(reply.handle));
