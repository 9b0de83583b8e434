// The load of a shard is put together from what its fronts say of late, and no front can put it out of bounds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LATENCY_BUCKETS, latencyBucket } from '../../../../src/core/structures/latency-histogram.ts';
import { LoadWindow, mergeLoads } from '../../../../src/shard/peers/load.ts';

function report(checks: number, latencyMs: number, failures = 0, elapsedMs = 2000) {
  const latencies = new Array<number>(LATENCY_BUCKETS).fill(0);
  latencies[latencyBucket(latencyMs)] = checks;
  return { elapsedMs, checks, failures, latencies };
}

test('the rates of all fronts are added up, and their latencies merged', () => {
  const [one, other] = [new LoadWindow(), new LoadWindow()];
  for (let second = 0; second < 20; second += 2) one.add(report(2000, 1), second * 1000);
  // A front that has only just come has its rate at once.
  other.add(report(100, 80, 10, 1000), 18_500);
  const load = mergeLoads([one, other, new LoadWindow()], 19_000);
  assert.equal(load.checksPerSecond, 1100);
  assert.equal(load.failuresPerSecond, 10);
  assert.ok((load.p99Ms ?? 0) < 2);
  other.add(report(200, 80), 19_000);
  assert.ok((mergeLoads([one, other], 19_000).p99Ms ?? 0) >= 80, 'more than a hundredth of the checks are slow');
});

test('only the last ten seconds count', () => {
  const window = new LoadWindow();
  for (let second = 0; second < 10; second += 2) window.add(report(1000, 500), second * 1000);
  for (let second = 10; second < 20; second += 2) window.add(report(10, 1), second * 1000);
  const load = mergeLoads([window], 18_000);
  assert.equal(load.checksPerSecond, 5);
  assert.ok((load.p99Ms ?? 0) < 2);
});

test('a front that says nothing any more asks nothing', () => {
  const window = new LoadWindow();
  window.add(report(1000, 1), 0);
  const nothing = { checksPerSecond: 0, failuresPerSecond: 0, p99Ms: undefined };
  assert.deepEqual(mergeLoads([window], 16_000), nothing);
  assert.deepEqual(mergeLoads([], 0), nothing);
});

test('numbers that cannot be are cut down', () => {
  const window = new LoadWindow();
  const latencies = new Array<number>(10_000).fill(Number.MAX_VALUE);
  window.add({ elapsedMs: 0, checks: Number.POSITIVE_INFINITY, failures: -5, latencies }, 0);
  window.add({ elapsedMs: -1, checks: 2 ** 32, failures: Number.NaN, latencies: [-1] }, 0);
  const { checksPerSecond, failuresPerSecond, p99Ms } = mergeLoads([window], 0);
  assert.ok(checksPerSecond >= 0 && checksPerSecond <= 200_000_000, String(checksPerSecond));
  assert.equal(failuresPerSecond, 0);
  assert.ok(Number.isFinite(p99Ms));
});
