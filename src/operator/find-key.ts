// Finds one key of a tenant among all of them: the shards list keys, and do not look one up.

import type { KeyId } from '../core/ids.ts';
import type { RequestContext, TenantSession } from '../front/front.ts';
import type { ListedKey } from '../shard/shard.ts';

export const KEYS_PER_READ = 1000;
/** The most keys that any plan may allow (`keys_max`), in reads. */
const READS_MAX = 100;

/** Undefined if the tenant has no such key. */
export async function findKey(
  context: () => RequestContext,
  session: TenantSession,
  keyId: KeyId,
): Promise<ListedKey | undefined> {
  let cursor: string | undefined;
  for (let reads = 0; reads < READS_MAX; reads += 1) {
    const page = await session.call('listKeys', context(), { limit: KEYS_PER_READ, cursor });
    const found = page.items.find((key) => key.keyId === keyId);
    if (found !== undefined || page.nextCursor === undefined) return found;
    cursor = page.nextCursor;
  }
  return undefined;
}
