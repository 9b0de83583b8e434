// An API key in replies, both ways: everything known about it except its text and its hash.

import { keyLinks } from '../../../core/api-keys.ts';
import type { KeyId } from '../../../core/ids.ts';
import type { ListedKey } from '../../../shard/shard.ts';
import type { Key, Key__Output } from '../../gen/grantd/v1/Key.ts';
import { keyIdFrom, zeroAsUndefined } from './answer-fields.ts';

export function keyToWire(key: ListedKey): Key {
  const { keyId, name, scopes, createdAtMs, expiresAtMs = 0, lastUsedAtMs = 0 } = key;
  const { rotatedFrom = '', rotatedTo = '' } = key;
  return { keyId, name, scopes, createdAtMs, expiresAtMs, lastUsedAtMs, rotatedFrom, rotatedTo };
}

const linkFrom = (text: string): KeyId | undefined => (text === '' ? undefined : keyIdFrom(text));

export function keyFrom(key: Key__Output): ListedKey {
  return {
    keyId: keyIdFrom(key.keyId),
    name: key.name,
    scopes: key.scopes,
    createdAtMs: key.createdAtMs,
    expiresAtMs: zeroAsUndefined(key.expiresAtMs),
    lastUsedAtMs: zeroAsUndefined(key.lastUsedAtMs),
    ...keyLinks({ rotatedFrom: linkFrom(key.rotatedFrom), rotatedTo: linkFrom(key.rotatedTo) }),
  };
}
