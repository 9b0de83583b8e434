// The usage of a tenant in memory: what fronts say, minute by minute, whatever they say.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { systemClock } from '../../../../src/roles/process/system.ts';
import { MemoryBudget } from '../../../../src/shard/memory/memory-budget.ts';
import { TenantUsage } from '../../../../src/shard/memory/tenant-usage.ts';
import { createMemoryStore, ids, OpenSlot, SLOT } from '../tools.ts';

const MINUTE = 28_000_000;
const nowMs = (minute = MINUTE): number => minute * 60_000 + 30_000;
const counts = (minute: number, requests: number, refused = 0, checks = 0) => ({ minute, requests, refused, checks });

function createUsage(bytesMax = 1_000_000) {
  const budget = new MemoryBudget(bytesMax, new FairTurns(systemClock));
  return { budget, usage: new TenantUsage(budget) };
}

test('reports of one minute are summed, and minutes without a request are omitted', () => {
  const { usage } = createUsage();
  assert.deepEqual(usage.read(nowMs()), []);
  usage.add(counts(MINUTE - 2, 10, 1, 20), nowMs());
  usage.add(counts(MINUTE, 5, 0, 5), nowMs());
  usage.add(counts(MINUTE, 7, 7, 1), nowMs());
  assert.deepEqual(usage.read(nowMs()), [
    { atMs: (MINUTE - 2) * 60_000, requests: 10, refused: 1, checks: 20 },
    { atMs: MINUTE * 60_000, requests: 12, refused: 7, checks: 6 },
  ]);
});

test('a minute has the plan of its first report, and a minute that takes its cell has its own', () => {
  const { usage } = createUsage();
  usage.add(counts(MINUTE - 1, 5), nowMs(MINUTE - 1), 'free');
  usage.add(counts(MINUTE - 1, 5), nowMs(), 'standard');
  usage.add(counts(MINUTE, 1), nowMs(), 'standard');
  const plans = (minute: number) => usage.read(nowMs(minute)).map(({ plan }) => plan);
  assert.deepEqual(plans(MINUTE), ['free', 'standard']);
  usage.add(counts(MINUTE + 79, 1), nowMs(MINUTE + 79));
  assert.deepEqual(plans(MINUTE + 79), ['standard', undefined]);
});

test('the last whole minute is returned, with zeros where nothing was reported, and never an older one', () => {
  const { usage } = createUsage();
  const last = { atMs: (MINUTE - 1) * 60_000, requests: 0, refused: 0, checks: 0 };
  assert.deepEqual(usage.lastMinute(nowMs()), last);
  usage.add(counts(MINUTE - 81, 9, 9, 9), nowMs(MINUTE - 81));
  usage.add(counts(MINUTE, 5, 1, 2), nowMs());
  assert.deepEqual(usage.lastMinute(nowMs()), last);
  assert.deepEqual(usage.lastMinute(nowMs(MINUTE + 1)), { atMs: MINUTE * 60_000, requests: 5, refused: 1, checks: 2 });
});

test('eighty minutes are kept, the present one included, and no more', () => {
  const { usage } = createUsage();
  for (let minute = MINUTE - 200; minute <= MINUTE; minute += 1) usage.add(counts(minute, 1), nowMs(minute));
  const minutes = usage.read(nowMs()).map(({ atMs }) => atMs / 60_000);
  assert.deepEqual(
    minutes,
    Array.from({ length: 80 }, (_, index) => MINUTE - 79 + index),
  );
  usage.add(counts(MINUTE - 80, 100), nowMs());
  assert.equal(usage.read(nowMs()).length, 80);
  assert.ok(usage.read(nowMs()).every(({ requests }) => requests === 1));
  assert.equal(usage.read(nowMs(MINUTE + 65)).length, 15);
  assert.deepEqual(usage.read(nowMs(MINUTE + 80)), []);
  assert.equal(usage.read(nowMs(), (MINUTE - 9) * 60_000).length, 10);
});

test('a front whose clock is ahead counts in the present minute', () => {
  const { usage } = createUsage();
  usage.add(counts(MINUTE + 10_000, 3), nowMs());
  assert.deepEqual(usage.read(nowMs()), [{ atMs: MINUTE * 60_000, requests: 3, refused: 0, checks: 0 }]);
});

