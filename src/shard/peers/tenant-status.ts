// What an owner reports about its tenants apart from their records: the numbers of namespaces and keys, the progress of
// a deletion, and which tenants a listing or search shows. Invariant: no result page examines more than a bounded
// number of names, and only the two small tables of one tenant are ever read from the store.

import { type Clock, delay } from '../../core/async/clock.ts';
import type { TenantId } from '../../core/ids.ts';
import { isLeaving, tenantMatches } from '../../core/tenants.ts';
import type { Tenure } from '../log/tenure.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { TenantStatus } from '../shard.ts';

/** A record is shown without its counts if the store does not return them within this time. */
const COUNT_WAIT_MS = 300;
/** Names that one result page of a search examines: a few milliseconds, in which the shard answers nothing else. */
const SEARCHED_MAX = 2000;

export function tenantStatus({ tenant, namespaces, keys, grantCount, removal }: TenantMemory): TenantStatus {
  if (isLeaving(tenant)) {
    const { partsRemoved = 0, lastPartAtMs } = removal ?? {};
    return { ...tenant, deletion: { partsRemoved, lastPartAtMs } };
  }
  const status = { ...tenant, grants: grantCount.total };
  if (namespaces.size === undefined || keys.size === undefined) return status;
  return { ...status, counts: { namespaces: namespaces.size, keys: keys.size } };
}

/** Resolves when the tenant's namespaces and keys are in memory, or could not be read in time. */
export async function loadCounts({ namespaces, keys }: TenantMemory, clock: Clock): Promise<void> {
  const missing = [namespaces, keys].filter((table) => table.size === undefined);
  if (missing.length === 0) return;
  const loads = missing.map(async (table) => {
    using _pin = await table.pin();
  });
  await Promise.race([Promise.allSettled(loads), delay(clock, COUNT_WAIT_MS)]);
}

/** Up to `limit` tenants after an id, ascending. Never sorts more than twice that many. */
function firstAfter(tenures: Iterable<Tenure>, after: string, limit: number): readonly TenantMemory[] {
  const byId = (left: TenantMemory, right: TenantMemory): number => (left.tenantId < right.tenantId ? -1 : 1);
  const found: TenantMemory[] = [];
  let last = '';
  for (const tenure of tenures) {
    if (!tenure.serving) continue;
    tenure.assertServing();
    for (const memory of tenure.tenants.values()) {
      if (memory.tenantId <= after || (last !== '' && memory.tenantId > last)) continue;
      found.push(memory);
      if (found.length < 2 * limit) continue;
      found.sort(byId).length = limit;
      last = found.at(-1)?.tenantId ?? '';
    }
  }
  return found.sort(byId).slice(0, limit);
}

const listedStatus = (memory: TenantMemory, nowMs: number): TenantStatus => ({
  ...tenantStatus(memory),
  lastMinute: memory.usage.lastMinute(nowMs),
});

/** Tenants of the tenures, ascending by id. */
export function listTenants(
  tenures: Iterable<Tenure>,
  { after = '', limit }: { readonly after: string | undefined; readonly limit: number },
  nowMs: number,
): readonly TenantStatus[] {
  return firstAfter(tenures, after, limit).map((memory) => listedStatus(memory, nowMs));
}

/** Of those, the ones whose name or id contains the text. `scannedTo`: where an incomplete search ended. */
export function findTenants(
  tenures: Iterable<Tenure>,
  query: { readonly name: string; readonly after: string | undefined; readonly limit: number },
  nowMs: number,
): { readonly tenants: readonly TenantStatus[]; readonly scannedTo: TenantId | undefined } {
  const searched = firstAfter(tenures, query.after ?? '', SEARCHED_MAX);
  const matches = searched.filter(({ tenant }) => tenantMatches(tenant, query.name));
  const tenants = matches.slice(0, query.limit);
  const last = matches.length > query.limit ? tenants.at(-1) : searched[SEARCHED_MAX - 1];
  return { tenants: tenants.map((memory) => listedStatus(memory, nowMs)), scannedTo: last?.tenantId };
}
