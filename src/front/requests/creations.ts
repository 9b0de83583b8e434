// Creations with an Idempotency-Key, under ids that are derived from it. Invariant: they wait until every shard refuses
// to create what exists. A shard of an earlier version would replace an API key by another.

import { GrantdError } from '../../core/errors.ts';

/** Throws `unavailable` unless all shards that this front reaches know: any of them may become the next owner. */
export function demandCreations({ knowsCreations }: { readonly knowsCreations: () => boolean }): void {
  if (knowsCreations()) return;
  throw new GrantdError(
    'unavailable',
    'A shard of an earlier version does not know Idempotency-Key. Nothing was created. Try again once all shards are upgraded.',
  );
}

/** What refuses a creation, with the id of the API key that an earlier request created. */
export const naming = (keyId: string, error: unknown): unknown =>
  error instanceof GrantdError && error.code === 'already-created'
    ? new GrantdError(error.code, error.message, { details: { keyId }, cause: error })
    : error;
