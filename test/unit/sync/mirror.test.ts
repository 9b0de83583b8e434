// How long a mirror keeps what has ended; the rest of what it promises is in `test/contract/mirror`.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Horizon } from '../../../packages/sync/src/mirror.ts';

it('a mirror can be asked about each of the last ten minutes, and no more than that and a few seconds', () => {
  const horizons = new Horizon();
  const startMs = 1_000_000;
  let horizon = 3;
  for (let second = 0; second <= 1300; second += 1) {
    const place = { seq: 1000 + second, cursor: '', horizon };
    horizon = horizons.move(place, startMs + second * 1000);
    if (second < 600) assert.equal(horizon, 3);
    else assert.ok(horizon <= 1000 + second - 600 && horizon > 1000 + second - 606, `${second}: ${horizon}`);
  }
});
