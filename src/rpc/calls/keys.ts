// The calls about the API keys of a tenant. The shard learns only the hash of a key, also of one whose text someone has
// found; a reply has neither.

import { keyLinks } from '../../core/api-keys.ts';
import type { KeyId } from '../../core/ids.ts';
import { NAME_UNITS_MAX, ROTATION_GRACE_MS_MAX } from '../../core/limits.ts';
import type { ListedKey } from '../../shard/shard.ts';
import type { Key, Key__Output } from '../gen/grantd/v1/Key.ts';
import { demand } from '../wire-violation.ts';
import { answered, keyIdFrom, nextCursorOf, pageFrom, zeroAsUndefined } from './answer-fields.ts';
import { DONE_REPLY, defineCall } from './define-call.ts';
import { hashText, keyIdText, pageQueryFromWire, pageQueryToWire, scopesFrom, shortText } from './request-fields.ts';

function keyToWire(key: ListedKey): Key {
  const { keyId, name, scopes, createdAtMs, expiresAtMs = 0, lastUsedAtMs = 0 } = key;
  const { rotatedFrom = '', rotatedTo = '' } = key;
  return { keyId, name, scopes, createdAtMs, expiresAtMs, lastUsedAtMs, rotatedFrom, rotatedTo };
}

const linkFrom = (text: string): KeyId | undefined => (text === '' ? undefined : keyIdFrom(text));

function keyFrom(key: Key__Output): ListedKey {
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

function graceFrom(graceMs: number): number {
  demand(graceMs >= 0 && graceMs <= ROTATION_GRACE_MS_MAX, 'A grace is out of bounds.');
  return graceMs;
}

export const keyCalls = {
  createKey: defineCall('createKey', {
    access: 'admin',
    write: 'creates',
    requestToWire: ({ expiresAtMs = 0, ...key }) => ({ ...key, expiresAtMs }),
    requestFromWire: ({ keyId, name, scopes, expiresAtMs, hash }) => ({
      keyId: shortText(keyId, 'A key id'),
      name: shortText(name, 'The name of a key', NAME_UNITS_MAX),
      scopes: scopesFrom(scopes),
      expiresAtMs: expiresAtMs === 0 ? undefined : expiresAtMs,
      hash: hashText(hash),
    }),
    reply: 'key',
    replyToWire: keyToWire,
    replyFromWire: keyFrom,
  }),

  listKeys: defineCall('listKeys', {
    access: 'admin',
    requestToWire: (query) => pageQueryToWire(query),
    requestFromWire: pageQueryFromWire,
    reply: 'keys',
    replyToWire: (page) => ({ keys: page.items.map(keyToWire), nextCursor: nextCursorOf(page) }),
    replyFromWire: ({ keys, nextCursor }) => pageFrom(keys.map(keyFrom), nextCursor),
  }),

  revokeKey: defineCall('revokeKey', {
    access: 'admin',
    write: 'repeatable',
    requestToWire: (keyId) => ({ keyId }),
    requestFromWire: ({ keyId }) => shortText(keyId, 'A key id'),
    ...DONE_REPLY,
  }),

  rotateKey: defineCall('rotateKey', {
    access: 'operator-handle',
    write: 'creates',
    requestToWire: (request) => request,
    requestFromWire: ({ keyId, newKeyId, hash, graceMs }) => ({
      keyId: keyIdText(keyId),
      newKeyId: keyIdText(newKeyId),
      hash: hashText(hash),
      graceMs: graceFrom(graceMs),
    }),
    reply: 'rotatedKey',
    replyToWire: ({ key, former, revoked }) => ({ key: keyToWire(key), former: keyToWire(former), revoked }),
    replyFromWire: ({ key, former, revoked }) => ({
      key: keyFrom(answered(key)),
      former: keyFrom(answered(former)),
      revoked,
    }),
  }),

  /** Which API key a text is that someone has found. */
  identifyKey: defineCall('identifyKey', {
    access: 'operator-handle',
    requestToWire: (claim) => claim,
    requestFromWire: ({ keyId, hash }) => ({ keyId: keyIdText(keyId), hash: hashText(hash) }),
    reply: 'identifiedKey',
    replyToWire: (identified) =>
      identified === undefined
        ? { key: null, matches: false }
        : { key: keyToWire(identified.key), matches: identified.matches },
    replyFromWire: ({ key, matches }) => (key === null ? undefined : { key: keyFrom(key), matches }),
  }),
};
