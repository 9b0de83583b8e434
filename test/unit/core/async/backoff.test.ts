// Pauses between tries: how they grow, how far, and what chance takes off.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoffMs, jitteredMs, type Random } from '../../../../src/core/async/clock.ts';

const drawing = (byte: number): Random => ({ bytes: (length) => new Uint8Array(length).fill(byte) });

test('a pause starts with the first, doubles with each failure and stays at the maximum', () => {
  const backoff = { firstMs: 10, maxMs: 100 };
  const pauses = [0, 1, 2, 3, 4, 5].map((failures) => backoffMs(backoff, failures));
  assert.deepEqual(pauses, [10, 20, 40, 80, 100, 100]);
});

test('a pause is the maximum after any number of failures', () => {
  for (const failures of [1000, 1024, 100_000, Number.MAX_SAFE_INTEGER]) {
    assert.equal(backoffMs({ firstMs: 0.5, maxMs: 30_000 }, failures), 30_000);
  }
});

test('chance takes up to half of a pause, or up to another share of it', () => {
  assert.equal(jitteredMs(drawing(0), 100), 100);
  assert.equal(jitteredMs(drawing(255), 100), 50);
  assert.equal(jitteredMs(drawing(0), 2000, 0.25), 2000);
  assert.equal(jitteredMs(drawing(51), 2000, 0.25), 1900);
  assert.equal(jitteredMs(drawing(255), 2000, 0.25), 1500);
});
