// The whole cluster, simulated: seed after seed of faults, and not one wrong answer. A failure names its seed, and the
// seed replays exactly.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { FOCUSES, type Focus } from './profile.ts';
import { renderFailure, renderSummary, totalsOf } from './render-results.ts';
import { SeedWorkers } from './seed-workers.ts';
import type { RunResult } from './simulation-run.ts';

const BROAD_SEEDS = 300;
const FOCUSED_SEEDS = 24;
/** The same for every test: a new one would compile the program again. */
const WORKERS = 2;
/** Seeds are counted, not seconds: the longest test takes one and a half minutes on two processors of its own. */
const TEST_MS_MAX = 1_800_000;

const workers = new SeedWorkers(WORKERS);
after(() => workers.end());

/** A seed at a time, so that all workers end at about the same time. */
async function runSeeds(from: number, count: number, focus: Focus): Promise<RunResult[]> {
  const seeds = Array.from({ length: count }, (_, index) => from + index);
  const results = await Promise.all(seeds.map((seed) => workers.run({ from: seed, count: 1, focus })));
  return results.flatMap((each) => each ?? []);
}

for (const focus of FOCUSES) {
  const count = focus === 'broad' ? BROAD_SEEDS : FOCUSED_SEEDS;
  test(`no order of faults brings about a wrong answer: ${count} seeds, ${focus}`, {
    timeout: TEST_MS_MAX,
  }, async (t) => {
    const startedMs = performance.now();
    const results = await runSeeds(1, count, focus);
    t.diagnostic(renderSummary(totalsOf(results), performance.now() - startedMs));
    const failed = results.filter(({ failures }) => failures.length > 0);
    assert.equal(
      failed.length,
      0,
      failed
        .slice(0, 3)
        .map((result) => renderFailure(result))
        .join('\n\n'),
    );
    assert.equal(results.length, count);
    const operations = results.reduce((sum, result) => sum + result.answered, 0);
    assert.ok(operations > 100 * count, `only ${operations} operations were answered in ${count} runs`);
  });
}

test('the same seed is the same run, in this process and in another', { timeout: TEST_MS_MAX }, async () => {
  const seeds = { from: 20, count: 6 };
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
