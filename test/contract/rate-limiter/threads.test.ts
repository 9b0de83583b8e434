// The limiters of the threads of one process, which count in the memory of the main one, keep the contract; and all of
// them together let no more through than one.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countsHere, createMemoryCounts } from '../../../src/front/limits/memory-counts.ts';
import { createSharedRateLimiter } from '../../../src/front/limits/shared-rate-limiter.ts';
import { systemClock as clock } from '../../../src/roles/process/system.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { defineLimiterContract, newTenant, planOf } from './limiter-contract.ts';

const THREADS = 4;
const LIMIT = 1000;

const takeCount = createMemoryCounts(clock);
const createLimiter = (take = takeCount, threads = THREADS) =>
  createSharedRateLimiter({ counts: countsHere(take, threads), clock, metrics: createMetrics() });

const only = createLimiter(takeCount, 1);
defineLimiterContract('counted for threads', () => only);

describe('the threads of a process', () => {
  it('let no more than the limit through, together, and all of it', async () => {
    const limiters = Array.from({ length: THREADS }, () => createLimiter());
    for (const limit of [5, LIMIT]) {
      const [tenant, plan] = [newTenant(), planOf(limit, 60)];
      let allowed = 0;
      for (let index = 0; index < 2 * limit; index += 1) {
        for (const limiter of limiters) if ((await limiter.consume(tenant, plan))?.allowed) allowed += 1;
      }
      assert.equal(allowed, limit);
    }
  });

  it('bound the reserves of keys: above that, the oldest starts over', () => {
    const take = createMemoryCounts(clock, { reservesMax: 2 });
    const consumed = (key: string) => take(key, { requests: 60, windowSeconds: 60 }, 1, 'running').consumed;
    assert.deepEqual(
      ['k1', 'k1', 'k2', 'k3', 'k2', 'k1', 'p1', 'p2', 'p3', 'p1'].map(consumed),
      [1, 2, 1, 1, 2, 1, 1, 1, 1, 2],
    );
  });

  it('count a window that was taken ahead, and begin it where the last one ends', () => {
    let nowMs = 0;
    const take = createMemoryCounts({ ...clock, monotonicMs: () => nowMs });
    const limit = { requests: 10, windowSeconds: 1 };
    const at = (ms: number, points: number, which: 'running' | 'next' = 'running') => {
      nowMs = ms;
      const { consumed, leftMs } = take('p1', limit, points, which);
      return [consumed, leftMs];
    };
    assert.deepEqual(at(0, 1), [1, 1000]);
    assert.deepEqual(at(600, 2, 'next'), [2, 1400]);
    assert.deepEqual(at(1500, 3), [5, 500]);
    // Nothing was taken ahead, so the next window begins with its first request.
    assert.deepEqual(at(2500, 1), [1, 1000]);
    // What was taken ahead of a window that nobody used is gone with it.
    assert.deepEqual(at(2600, 4, 'next'), [4, 1900]);
    assert.deepEqual(at(4600, 1), [1, 1000]);
  });
});
