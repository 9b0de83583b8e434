// The calls about the API keys of a tenant. The shard learns only the hash of a key, also of one whose text someone has
// found; a reply has neither.

import { NAME_UNITS_MAX, ROTATION_GRACE_MS_MAX } from '../../core/limits.ts';
import { ALL_SCOPES } from '../../core/scopes.ts';
import type { ListedKey } from '../../shard/shard.ts';
import { DONE, defineCall } from './define-call.ts';
import { hash, keyId, keyIdText, page, pageQuery, shortText } from './fields.ts';
import * as s from './schema.ts';

const key = s.message<ListedKey>({
  keyId,
  name: s.text,
  scopes: s.uint32,
  createdAtMs: s.int64,
  expiresAtMs: s.orUndefined(s.int64),
  lastUsedAtMs: s.orUndefined(s.int64),
  rotatedFrom: s.optional(keyId),
  rotatedTo: s.optional(keyId),
});

export const keyCalls = {
  createKey: defineCall('createKey', {
    access: 'admin',
    write: 'creates',
    request: s.message({
      keyId: keyIdText,
      name: s.textOf(NAME_UNITS_MAX),
      scopes: s.uint32In(1, ALL_SCOPES),
      expiresAtMs: s.orUndefined(s.int64),
      hash,
    }),
    reply: 'key',
    answer: key,
  }),

  listKeys: defineCall('listKeys', { access: 'admin', request: pageQuery, reply: 'keys', answer: page('keys', key) }),

  revokeKey: defineCall('revokeKey', {
    access: 'admin',
    write: 'repeatable',
    request: s.only('keyId', shortText),
    ...DONE,
  }),

  rotateKey: defineCall('rotateKey', {
    access: 'operator-handle',
    write: 'creates',
    request: s.message({ keyId: keyIdText, newKeyId: keyIdText, hash, graceMs: s.int64In(0, ROTATION_GRACE_MS_MAX) }),
    reply: 'rotatedKey',
    answer: s.message({ key, former: key, revoked: s.flag }),
  }),

  /** Which API key a text is that someone has found. */
  identifyKey: defineCall('identifyKey', {
    access: 'operator-handle',
    request: s.message({ keyId, hash }),
    reply: 'identifiedKey',
    answer: s.messageOf(
      { key: s.orUndefined(key), matches: s.flag },
      (identified) => identified ?? { key: undefined, matches: false },
      (wire) => (wire.key === undefined ? undefined : { key: wire.key, matches: wire.matches }),
    ),
  }),
};
