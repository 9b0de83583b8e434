// For whom work had to wait: shares of the last ten seconds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { busiestOf, Crowding } from '../../../../src/core/async/turns.ts';

test('shares are of the last ten seconds, and forget what is older', () => {
  const crowding = new Crowding();
  for (let atMs = 20_000; atMs < 30_000; atMs += 100) crowding.add('large', 60, atMs);
  crowding.add('small', 500, 29_950);
  assert.deepEqual(
    [...crowding.shares(29_999)],
    [
      ['large', 0.6],
      ['small', 0.05],
    ],
  );
  assert.deepEqual(busiestOf(crowding.shares(29_999)), { key: 'large', share: 0.6 });
  assert.equal(crowding.shares(34_000).get('large'), 0.24);
  assert.deepEqual([...crowding.shares(40_000)], []);
  assert.equal(busiestOf(crowding.shares(40_000)), undefined);
});

test('a window keeps a bounded number of keys, and a share is at most everything', () => {
  const crowding = new Crowding();
  crowding.add('large', 30_000, 1000);
  for (let index = 0; index < 5000; index += 1) crowding.add(`key-${index}`, 1, 1000);
  crowding.add('large', 1, 1500);
  assert.equal(crowding.shares(1500).size, 1000);
  assert.equal(crowding.shares(1500).get('large'), 1);
});
