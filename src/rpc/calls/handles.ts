// The calls that issue and confirm handles. A claim carries the whole API key: nothing that is stored of a key
// authenticates.

import type { IssuedHandle } from '../../shard/shard.ts';
import type { ReceivedReply } from '../messages.ts';
import { answerIn, DONE, defineCall } from './define-call.ts';
import { apiKey, shortText, tenantId } from './fields.ts';
import * as s from './schema.ts';

const HANDLE = {
  reply: 'handle',
  answer: s.message<IssuedHandle>({
    handle: s.uint32In(1, 0xffff_ffff),
    tenantId,
    keyId: s.text,
    scopes: s.uint32,
    expiresAtMs: s.orUndefined(s.int64),
    plan: s.text,
    suspended: s.flag,
    readers: s.uint32,
    nowMs: s.int64,
  }),
} as const;

/** From the reply to either call that requests a handle. */
export const handleGrantOf = (reply: ReceivedReply): IssuedHandle => answerIn(reply, HANDLE.reply, HANDLE.answer);

const CLAIM = {
  access: 'peer',
  // A hash, and a wait for the key: what follows the first step of the call.
  costMs: 0.03,
  request: s.message({ tenantId: shortText, keyId: shortText, key: apiKey }),
  ...HANDLE,
} as const;

export const handleCalls = {
  authenticate: defineCall('authenticate', CLAIM),
  authenticateAtReader: defineCall('authenticateAtReader', CLAIM),
  authenticateOperator: defineCall('authenticateOperator', {
    access: 'console',
    request: s.message({ tenantId: shortText, operator: shortText }),
    ...HANDLE,
  }),
  confirm: defineCall('confirm', { access: 'handle', request: s.nothing, ...DONE }),
};
