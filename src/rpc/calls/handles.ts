// The calls that issue and confirm handles. A claim carries the whole API key: nothing that is stored of a key
// authenticates.

import type { IssuedHandle, KeyCredentials } from '../../shard/shard.ts';
import type { Authenticate__Output } from '../gen/grantd/v1/Authenticate.ts';
import type { Handle, Handle__Output } from '../gen/grantd/v1/Handle.ts';
import type { Reply__Output } from '../gen/grantd/v1/Reply.ts';
import { answered, malformed, tenantIdFrom, zeroAsUndefined } from './answer-fields.ts';
import { DONE_REPLY, defineCall, EMPTY_REQUEST } from './define-call.ts';
import { keyText, shortText } from './request-fields.ts';

const handleToWire = (grant: IssuedHandle): Handle => ({ ...grant, expiresAtMs: grant.expiresAtMs ?? 0 });

function handleFrom({ handle, tenantId, expiresAtMs, ...grant }: Handle__Output): IssuedHandle {
  if (handle === 0) throw malformed('A handle has the number 0.');
  return { ...grant, handle, tenantId: tenantIdFrom(tenantId), expiresAtMs: zeroAsUndefined(expiresAtMs) };
}

/** From the reply to either call that requests a handle. */
export const handleGrantOf = (reply: Reply__Output): IssuedHandle => handleFrom(answered(reply.handle));

const HANDLE_REPLY = { reply: 'handle', replyToWire: handleToWire, replyFromWire: handleFrom } as const;

/** A hash, and a wait for the key: what follows the first step of the call. */
const AUTHENTICATION_MS = 0.03;

const CLAIM_REQUEST = {
  costMs: () => AUTHENTICATION_MS,
  requestToWire: (claim: KeyCredentials) => claim,
  requestFromWire: ({ tenantId, keyId, key }: Authenticate__Output): KeyCredentials => ({
    tenantId: shortText(tenantId, 'A tenant id'),
    keyId: shortText(keyId, 'A key id'),
    key: keyText(key),
  }),
};

export const handleCalls = {
  authenticate: defineCall('authenticate', { access: 'peer', ...CLAIM_REQUEST, ...HANDLE_REPLY }),
  authenticateAtReader: defineCall('authenticateAtReader', { access: 'peer', ...CLAIM_REQUEST, ...HANDLE_REPLY }),

  authenticateOperator: defineCall('authenticateOperator', {
    access: 'console',
    requestToWire: (claim) => claim,
    requestFromWire: ({ tenantId, operator }) => ({
      tenantId: shortText(tenantId, 'A tenant id'),
      operator: shortText(operator, 'An operator'),
    }),
    ...HANDLE_REPLY,
  }),

  confirm: defineCall('confirm', { access: 'handle', ...EMPTY_REQUEST, ...DONE_REPLY }),
};