test('impossible numbers are clamped, and never overflow', () => {
  const { usage } = createUsage();
  usage.add(counts(MINUTE, -5, Number.NaN, 1.5), nowMs());
  for (let round = 0; round < 3; round += 1) usage.add(counts(MINUTE, 2 ** 32 - 1, Number.POSITIVE_INFINITY), nowMs());
  assert.deepEqual(usage.read(nowMs()), [
    { atMs: MINUTE * 60_000, requests: 2 ** 32 - 1, refused: 2 ** 32 - 1, checks: 1 },
  ]);
  for (const minute of [Number.NaN, -1, 0, Number.NEGATIVE_INFINITY]) usage.add(counts(minute, 9), nowMs());
  assert.equal(usage.read(nowMs()).length, 1);
});

test('usage stays within the bound of the process, and the least recently reported is evicted', () => {
  const budget = new MemoryBudget(20_000, new FairTurns(systemClock));
  const tenants = Array.from({ length: 100 }, () => new TenantUsage(budget));
  for (const usage of tenants) usage.add(counts(MINUTE, 1), nowMs());
  assert.ok(budget.bytes <= 20_000, String(budget.bytes));
  const kept = tenants.filter((usage) => usage.read(nowMs()).length > 0);
  assert.ok(kept.length > 3 && kept.length < 20, String(kept.length));
  assert.ok(kept.includes(tenants[99] ?? assert.fail()));
  for (const usage of tenants) usage.drop();
  assert.equal(budget.bytes, 0);
  tenants[0]?.add(counts(MINUTE, 1), nowMs());
  assert.equal(budget.bytes, 0, 'a tenure that has ended keeps nothing');
});

test('a report reaches the tenants of this shard under their own slot, and no others', async () => {
  const slot = await OpenSlot.open(await createMemoryStore());
  const [tenantId, other] = [await slot.createTenant(), await slot.createTenant()];
  const now = Math.floor(slot.clock.wallMs() / 60_000);
  const good = { slot: SLOT, tenantId, ...counts(now, 4, 1, 2) };
  const problem = { keyId: 'key_x', code: 'invalid-relation', count: 3, requestId: 'req_x', detail: 'It is none.' };
  slot.front.report({
    load: undefined,
    usage: [
      good,
      { ...good, slot: SLOT + 1 },
      { ...good, slot: 2 ** 32 - 1 },
      { ...good, tenantId: ids.create('ten') },
      { ...good, tenantId: 'nonsense' },
      { ...good, tenantId: '__proto__' },
    ],
    problems: [
      { ...problem, slot: SLOT, tenantId },
      { ...problem, slot: SLOT + 1, tenantId },
      { ...problem, slot: SLOT, tenantId: 'nonsense' },
    ],
    asked: [{ slot: SLOT, tenantId, names: ['can_read'] }],
    awaited: [],
  });
  const sinceMs = slot.clock.wallMs() - 60_000;
  const usage = (await slot.operator.readUsage({ tenantId, sinceMs })).buckets;
  assert.deepEqual(
    usage.map(({ requests, refused, checks }) => [requests, refused, checks]),
    [[4, 1, 2]],
  );
  const [known, ...others] = (await slot.operator.readUsage({ tenantId, sinceMs })).problems;
  assert.deepEqual([known, others], [{ ...problem, sinceMs: known?.atMs, atMs: known?.atMs }, []]);
  const { buckets, problems: none } = await slot.operator.readUsage({ tenantId: other, sinceMs });
  assert.deepEqual([buckets, none], [[], []]);
  await assert.rejects(slot.operator.readUsage({ tenantId: ids.create('ten'), sinceMs }), { code: 'tenant-not-found' });
  slot.front.report({
    load: { elapsedMs: 2000, checks: 10, failures: 2, latencies: [10] },
    usage: [],
    problems: [],
    asked: [],
    awaited: [],
  });
  assert.deepEqual(await slot.operator.readLoad(), {
    checksPerSecond: 5,
    failuresPerSecond: 1,
    p99Ms: 0.01,
    shardName: 'shard-1',
    busiest: undefined,
  });
});
