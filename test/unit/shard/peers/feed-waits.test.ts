// The calls of a connection that wait for changes are bounded, and leave nothing behind.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { GrantdError } from '../../../../src/core/errors.ts';
import { MemoryBudget } from '../../../../src/shard/memory/memory-budget.ts';
import { RecentChanges } from '../../../../src/shard/memory/recent-items.ts';
import { FeedWaits } from '../../../../src/shard/peers/feed-waits.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

const clock = new VirtualClock();
const budget = new MemoryBudget(1_000_000, new FairTurns(clock));
const overloaded = (error: unknown) => error instanceof GrantdError && error.code === 'overloaded';

test('a connection holds so many waiting calls, of one tenant fewer; the end answers all', async () => {
  const waits = new FeedWaits(clock);
  const tenants = [1, 2, 3].map(() => new RecentChanges(budget, clock, 1));
  const [first, second, third] = tenants;
  assert.ok(first && second && third);
  const waiting: Promise<void>[] = [];
  const fill = (recent: RecentChanges): void => {
    try {
      while (true) waiting.push(waits.until(recent, clock.monotonicMs() + 5000));
    } catch (error) {
      assert.ok(overloaded(error));
    }
  };
  fill(first);
  assert.equal(waiting.length, 2000);
  fill(second);
  assert.equal(waiting.length, 4000);
  assert.throws(() => waits.until(third, clock.monotonicMs() + 5000), overloaded);
  // Another connection has its own, but the tenant is full.
  assert.throws(() => new FeedWaits(clock).until(first, clock.monotonicMs() + 5000), overloaded);
  waits.end();
  await Promise.all(waiting);
  assert.deepEqual(
    tenants.map((recent) => recent.waiting),
    [0, 0, 0],
  );
  await waits.until(first, clock.monotonicMs() + 5000);
});

test('a wait ends at its time', async () => {
  const waits = new FeedWaits(clock);
  const recent = new RecentChanges(budget, clock, 1);
  let ended = false;
  const waiting = waits.until(recent, clock.monotonicMs() + 100).then(() => {
    ended = true;
  });
  await clock.advance(99);
  assert.equal(ended, false);
  await clock.advance(1);
  await waiting;
  assert.equal(recent.waiting, 0);
});
