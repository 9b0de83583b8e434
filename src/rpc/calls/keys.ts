// The calls about the API keys of a tenant. The shard learns only the hash of a key, also of one whose text someone has
// found; a reply has neither.

import { NAME_UNITS_MAX, ROTATION_GRACE_MS_MAX } from '../../core/limits.ts';
import { ALL_SCOPES } from '../../core/scopes.ts';
import type { IdentifiedKey, KeyClaim, ListedKey, NewKey, RotatedKey, RotationRequest } from '../../shard/shard.ts';
import { DONE, defineCall } from './define-call.ts';
import { hash, keyId, keyIdText, page, pageQuery, shortText } from './fields.ts';
import {
  converted,
  flag,
  int64,
  int64In,
  message,
  only,
  optional,
  orUndefined,
  text,
  textOf,
  uint32,
  uint32In,
} from './schema.ts';

const key = message<ListedKey>({
  keyId,
  name: text,
  scopes: uint32,
  createdAtMs: int64,
  expiresAtMs: orUndefined(int64),
  lastUsedAtMs: orUndefined(int64),
  rotatedFrom: optional(keyId),
  rotatedTo: optional(keyId),
});

export const keyCalls = {
  createKey: defineCall('createKey', {
    access: 'admin',
    write: 'creates',
    request: message<NewKey>({
      keyId: keyIdText,
      name: textOf(NAME_UNITS_MAX),
      scopes: uint32In(1, ALL_SCOPES),
      expiresAtMs: orUndefined(int64),
      hash,
    }),
    reply: 'key',
    answer: key,
  }),

  listKeys: defineCall('listKeys', {
    access: 'admin',
    request: pageQuery,
    reply: 'keys',
    answer: page('keys', key),
  }),

  revokeKey: defineCall('revokeKey', {
    access: 'admin',
    write: 'repeatable',
    request: only('keyId', shortText),
    ...DONE,
  }),

  rotateKey: defineCall('rotateKey', {
    access: 'operator-handle',
    write: 'creates',
    request: message<RotationRequest>({
      keyId: keyIdText,
      newKeyId: keyIdText,
      hash,
      graceMs: int64In(0, ROTATION_GRACE_MS_MAX),
    }),
    reply: 'rotatedKey',
    answer: message<RotatedKey>({ key, former: key, revoked: flag }),
  }),

  /** Which API key a text is that someone has found. */
  identifyKey: defineCall('identifyKey', {
    access: 'operator-handle',
    request: message<KeyClaim>({ keyId, hash }),
    reply: 'identifiedKey',
    answer: converted<{ readonly key: ListedKey | undefined; readonly matches: boolean }, IdentifiedKey | undefined>(
      message({ key: orUndefined(key), matches: flag }),
      (identified) => identified ?? { key: undefined, matches: false },
      (wire) => (wire.key === undefined ? undefined : { key: wire.key, matches: wire.matches }),
    ),
  }),
};
