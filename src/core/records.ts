// The records of both APIs in responses: snake_case, times as strings, `null` for absent values, and never a secret.
// The record of a grant is next to its attributes (grant-attributes.ts).

import type { ApiKeyRecord } from './api-keys.ts';
import { scopesOf } from './scopes.ts';
import { formatTimestamp, optionalTimestamp } from './text/timestamps.ts';
import type { Namespace } from './tuples.ts';

type Key = Omit<ApiKeyRecord, 'hash'>;

export const namespaceRecord = ({ name, createdAtMs }: Namespace) => ({
  name,
  created_at: formatTimestamp(createdAtMs),
});

/** Without the last use, which a new key does not have. */
export const keyRecord = ({ keyId, name, scopes, createdAtMs, expiresAtMs }: Key) => ({
  key_id: keyId,
  name,
  scopes: scopesOf(scopes),
  created_at: formatTimestamp(createdAtMs),
  expires_at: optionalTimestamp(expiresAtMs),
});

export const listedKeyRecord = (key: Key & { readonly lastUsedAtMs: number | undefined }) => ({
  ...keyRecord(key),
  last_used_at: optionalTimestamp(key.lastUsedAtMs),
});
