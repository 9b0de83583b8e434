// Readers that the owner chooses: they come when calls wait, follow the checks of all fronts, and leave late.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILT_IN_PLANS, resolvePlan } from '../../../../src/core/plans.ts';
import {
  type Choice,
  nextChoice,
  type Observation,
  ReaderChoice,
} from '../../../../src/shard/readers/reader-choice.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { createMemoryStore, OpenSlot, SLOT, tuple } from '../tools.ts';

const TICK_MS = 10_000;
const CALM = { crowded: false, checksPerSecond: 0, max: 4, others: 16 };
const FULL = { checksPerSecond: 1000, crowded: true };

/** The numbers of readers after each observation, a tick after the one before; or at its own time. */
function choices(observations: readonly Partial<Observation>[]): readonly number[] {
  let choice: Choice | undefined;
  let nowMs = 0;
  return observations.map((seen) => {
    nowMs = seen.nowMs ?? nowMs + TICK_MS;
    choice = nextChoice(choice, { ...CALM, ...seen, nowMs });
    return choice?.readers ?? 0;
  });
}

const rates = (...checksPerSecond: readonly number[]) => checksPerSecond.map((each) => ({ checksPerSecond: each }));

test('a tenant whose calls do not wait has none, however many checks it has', () => {
  assert.deepEqual(choices(rates(1_000_000, 1_000_000)), [0, 0]);
});

test('two begin when calls wait, and more follow the checks, up to the bound', () => {
  assert.deepEqual(choices([FULL, ...rates(1000, 1200, 1201, 1800, 1801, 90_000)]), [2, 2, 2, 3, 3, 4, 4]);
  assert.deepEqual(choices([FULL, ...rates(90_000, 90_000)]), [2, 2, 4], 'not before the first two count');
  assert.deepEqual(choices([{ ...FULL, max: 1 }]), [1]);
  assert.deepEqual(choices([{ ...FULL, max: 0 }]), [0]);
});

test('there are no more than other shards, and those of a shard that is away stay', () => {
  assert.deepEqual(
    choices([
      { ...FULL, others: 0 },
      { ...FULL, others: 1 },
    ]),
    [0, 1],
  );
  const others = (count: number) => ({ ...FULL, others: count });
  assert.deepEqual(choices([others(2), others(1), others(1), others(2), others(3)]), [2, 2, 2, 2, 3]);
});

test('an owner that is still full adds one at a time, once the last one counts', () => {
  assert.deepEqual(choices(Array(7).fill(FULL)), [2, 2, 3, 3, 4, 4, 4]);
});

test('they leave one at a time, each after five minutes in which fewer would do', () => {
  const at = (seconds: number, checksPerSecond: number) => ({ nowMs: seconds * 1000, checksPerSecond });
  const begin = { ...FULL, nowMs: 0 };
  assert.deepEqual(
    choices([begin, at(60, 10), at(350, 1000), at(400, 10), at(699, 10), at(700, 10), at(710, 10), at(1010, 10)]),
    [2, 2, 2, 2, 2, 1, 1, 0],
  );
  assert.deepEqual(choices([begin, at(60, 260), at(360, 260), at(370, 260), at(900, 260)]), [2, 2, 1, 1, 1]);
  assert.deepEqual(choices([begin, { ...at(60, 10), crowded: true }, at(70, 10), at(369, 10)]), [2, 3, 3, 3]);
});

test('a lower bound of the plan holds at once', () => {
  assert.deepEqual(choices([FULL, { ...FULL, max: 1 }, { ...FULL, max: 0 }]), [2, 1, 0]);
});

test('a tenant whose readers are auto gets them, and its fronts are told the number at once', async () => {
  const plans = new Map([
    ['large', { ...resolvePlan(BUILT_IN_PLANS, 'scale'), name: 'large', readers: 'auto' as const }],
  ]);
  const slot = await OpenSlot.open(await createMemoryStore(), { plans });
  const [tenantId, other] = [await slot.createTenant('large'), await slot.createTenant('large')];
  const key = await slot.createKey(await slot.handle(tenantId), tenantId);
  const clock = new VirtualClock();
  const choice = new ReaderChoice({
    clock,
    plans,
    crowding: { shares: () => slot.shares },
    others: () => 5,
    memoryOf: (id) => slot.tenure.tenants.get(id),
  });
  slot.readerChoice.of = (memory) => choice.of(memory);
  const usage = slot.tenure.tenants.get(tenantId)?.usage;
  assert.ok(usage !== undefined);
  /** A tick, with checks of its fronts. */
  const tick = async (checks: number): Promise<void> => {
    usage.add({ minute: 0, requests: checks, refused: 0, checks }, 0);
    await clock.advance(TICK_MS);
  };
  choice.start();
  const kept = await slot.front.authenticate(key);
  assert.equal(kept.readers, 0);
  slot.shares = new Map([
    [tenantId, 0.2],
    ['authenticate', 0.9],
  ]);
  await tick(10_000);
  await tick(10_000);
  slot.shares = new Map([[tenantId, 0.6]]);
  await tick(1_000_000);
  assert.equal(await slot.front.check(kept.handle, 'user:a', 6, 'doc:1'), false);
  await tick(10_000);
  assert.deepEqual(slot.front.takeSettings(10), [{ tenantId, plan: 'large', readers: 2 }]);
  assert.equal((await slot.front.authenticate(key)).readers, 2);
  slot.shares = new Map();
  await tick(12_000);
  await tick(12_000);
  assert.equal((await slot.front.authenticate(key)).readers, 2);
  await tick(13_000);
  assert.equal((await slot.front.authenticate(key)).readers, 3);
  assert.equal((await slot.reader.tenant.call('readPosition', {}, { slot: SLOT, tenantId })).readers, 3);
  assert.equal((await slot.operator.readTenant({ tenantId })).chosenReaders, 3);
  assert.equal((await slot.operator.readTenant({ tenantId: other })).chosenReaders, 0);
  await slot.operator.updateTenant(slot.attempt(), { tenantId, readers: 1, operator: 'test' });
  assert.equal((await slot.front.authenticate(key)).readers, 1);
  const granted = await slot.front.authenticate(key);
  await slot.grant(await slot.handle(tenantId), tuple('user:a', 'doc:1'));
  await clock.advance(60_000);
  assert.equal(await slot.front.check(granted.handle, 'user:a', 6, 'doc:1'), true, 'a fixed number changes no handle');
  choice.close();
});
