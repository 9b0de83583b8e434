// New API keys, and creations with an Idempotency-Key, under ids that are derived from it. Invariants: those wait until
// every shard refuses to create what exists, since a shard of an earlier version would replace an API key by another;
// and the text of a key is random, and known here alone.

import { createApiKey, hashApiKey } from '../../core/api-keys.ts';
import type { Random } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import { derivedKeyId } from '../../core/idempotency-keys.ts';
import type { IdFactory, KeyId, TenantId } from '../../core/ids.ts';
import type { Write } from '../../rpc/calls/define-call.ts';

interface KnowsCreations {
  /** Of all shards that this front reaches: any of them may become the next owner. */
  readonly knowsCreations: () => boolean;
}

/** Throws `unavailable` unless all shards know. */
export function demandCreations({ knowsCreations }: KnowsCreations): void {
  if (knowsCreations()) return;
  throw new GrantdError(
    'unavailable',
    'A shard of an earlier version does not know Idempotency-Key. Nothing was created. Try again once all shards are upgraded.',
  );
}

/** The same for the rotation of API keys: an older shard ends a connection with a call that it does not know. */
export function demandRotations({ knowsRotations }: { readonly knowsRotations: () => boolean }): void {
  if (knowsRotations()) return;
  throw new GrantdError(
    'unavailable',
    'A shard of an earlier version cannot rotate or identify API keys. Try again once all shards are upgraded.',
  );
}

/** What refuses a creation, with the id of the API key that an earlier request created. */
export const naming = (keyId: string, error: unknown): unknown =>
  error instanceof GrantdError && error.code === 'already-created'
    ? new GrantdError(error.code, error.message, { details: { keyId }, cause: error })
    : error;

/** A key whose hash goes to the owner, and whose text goes to the client. */
export interface CreatedKey {
  readonly keyId: KeyId;
  readonly text: string;
  readonly hash: string;
  /** Of the call that creates it. */
  readonly write: Write;
}

/** `creator`: the operator, or empty for the API keys of the tenant. */
export function createKeyFor(
  dependencies: KnowsCreations & { readonly ids: IdFactory; readonly random: Random },
  tenantId: TenantId,
  creator: string,
  idempotencyKey: string | undefined,
): CreatedKey {
  if (idempotencyKey !== undefined) demandCreations(dependencies);
  const keyId =
    idempotencyKey === undefined ? dependencies.ids.create('key') : derivedKeyId(tenantId, creator, idempotencyKey);
  const text = createApiKey({ tenantId, keyId }, dependencies.random);
  const write = idempotencyKey === undefined ? 'creates' : 'repeatable';
  return { keyId, text, hash: hashApiKey(text), write };
}
