// The operator's calls about tenants: their records, with what their owner knows about them, listings and searches.
// Invariant: no result page examines more than a bounded number of names, and only the two small tables of one tenant
// are ever read from the store.

import { assert } from '../../core/assert.ts';
import { type Clock, delay } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import { parseTenantId, type TenantId } from '../../core/ids.ts';
import { readersOf } from '../../core/plans.ts';
import { isLeaving, type Tenant, tenantMatches } from '../../core/tenants.ts';
import type { Tenure } from '../log/tenure.ts';
import { readUsage as readStoredUsage } from '../log/usage-store.ts';
import { decideTenant, decideTenantUpdate, type OperationResult } from '../log/write-decisions.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import { firstAfter as firstTextAfter } from '../memory/text-order.ts';
import type { TenantStatus } from '../shard.ts';
import { type Handler, type Peer, type ShardParts, sizeOf } from './peer.ts';

/** Characters of a tenant's name (256 code points, two characters each) and of a plan's name. */
const TENANT_CHARACTERS_MAX = 1024;

/** A record is shown without its counts if the store does not return them within this time. */
const COUNT_WAIT_MS = 300;
/** Names that one result page of a search examines: a few milliseconds, in which the shard answers nothing else. */
const SEARCHED_MAX = 2000;

export const noTenant = (tenantId: string): GrantdError =>
  new GrantdError('tenant-not-found', `There is no tenant ${tenantId}.`);

/** Throws `tenant-not-found`. */
export function tenantOf(peer: Peer, text: string): { readonly tenure: Tenure; readonly memory: TenantMemory } {
  const tenantId = parseTenantId(text);
  if (tenantId === undefined) throw noTenant(text);
  const tenure = peer.tenureOf(tenantId);
  const memory = tenure.tenants.get(tenantId);
  if (memory === undefined) throw noTenant(text);
  return { tenure, memory };
}

// ---- writes ----

export const createTenant: Handler<'createTenant'> = async (peer, { attempt }, request) => {
  const tenantId = parseTenantId(request.tenantId);
  assert(tenantId !== undefined, 'a console creates well-formed tenant ids');
  const tenure = peer.tenureOf(tenantId);
  const { name, plan } = request;
  const tenant: Tenant = { tenantId, name, plan, state: 'active', createdAtMs: peer.shard.clock.wallMs() };
  const decide = decideTenant(tenant, () => tenure.tenants.has(tenantId));
  const of = { tenure, memory: { tenantId }, actor: `operator:${request.operator}` };
  return tenantIn(await peer.submit(of, attempt, sizeOf(name.length + plan.length), decide));
};

export const updateTenant: Handler<'updateTenant'> = async (peer, { attempt }, change) => {
  const { tenure, memory } = tenantOf(peer, change.tenantId);
  const of = { tenure, memory, actor: `operator:${change.operator}` };
  // An earlier change of the batch may have set the fields that this one leaves unchanged.
  const characters = TENANT_CHARACTERS_MAX + (change.plan ?? memory.tenant.plan).length;
  return tenantIn(await peer.submit(of, attempt, sizeOf(characters), decideTenantUpdate(memory, change)));
};

function tenantIn(result: OperationResult): Tenant {
  assert(result.kind === 'tenant', 'a tenant operation has a tenant result');
  return result.tenant;
}

// ---- one tenant ----

export const readTenant: Handler<'readTenant'> = async (peer, _, of) => {
  const { tenure, memory } = tenantOf(peer, of.tenantId);
  if (!isLeaving(memory.tenant)) await loadCounts(memory, peer.shard.clock);
  tenure.assertServing();
  return tenantStatus(peer.shard, memory);
};

export const readUsage: Handler<'readUsage'> = async (peer, _, { tenantId, sinceMs }) => {
  const { tenure, memory } = tenantOf(peer, tenantId);
  const usage = await readStoredUsage(peer.shard, memory, sinceMs);
  tenure.assertServing();
  return { ...usage, problems: memory.knownProblems?.read() ?? [] };
};

