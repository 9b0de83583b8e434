// New API keys. Under an Idempotency-Key, their ids are derived from it. Invariant: the text of a key is random, and
// known here alone.

import { createApiKey, hashApiKey } from '../../core/api-keys.ts';
import type { Random } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import { derivedKeyId } from '../../core/idempotency-keys.ts';
import type { IdFactory, KeyId, TenantId } from '../../core/ids.ts';
import type { Write } from '../../rpc/calls/define-call.ts';

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
  readonly write: Write;
}

/** `creator`: the operator, or empty for the API keys of the tenant. */
export function createKeyFor(
  dependencies: { readonly ids: IdFactory; readonly random: Random },
  tenantId: TenantId,
  creator: string,
  idempotencyKey: string | undefined,
): CreatedKey {
  const keyId =
    idempotencyKey === undefined ? dependencies.ids.create('key') : derivedKeyId(tenantId, creator, idempotencyKey);
  const text = createApiKey({ tenantId, keyId }, dependencies.random);
  const write = idempotencyKey === undefined ? 'creates' : 'repeatable';
  return { keyId, text, hash: hashApiKey(text), write };
}
