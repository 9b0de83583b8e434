// The teeth of the simulation: a protection, switched off, is found out, and by the same seed the code as it is passes.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { after, describe, test } from 'node:test';
import { watchAssertions } from './mutate.ts';
import { withSwitches } from './mutation-switch.ts';
import { MUTATIONS } from './mutations.ts';
import type { Focus } from './profile.ts';
import { renderFailure } from './render-results.ts';
import { type Chunk, type MeasuredResult, SeedWorkers } from './seed-workers.ts';

/** What is bounded is seeds; this only ends what hangs. */
const TEST_MS_MAX = 1_800_000;
/** Several times as many as any mutation takes: a change of the program may change every run. */
const SEEDS_MAX = 60;
/** Of the code that has most mutations, each with a seed that catches one. */
const UNCHANGED: readonly (readonly [Focus, number])[] = [
  ['broad', 1],
  ['rules', 1],
  ['transactions', 1],
];

const ROOT = new URL('../../', import.meta.url);

const workers = new SeedWorkers(availableParallelism(), 'switches');
after(() => workers.end());

/** Runs of the code as it is: several mutations are caught by the same seed. */
const unmutatedRuns = new Map<string, Promise<MeasuredResult>>();

function unmutatedRun(focus: Focus, seed: number): Promise<MeasuredResult> {
  const name = `${focus} ${seed}`;
  const run = unmutatedRuns.get(name) ?? lastOf({ from: seed, count: 1, focus });
  unmutatedRuns.set(name, run);
  return run;
}

/** The last run of a chunk: where it ends at a failure, the run that fails. */
async function lastOf(chunk: Chunk): Promise<MeasuredResult> {
  const result = (await workers.run(chunk))?.at(-1);
  assert.ok(result !== undefined, 'the workers were ended');
  return result;
}

export function testMutations(mutations: typeof MUTATIONS): void {
  test('every mutation patches the code as it is', () => {
    for (const file of new Set(MUTATIONS.flatMap(({ edits }) => edits.map((edit) => edit.file)))) {
      withSwitches(readFileSync(new URL(file, ROOT), 'utf8'), file, MUTATIONS);
    }
  });

  test('mutations that are switched off change nothing', async () => {
    watchAssertions();
    const { runSeed } = await import('./simulation-run.ts');
    for (const [focus, seed] of UNCHANGED) {
      const { reached: _, ...result } = await unmutatedRun(focus, seed);
      assert.deepEqual(result, await runSeed({ focus, seed }), `${focus} ${seed}`);
    }
  });

  describe('a mutation is caught', { concurrency: availableParallelism(), timeout: TEST_MS_MAX }, () => {
    for (const { name, what, caughtBy: focus, from = 1 } of mutations) {
      test(`${name}. ${what}`, async (t) => {
        const caught = await lastOf({ from, count: SEEDS_MAX, focus, mutation: name, stopAtFailure: true });
        assert.notEqual(caught.failures.length, 0, `not by any of ${SEEDS_MAX} seeds from ${from} on (${focus})`);
        t.diagnostic(`by seed ${caught.seed} (${focus}): ${caught.failures[0]?.slice(0, 200)}`);
        const unmutated = await unmutatedRun(focus, caught.seed);
        assert.deepEqual(unmutated.failures, [], renderFailure(unmutated));
      });
    }
  });
}
