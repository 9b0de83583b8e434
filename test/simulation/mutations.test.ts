// The teeth of the simulation: every protection, switched off, is found out, and by the same seeds the code as it is
// passes.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { applyEdit, watchAssertions } from './mutate.ts';
import { MUTATIONS } from './mutations.ts';
import { renderFailure } from './render-results.ts';
import { runSeeds } from './run-seeds.ts';

/** Within these, counted from the first, each mutation is caught. */
const SEEDS_MAX = 1000;
/** What is bounded is seeds; this only ends what hangs. */
const TEST_MS_MAX = 1_800_000;

watchAssertions();
const { runSeed } = await import('./simulation-run.ts');

const ROOT = new URL('../../', import.meta.url);

test('every mutation patches the code as it is', () => {
  for (const { edits } of MUTATIONS) {
    const texts = new Map<string, string>();
    for (const edit of edits) {
      const text = texts.get(edit.file) ?? readFileSync(new URL(edit.file, ROOT), 'utf8');
      texts.set(edit.file, applyEdit(text, edit));
    }
  }
});

for (const { name, what, caughtBy, firstSeed = 1 } of MUTATIONS) {
  test(`is caught: ${name}. ${what}`, { timeout: TEST_MS_MAX }, async (t) => {
    const count = SEEDS_MAX - firstSeed + 1;
    const seeds = { from: firstSeed, count, focus: caughtBy };
    const mutated = await runSeeds({ ...seeds, mutation: name, stopAtFailure: true });
    const caught = mutated.find(({ failures }) => failures.length > 0);
    assert.ok(caught !== undefined, `not within ${mutated.length} seeds`);
    t.diagnostic(`by seed ${caught.seed} (${caughtBy}): ${caught.failures[0]?.slice(0, 200)}`);
    // In this process, which has no mutation: a worker would take longer to start than to run one seed.
    const asItIs = await runSeed({ seed: caught.seed, focus: caughtBy });
    assert.deepEqual(asItIs.failures, [], renderFailure(asItIs));
  });
}
