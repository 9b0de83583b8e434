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
import { createMemoryStore, OpenSlot, tuple } from '../tools.ts';

const CALM = { crowded: false, checksPerMinute: 0, max: 4 };

/** The numbers of readers after each observation, a tick after the one before; or at its own time. */
function choices(observations: readonly Partial<Observation>[]): readonly number[] {
  let choice: Choice | undefined;
  let nowMs = 0;
  return observations.map((seen) => {
    nowMs = seen.nowMs ?? nowMs + 2000;
    choice = nextChoice(choice, { ...CALM, ...seen, nowMs });
    return choice?.readers ?? 0;
  });
}

const repeated = (count: number, seen: Partial<Observation>): Partial<Observation>[] => Array(count).fill(seen);

test('a tenant whose calls do not wait has none, however many checks it has', () => {
  assert.deepEqual(choices(repeated(3, { checksPerMinute: 1_000_000 })), [0, 0, 0]);
});

test('two begin when calls wait, and more follow the checks, up to the bound', () => {
  const full = { checksPerMinute: 60_000 };
  assert.deepEqual(choices([{ ...full, crowded: true }, full, { ...full, nowMs: 90_000 }]), [2, 2, 2]);
  assert.deepEqual(
    choices([
      { ...full, crowded: true, nowMs: 0 },
      { checksPerMinute: 80_000, nowMs: 10_000 },
      { checksPerMinute: 80_000, nowMs: 20_000 },
      { checksPerMinute: 900_000, nowMs: 40_000 },
    ]),
    [2, 2, 3, 4],
  );
  assert.deepEqual(
    choices([
      { ...full, crowded: true, max: 1 },
      { ...full, crowded: true, max: 0 },
    ]),
    [1, 0],
  );
  assert.deepEqual(choices([{ ...full, crowded: true, max: 0 }]), [0]);
});

test('an owner that is still full adds one at a time, once the last one counts', () => {
  const full = { checksPerMinute: 60_000, crowded: true };
  assert.deepEqual(
    choices([0, 10_000, 20_000, 30_000, 40_000, 60_000].map((nowMs) => ({ ...full, nowMs }))),
    [2, 2, 3, 3, 4, 4],
  );
});

test('they leave after five quiet minutes, not in a pause, and all of them below a quarter', () => {
  const begin = { checksPerMinute: 100_000, crowded: true, nowMs: 0 };
  const quiet = (checksPerMinute: number, nowMs: number) => ({ checksPerMinute, nowMs });
  assert.deepEqual(
    choices([begin, quiet(1000, 60_000), quiet(100_000, 300_000), quiet(1000, 400_000), quiet(1000, 699_000)]),
    [2, 2, 2, 2, 2],
  );
  assert.deepEqual(choices([begin, quiet(40_000, 60_000), quiet(40_000, 360_000)]), [2, 2, 1]);
  assert.deepEqual(choices([begin, quiet(24_999, 60_000), quiet(24_999, 360_000)]), [2, 2, 0]);
});

test('a tenant whose readers are auto gets them, and its fronts learn the number with handles for which they ask at once', async () => {
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
    memoryOf: (id) => slot.tenure.tenants.get(id),
  });
  slot.readerChoice.of = (memory) => choice.of(memory);
  choice.start();
  const kept = await slot.front.authenticate(key);
  assert.equal(kept.readers, 0);
  slot.shares = new Map([
    [tenantId, 0.2],
    ['authenticate', 0.9],
  ]);
  await clock.advance(10_000);
  assert.equal(await slot.front.check(kept.handle, 'user:a', 6, 'doc:1'), false);
  slot.shares = new Map([[tenantId, 0.6]]);
  await clock.advance(3000);
  assert.throws(() => slot.front.check(kept.handle, 'user:a', 6, 'doc:1'), { kind: 'handle-unknown' });
  assert.equal((await slot.front.authenticate(key)).readers, 2);
  assert.equal((await slot.operator.readTenant({ tenantId })).chosenReaders, 2);
  assert.equal((await slot.operator.readTenant({ tenantId: other })).chosenReaders, 0);
  await slot.operator.updateTenant(slot.attempt(), { tenantId, readers: 1, operator: 'test' });
  assert.equal((await slot.front.authenticate(key)).readers, 1);
  const granted = await slot.front.authenticate(key);
  await slot.grant(await slot.handle(tenantId), tuple('user:a', 'doc:1'));
  await clock.advance(60_000);
  assert.equal(await slot.front.check(granted.handle, 'user:a', 6, 'doc:1'), true, 'a fixed number changes no handle');
  choice.close();
});