function tenantStatus(shard: ShardParts, memory: TenantMemory): TenantStatus {
  const { tenant, namespaces, keys, grantCount, removal } = memory;
  if (isLeaving(tenant)) {
    const { partsRemoved = 0, lastPartAtMs } = removal ?? {};
    return { ...tenant, deletion: { partsRemoved, lastPartAtMs } };
  }
  const chosen = readersOf(shard.plans, tenant) === 'auto' ? { chosenReaders: shard.readersOf(memory) } : {};
  const status = { ...tenant, ...chosen, grants: grantCount.total };
  if (namespaces.size === undefined || keys.size === undefined) return status;
  return { ...status, counts: { namespaces: namespaces.size, keys: keys.size } };
}

/** Resolves when the tenant's namespaces and keys are in memory, or could not be read in time. */
async function loadCounts({ namespaces, keys }: TenantMemory, clock: Clock): Promise<void> {
  const missing = [namespaces, keys].filter((table) => table.size === undefined);
  if (missing.length === 0) return;
  const loads = missing.map(async (table) => {
    using _pin = await table.pin();
  });
  await Promise.race([Promise.allSettled(loads), delay(clock, COUNT_WAIT_MS)]);
}

// ---- several tenants ----

/** Where a listing is among the ids of one slot. */
interface SlotCursor {
  readonly tenure: Tenure;
  readonly index: number;
  readonly next: TenantId;
}

/** Up to `limit` tenants after an id, ascending. Merges the ids of the slots, so it visits no more than it returns. */
function firstAfter({ tenures }: ShardParts, after: string, limit: number): readonly TenantMemory[] {
  /** Of the slots that have more, the least next id last. */
  const cursors: SlotCursor[] = [];
  const place = (tenure: Tenure, index: number): void => {
    const next = tenure.tenantIds.texts[index];
    if (next === undefined) return;
    let [low, high] = [0, cursors.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((cursors[middle]?.next ?? '') > next) low = middle + 1;
      else high = middle;
    }
    cursors.splice(low, 0, { tenure, index, next });
  };
  for (const tenure of tenures().values()) {
    if (!tenure.serving) continue;
    tenure.assertServing();
    place(tenure, firstTextAfter(tenure.tenantIds.texts, after));
  }
  const found: TenantMemory[] = [];
  for (let cursor = cursors.pop(); cursor !== undefined; cursor = cursors.pop()) {
    const { tenure, index, next } = cursor;
    const memory = tenure.tenants.get(next);
    assert(memory !== undefined, 'each id is that of a tenant');
    found.push(memory);
    if (found.length >= limit) break;
    place(tenure, index + 1);
  }
  return found;
}

const listedStatus = (shard: ShardParts, memory: TenantMemory, nowMs: number): TenantStatus => ({
  ...tenantStatus(shard, memory),
  lastMinute: memory.usage.lastMinute(nowMs),
});

export const listTenants: Handler<'listTenants'> = async ({ shard }, _, { after = '', limit }) => {
  const nowMs = shard.clock.wallMs();
  return firstAfter(shard, after, limit).map((memory) => listedStatus(shard, memory, nowMs));
};

export const findTenants: Handler<'findTenants'> = async ({ shard }, _, query) => {
  const nowMs = shard.clock.wallMs();
  const searched = firstAfter(shard, query.after ?? '', SEARCHED_MAX);
  const matches = searched.filter(({ tenant }) => tenantMatches(tenant, query.name));
  const tenants = matches.slice(0, query.limit);
  const last = matches.length > query.limit ? tenants.at(-1) : searched[SEARCHED_MAX - 1];
  return { tenants: tenants.map((memory) => listedStatus(shard, memory, nowMs)), scannedTo: last?.tenantId };
};
