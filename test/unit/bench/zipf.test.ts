// The draws of the benchmarks by popularity: their distribution, and that every run gets the same.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Zipf } from '../../../bench/zipf.ts';

const DRAWS = 200_000;

function countDraws(zipf: Zipf, items: number, seed: number): number[] {
  const counts = new Array<number>(items).fill(0);
  const draws = zipf.draws(seed);
  for (let count = 0; count < DRAWS; count += 1) {
    const { value } = draws.next();
    counts[value] = (counts[value] ?? 0) + 1;
  }
  return counts;
}

test('an item is drawn in proportion to its rank to the power of -s, within the error of the sample', () => {
  const items = 1000;
  for (const exponent of [0, 0.99, 1.5]) {
    const weights = Array.from({ length: items }, (_, index) => (index + 1) ** -exponent);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const counts = countDraws(new Zipf(items, exponent), items, 1);
    for (const [rank, count] of counts.entries()) {
      const expected = (DRAWS * (weights[rank] ?? 0)) / total;
      // Six standard deviations of a count.
      assert.ok(Math.abs(count - expected) <= 6 * Math.sqrt(expected) + 1, `s = ${exponent}, rank ${rank}: ${count}`);
    }
  }
});

test('the share of the most popular items is that of their draws', () => {
  const items = 5000;
  const zipf = new Zipf(items);
  const counts = countDraws(zipf, items, 2);
  for (const popular of [1, 10, 500, items]) {
    const drawn = counts.slice(0, popular).reduce((sum, count) => sum + count, 0) / DRAWS;
    assert.ok(Math.abs(zipf.shareOf(popular) - drawn) < 0.01, `${popular}: ${drawn}`);
  }
  assert.deepEqual([zipf.shareOf(0), zipf.shareOf(items), zipf.shareOf(2 * items)], [0, 1, 1]);
});

test('a seed always gives the same draws, and another seed others', () => {
  const first = (seed: number): number[] => [...new Zipf(1_000_000).draws(seed).take(8)];
  assert.deepEqual(first(1), first(1));
  assert.notDeepEqual(first(1), first(2));
  assert.equal(first(0).length, 8);
});
