// The gate before reads and large calls: bounds for each tenant and for the process, turns, and a refusal for no one
// but the tenant that asks for too much.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Clock } from '../../../../src/core/async/clock.ts';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { LoadGate } from '../../../../src/shard/memory/load-gate.ts';
import { MemoryBudget } from '../../../../src/shard/memory/memory-budget.ts';
import { real, turns } from '../tools.ts';

/** A clock that advances only when a test says so. */
function createManualClock() {
  const timers = new Map<() => void, number>();
  let nowMs = 0;
  const clock: Clock = {
    ...real,
    monotonicMs: () => nowMs,
    setTimer: (run, delayMs) => {
      timers.set(run, nowMs + delayMs);
      return { cancel: () => timers.delete(run) };
    },
  };
  /** One step: runs the timers that are due after `byMs`. */
  const advance = (byMs: number): void => {
    nowMs += byMs;
    for (const [run, atMs] of [...timers]) {
      if (atMs > nowMs) continue;
      timers.delete(run);
      run();
    }
  };
  return { clock, advance, timers };
}

function createGate(bytesMax = 100, tenantBytesMax = 40, tenantCountMax = 1000) {
  let held = 0;
  const onChange = (bytes: number): void => {
    held += bytes;
  };
  const gate = new LoadGate({ bytesMax, tenantBytesMax, tenantCountMax, onChange });
  const manual = createManualClock();
  const entered: string[] = [];
  const leaves: (() => void)[] = [];
  const refused: string[] = [];
  const enter = (tenant: string, bytes = 10): void => {
    gate.enter(tenant, bytes, manual.clock).then(
      (leave) => {
        entered.push(tenant);
        leaves.push(leave);
      },
      (error: { code: string }) => refused.push(`${tenant} ${error.code}`),
    );
  };
  return { gate, enter, entered, leaves, refused, ...manual, held: () => held };
}

test('the loads of one tenant admitted at once are bounded, however small', async () => {
  const { enter, leaves, entered } = createGate(100, 40, 2);
  for (const tenant of ['a', 'a', 'a', 'b']) enter(tenant, 1);
  await turns(1);
  assert.deepEqual(entered, ['a', 'a', 'b']);
  leaves.shift()?.();
  await turns(1);
  assert.deepEqual(entered, ['a', 'a', 'b', 'a']);
});

test('admitted loads stay within the bounds of each tenant and of the process, in any order', async () => {
  const step = fc.record({
    tenant: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    bytes: fc.integer({ min: 1, max: 60 }),
    leaves: fc.nat(2),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { gate, enter, leaves, entered, held } = createGate();
      for (const { tenant, bytes, leaves: going } of steps) {
        enter(tenant, bytes);
        await turns(1);
        assert.ok(gate.bytes <= 100);
        assert.equal(held(), gate.bytes);
        for (let count = 0; count < going; count += 1) leaves.shift()?.();
      }
      // Everybody gets in, once those before have gone.
      for (let round = 0; round < 100 && entered.length < steps.length; round += 1) {
        await turns(1);
        leaves.shift()?.();
      }
      assert.equal(entered.length, steps.length);
      for (const leave of leaves) leave();
      assert.deepEqual([gate.bytes, gate.waiting, held()], [0, 0, 0]);
    }),
    { numRuns: 50 },
  );
});

test('one tenant cannot take the capacity of another, and its own loads wait in order', async () => {
  const { gate, enter, entered, leaves } = createGate();
  for (let index = 0; index < 20; index += 1) enter('greedy');
  await turns(1);
  assert.deepEqual([gate.bytes, gate.waiting], [40, 16]);
  enter('other');
  await turns(1);
  assert.deepEqual(entered.slice(4), ['other']);
  leaves.shift()?.();
  await turns(1);
  assert.deepEqual(entered.slice(5), ['greedy']);
});

test('tenants that wait for the process take turns, however many one of them has waiting', async () => {
  const { enter, entered, leaves } = createGate(40, 40);
  for (let index = 0; index < 4; index += 1) enter('first');
  for (let index = 0; index < 10; index += 1) enter('greedy');
  for (let index = 0; index < 3; index += 1) enter('other');
  for (let index = 0; index < 8; index += 1) {
    await turns(1);
    leaves.shift()?.();
  }
  await turns(1);
  assert.deepEqual(entered.slice(4, 10), ['greedy', 'other', 'greedy', 'other', 'greedy', 'other']);
});

test('a load that waits too long, or behind too many of its tenant, is refused as overloaded, and no other', async () => {
  const { gate, enter, entered, refused, advance, leaves, timers } = createGate(100, 40);
  for (let index = 0; index < 4; index += 1) enter('greedy');
  for (let index = 0; index < 10_000; index += 1) enter('greedy');
  await turns(1);
  assert.deepEqual([entered.length, gate.waiting, refused.length], [4, 10_000, 0]);
  enter('greedy');
  await turns(1);
  assert.deepEqual(refused, ['greedy overloaded']);
  enter('other');
  await turns(1);
  assert.equal(entered.at(-1), 'other');
  advance(3999);
  await turns(1);
  assert.equal(refused.length, 1);
  for (let step = 1; gate.waiting > 0; step += 1) {
    advance(1);
    await turns(1);
    assert.ok(refused.length <= 1 + 250 * step, 'few are refused in one step');
  }
  assert.deepEqual([refused.length, gate.waiting, gate.refused], [10_001, 0, 10_001]);
  assert.deepEqual(new Set(refused), new Set(['greedy overloaded']));
  for (const leave of leaves) leave();
  assert.deepEqual([gate.bytes, timers.size], [0, 0]);
  enter('greedy');
  await turns(1);
  assert.equal(entered.at(-1), 'greedy');
});

test('small loads do not overtake a large one that waits for capacity of the process', async () => {
  const { enter, entered, leaves } = createGate(40, 40);
  for (let index = 0; index < 4; index += 1) enter('first', 10);
  enter('small', 5);
  await turns(1);
  enter('large', 10);
  enter('small', 5);
  leaves.shift()?.();
  await turns(1);
  assert.deepEqual(entered.slice(4), ['small']);
  // There is capacity for it, but the large one has waited for longer.
  enter('late', 5);
  await turns(1);
  assert.deepEqual(entered.slice(4), ['small']);
  leaves.shift()?.();
  await turns(1);
  assert.deepEqual(entered.slice(4), ['small', 'large', 'small']);
  leaves.shift()?.();
  await turns(1);
  assert.equal(entered.at(-1), 'late');
});

test('a tenant that waits for its own share does not delay those that wait for the process', async () => {
  const { enter, entered, leaves } = createGate(60, 40);
  for (let index = 0; index < 5; index += 1) enter('greedy');
  for (let index = 0; index < 2; index += 1) enter('filling');
  await turns(1);
  enter('other');
  await turns(1);
  assert.equal(entered.length, 6);
  leaves.at(-1)?.();
  await turns(1);
  assert.deepEqual(entered.slice(6), ['other']);
});

test('admitted loads count in the budget, and pages are evicted for them', async () => {
  const budget = new MemoryBudget(32_000, new FairTurns(createManualClock().clock));
  const leave = await budget.loads.enter('a', 200, real);
  const other = await budget.calls.enter('a', 100_000, real);
  // Nothing is reckoned larger than a quarter of the share of its tenant, which is a 32nd of the budget.
  assert.deepEqual([budget.bytes, budget.loads.bytes, budget.calls.bytes], [450, 200, 250]);
  leave();
  other();
  assert.equal(budget.bytes, 0);
});
