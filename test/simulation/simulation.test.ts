// The whole cluster, simulated: seed after seed of faults, and not one wrong answer. A failure names its seed, and the
// seed replays exactly. These few seeds show that the service works; slow/seeds.test.ts has many.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { MUTATIONS } from './mutations.ts';
import { PROBES, sumOfReached, withProbes } from './probes.ts';
import { FOCUSES } from './profile.ts';
import { renderFailure, renderReached } from './render-results.ts';
import { runSeeds } from './seed-workers.ts';
import { TEST_MS_MAX, testFocuses, workers } from './test-seeds.ts';

const BROAD_SEEDS = 4;
const FOCUSED_SEEDS = 2;
/** The focuses whose runs reach everything that is probed. */
const PROBED = ['busy', 'saturated', 'promises', 'promise-times'] as const;
/** Some of them reach even what is rare, such as an answer to a reader that overlaps with another. */
const PROBED_FROM = 37;
const PROBED_SEEDS = 24;
/** Of each probe, in all of these runs. */
const REACHED_MIN = 3;

const ROOT = new URL('../../', import.meta.url);

/** mutations.test.ts runs the code as it is, too, by a seed of each other focus. */
const others = FOCUSES.filter((focus) => !MUTATIONS.some(({ caughtBy }) => caughtBy === focus));

testFocuses(new Map([['broad', BROAD_SEEDS], ...others.map((focus) => [focus, FOCUSED_SEEDS] as const)]));

test('every probe patches the code as it is', () => {
  for (const file of new Set(PROBES.map(({ edit }) => edit.file))) {
    withProbes(readFileSync(new URL(file, ROOT), 'utf8'), file);
  }
});

test('what is only for large loads is run, too', { timeout: TEST_MS_MAX }, async (t) => {
  const results = await Promise.all(
    PROBED.map((focus) => runSeeds(workers, { from: PROBED_FROM, count: PROBED_SEEDS, focus })),
  );
  const reached = sumOfReached(results.flat());
  t.diagnostic(renderReached(reached));
  const failed = results.flat().filter(({ failures }) => failures.length > 0);
  assert.deepEqual(
    failed.map((result) => renderFailure(result)),
    [],
  );
  for (const { name, what } of PROBES) {
    const count = reached[name] ?? 0;
    assert.ok(count >= REACHED_MIN, `${name} is reached ${count} times in ${PROBED_SEEDS} runs of each focus: ${what}`);
  }
});

test('the same seed is the same run, in this process and in another', { timeout: TEST_MS_MAX }, async () => {
  const seeds = { from: 20, count: 2 };
  const { runSeed } = await import('./simulation-run.ts');
  const results = await runSeeds(workers, { ...seeds, focus: 'broad' });
  const elsewhere = new Map(results.map(({ seed, hash }) => [seed, hash]));
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
