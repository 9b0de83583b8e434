// Tells the changes of a committed entry to whoever follows the change feeds of its tenants. Invariant: memory has the
// whole entry before anybody is told, so that a follower that is called finds its key, its tenant and the pages as the
// entry left them.

import type { TenantId } from '../../core/ids.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { CommittedEntry } from './appender-ports.ts';
import { timeOfStamp } from './slot-time.ts';

/** An operation of a tenant that nobody follows costs one lookup. */
export function tellFollowers(
  tenants: ReadonlyMap<TenantId, TenantMemory>,
  { seq, base, operations }: CommittedEntry,
): void {
  const timeMs = timeOfStamp(base);
  let index = 0;
  for (const operation of operations) {
    tenants.get(operation.tenantId)?.tell(operation.changes, operation, { seq, index, timeMs });
    index += operation.changes.length;
  }
}
