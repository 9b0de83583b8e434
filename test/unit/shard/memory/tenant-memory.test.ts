// The memory of an unused tenant, and that the memory budget counts all of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import type { Tenant } from '../../../../src/core/tenants.ts';
import { PAGE_LIMITS } from '../../../../src/shard/memory/limits.ts';
import { MemoryBudget } from '../../../../src/shard/memory/memory-budget.ts';
import { TenantMemory } from '../../../../src/shard/memory/tenant-memory.ts';
import { MemoryStore } from '../../../kit/store/memory-store.ts';
import { liveBytes } from '../live-bytes.ts';
import { createMemoryStore, ids, OpenSlot, real, tuple } from '../tools.ts';

const TENANTS = 20_000;
const IDLE_BYTES_MAX = 600;
const USED_BYTES_MAX = 3500;

test('an idle tenant takes some hundred bytes, one in use some more, and both are counted', () => {
  const budget = new MemoryBudget(256 * 1024 * 1024, new FairTurns(real));
  const store = new MemoryStore({ clock: real });
  const dependencies = { store, clock: real, budget, pageLimits: PAGE_LIMITS, applied: async () => {} };
  const before = liveBytes();
  const tenants = Array.from({ length: TENANTS }, (_, number): TenantMemory => {
    const tenantId = ids.create('ten');
    const tenant: Tenant = {
      tenantId,
      name: `tenant ${number}`,
      plan: 'free',
      state: 'active',
      createdAtMs: Date.now(),
    };
    return new TenantMemory(tenant, false, dependencies);
  });
  const idleBytes = (liveBytes() - before) / TENANTS;
  const countedIdle = budget.bytes / TENANTS;
  assert.ok(idleBytes <= IDLE_BYTES_MAX && idleBytes <= 1.2 * countedIdle, `${idleBytes}, ${countedIdle} counted`);
  // What every tenant is told makes nothing.
  for (const memory of tenants) memory.confirm(1);
  assert.ok(!tenants.some(({ isUsed }) => isUsed));
  assert.equal(budget.bytes / TENANTS, countedIdle);
  for (const { pages } of tenants) assert.equal(pages.size, 0);
  const usedBytes = (liveBytes() - before) / TENANTS;
  const countedUsed = budget.bytes / TENANTS;
  assert.ok(usedBytes <= USED_BYTES_MAX && usedBytes <= 1.2 * countedUsed, `${usedBytes}, ${countedUsed} counted`);
  // What holds the rules of those that have some.
  for (const { rules } of tenants) assert.equal(rules.loaded, undefined);
  const ruledBytes = (liveBytes() - before) / TENANTS;
  const countedRuled = budget.bytes / TENANTS;
  assert.ok(ruledBytes <= USED_BYTES_MAX + 1500 && ruledBytes <= 1.2 * countedRuled, `${ruledBytes}, ${countedRuled}`);
  for (const memory of tenants) memory.drop();
  assert.equal(budget.bytes, 0);
});

test('a tenant that is first used after the end of its tenure holds no memory', async () => {
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory);
  const tenantId = await slot.createTenant();
  await slot.grant(await slot.handle(tenantId), tuple('user:a', 'doc:1'));
  await slot.tenure.checkpointed();
  const heir = await slot.restart();
  const tenant = heir.tenure.tenants.get(tenantId);
  assert.ok(tenant !== undefined && !tenant.isUsed);
  heir.tenure.end('test');
  assert.equal(heir.budget.bytes, 0);
  await assert.rejects(tenant.keys.pin(), { kind: 'not-serving' });
  await assert.rejects(tenant.namespaces.pin(), { kind: 'not-serving' });
  tenant.usage.add({ minute: Math.floor(Date.now() / 60_000), requests: 1, refused: 0, checks: 1 }, Date.now());
  assert.equal(heir.budget.bytes, 0);
});
