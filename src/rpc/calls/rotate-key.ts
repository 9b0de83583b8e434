// Rotates an API key. The shard learns only the hash of the new one.

import { ROTATION_GRACE_MS_MAX } from '../../core/limits.ts';
import type { RotationRequest } from '../../shard/shard.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';
import { answered } from './parts/answer-fields.ts';
import { keyFrom, keyToWire } from './parts/keys.ts';
import { hashText, keyIdText } from './parts/request-fields.ts';

function graceFrom(graceMs: number): number {
  demand(graceMs >= 0 && graceMs <= ROTATION_GRACE_MS_MAX, 'A grace is out of bounds.');
  return graceMs;
}

export const rotateKey = defineCall({
  request: 'rotateKey',
  reply: 'rotatedKey',
  access: 'operator-handle',
  write: 'creates',
  requestToWire: (request: RotationRequest) => ({ rotateKey: request }),
  requestFromWire: ({ keyId, newKeyId, hash, graceMs }): RotationRequest => ({
    keyId: keyIdText(keyId),
    newKeyId: keyIdText(newKeyId),
    hash: hashText(hash),
    graceMs: graceFrom(graceMs),
  }),
  serve: ({ connection, handle, attempt }, request) => connection.rotateKey(handle, attempt, request),
  replyToWire: ({ key, former, revoked }) => ({
    rotatedKey: { key: keyToWire(key), former: keyToWire(former), revoked },
  }),
  replyFromWire: ({ key, former, revoked }) => ({
    key: keyFrom(answered(key)),
    former: keyFrom(answered(former)),
    revoked,
  }),
});
