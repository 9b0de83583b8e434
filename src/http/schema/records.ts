// The records of the interface as they leave it: snake_case, timestamps as text, `null` for what is not there.

import { scopesOf } from '../../core/scopes.ts';
import type { Namespace, Tuple } from '../../core/tuples.ts';
import type { ListedKey } from '../../shard/shard.ts';
import { timestampText } from './timestamps.ts';

const optionalTimestamp = (wallMs: number | undefined): string | null =>
  wallMs === undefined ? null : timestampText(wallMs);

export function grantRecord(tuple: Tuple, grant: { readonly grantId: string; readonly createdAtMs: number }) {
  return {
    grant_id: grant.grantId,
    subject: tuple.subject,
    relation: tuple.relation,
    object: tuple.object,
    created_at: timestampText(grant.createdAtMs),
  };
}

export function namespaceRecord({ name, createdAtMs }: Namespace) {
  return { name, created_at: timestampText(createdAtMs) };
}

/** Without when it was last used, which a new key was not. */
export function keyRecord({ keyId, name, scopes, createdAtMs, expiresAtMs }: ListedKey) {
  return {
    key_id: keyId,
    name,
    scopes: scopesOf(scopes),
    created_at: timestampText(createdAtMs),
    expires_at: optionalTimestamp(expiresAtMs),
  };
}

export function listedKeyRecord(key: ListedKey) {
  return { ...keyRecord(key), last_used_at: optionalTimestamp(key.lastUsedAtMs) };
}
