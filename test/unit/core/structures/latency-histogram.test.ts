// Latencies fall into fixed buckets, and a quantile read from them is never too low and little too high.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  LATENCY_BUCKETS,
  latencyBucket,
  latencyQuantileMs,
} from '../../../../src/core/structures/latency-histogram.ts';

function histogramOf(latenciesMs: readonly number[]): Uint32Array {
  const counts = new Uint32Array(LATENCY_BUCKETS);
  for (const ms of latenciesMs) {
    const bucket = latencyBucket(ms);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
}

test('buckets ascend without a gap, and every latency has one', () => {
  const seen: number[] = [];
  for (let units = 0; units < 2 ** 22; units = Math.max(units + 1, Math.floor(units * 1.01))) {
    const bucket = latencyBucket(units / 100);
    if (seen.at(-1) !== bucket) seen.push(bucket);
  }
  assert.deepEqual(
    seen,
    Array.from({ length: LATENCY_BUCKETS }, (_, bucket) => bucket),
  );
});

test('what is no latency counts as none or as the longest', () => {
  for (const ms of [-1, Number.NaN, Number.NEGATIVE_INFINITY]) assert.equal(latencyBucket(ms), 0);
  for (const ms of [1e9, Number.POSITIVE_INFINITY]) assert.equal(latencyBucket(ms), LATENCY_BUCKETS - 1);
});

test('a quantile is too high by 12.5 % or one unit at most', () => {
  for (const ms of [0.011, 0.2, 0.75, 1, 3.3, 9.99, 48, 250, 1234.5, 9000]) {
    const quantile = latencyQuantileMs(histogramOf([ms]), 0.99) ?? assert.fail();
    assert.ok(quantile > ms && quantile <= ms * 1.125 + 0.011, `${quantile} for ${ms}`);
  }
});

test('one slow answer in a hundred is below the 99th percentile, two are not', () => {
  const quick = new Array(98).fill(1);
  assert.ok((latencyQuantileMs(histogramOf([...quick, 1, 500]), 0.99) ?? 0) < 2);
  assert.ok((latencyQuantileMs(histogramOf([...quick, 500, 500]), 0.99) ?? 0) > 500);
  assert.equal(latencyQuantileMs(histogramOf([]), 0.99), undefined);
});
