// The whole cluster, simulated: seed after seed of faults, and not one wrong answer. A failure names its seed, and the
// seed replays exactly. These few seeds show that the service works; slow/seeds.test.ts has many.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MUTATIONS } from './mutations.ts';
import { FOCUSES } from './profile.ts';
import { runSeeds, TEST_MS_MAX, testFocuses } from './test-seeds.ts';

const BROAD_SEEDS = 4;
const FOCUSED_SEEDS = 2;

/** mutations.test.ts runs the code as it is, too, by a seed of each other focus. */
const others = FOCUSES.filter((focus) => !MUTATIONS.some(({ caughtBy }) => caughtBy === focus));

testFocuses(new Map([['broad', BROAD_SEEDS], ...others.map((focus) => [focus, FOCUSED_SEEDS] as const)]));

test('the same seed is the same run, in this process and in another', { timeout: TEST_MS_MAX }, async () => {
  const seeds = { from: 20, count: 2 };
  const { runSeed } = await import('./simulation-run.ts');
  const elsewhere = new Map((await runSeeds(seeds.from, seeds.count, 'broad')).map(({ seed, hash }) => [seed, hash]));
  for (const round of ['first', 'second']) {
    for (let seed = seeds.from; seed < seeds.from + seeds.count; seed += 1) {
      const lines: string[] = [];
      // A trace that is kept changes nothing either.
      const { hash } = await runSeed({ seed, ...(round === 'first' ? {} : { write: (line) => lines.push(line) }) });
      assert.equal(hash, elsewhere.get(seed), `seed ${seed} in the ${round} round`);
    }
  }
  const hashes = new Set(elsewhere.values());
  assert.equal(hashes.size, seeds.count, 'different seeds are different runs');
});
