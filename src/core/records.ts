// The records of both APIs as they leave them: snake_case, times as text, `null` for what is not there. Never a secret.
// That of a grant stands beside its attributes (grant-attributes.ts).

import type { ApiKeyRecord } from './api-keys.ts';
import { scopesOf } from './scopes.ts';
import { formatTimestamp, optionalTimestamp } from './timestamps.ts';
import type { Namespace } from './tuples.ts';

type Key = Omit<ApiKeyRecord, 'hash'>;

export const namespaceRecord = ({ name, createdAtMs }: Namespace) => ({
  name,
  created_at: formatTimestamp(createdAtMs),
});

/** Without when it was last used, which a new key was not. */
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
