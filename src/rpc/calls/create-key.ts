// Creates an API key. The shard learns only its hash.

import { NAME_UNITS_MAX } from '../../core/limits.ts';
import type { NewKey } from '../../shard/shard.ts';
import { defineCall } from './define-call.ts';
import { keyFrom, keyToWire } from './parts/keys.ts';
import { hashText, scopesFrom, shortText } from './parts/request-fields.ts';

export const createKey = defineCall({
  request: 'createKey',
  reply: 'key',
  access: 'admin',
  write: 'creates',
  requestToWire: ({ expiresAtMs = 0, ...key }: NewKey) => ({ createKey: { ...key, expiresAtMs } }),
  requestFromWire: ({ keyId, name, scopes, expiresAtMs, hash }): NewKey => ({
    keyId: shortText(keyId, 'A key id'),
    name: shortText(name, 'The name of a key', NAME_UNITS_MAX),
    scopes: scopesFrom(scopes),
    expiresAtMs: expiresAtMs === 0 ? undefined : expiresAtMs,
    hash: hashText(hash),
  }),
  serve: ({ connection, handle, attempt }, key) => connection.createKey(handle, attempt, key),
  replyToWire: (key) => ({ key: keyToWire(key) }),
  replyFromWire: keyFrom,
});
