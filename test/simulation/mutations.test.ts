// The teeth of the simulation: every protection, switched off, is found out, and by the same seeds the code as it is
// passes. Each mutation is run at its recorded seed; slow/mutations.test.ts searches from the first.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { after, describe, test } from 'node:test';
import { applyEdit, watchAssertions } from './mutate.ts';
import { readRecords, recordCommand, replay, WorkerRuns } from './mutation-records.ts';
import { withSwitches } from './mutation-switch.ts';
import { MUTATIONS } from './mutations.ts';
import type { Focus } from './profile.ts';
import { renderFailure } from './render-results.ts';

/** What is bounded is seeds; this only ends what hangs. */
const TEST_MS_MAX = 1_800_000;
/** Of the code that has most mutations, each with a seed. */
const UNCHANGED: readonly (readonly [Focus, number])[] = [
  ['broad', 3],
  ['rules', 7],
  ['transactions', 10],
];

const ROOT = new URL('../../', import.meta.url);

const records = readRecords();
const runs = new WorkerRuns();
after(() => runs.end());

test('every mutation patches the code as it is, and can be switched', () => {
  for (const mutation of MUTATIONS) {
    for (const [file, edits] of Map.groupBy(mutation.edits, (edit) => edit.file)) {
      const text = readFileSync(new URL(file, ROOT), 'utf8');
      edits.reduce(applyEdit, text);
      withSwitches(text, file, [mutation]);
    }
  }
});

test('every mutation has a recorded seed, and every record is of a mutation', () => {
  const names = MUTATIONS.map(({ name }) => name);
  const missing = names.filter((name) => !records.has(name));
  assert.deepEqual(missing, [], `record their seeds: ${recordCommand(missing)}`);
  const unknown = [...records.keys()].filter((name) => !names.includes(name));
  assert.deepEqual(unknown, [], 'mutation-records.json has records of mutations that do not exist; delete them');
});

test('mutations that are switched off change nothing', async () => {
  watchAssertions();
  const { runSeed } = await import('./simulation-run.ts');
  for (const [focus, seed] of UNCHANGED) {
    const { cpuMs, reached: _, ...result } = await runs.runUnmutated(focus, seed);
    assert.deepEqual(result, await runSeed({ focus, seed }), `${focus} ${seed}, in ${cpuMs} ms`);
  }
});

describe('a mutation is caught', { concurrency: availableParallelism(), timeout: TEST_MS_MAX }, () => {
  for (const mutation of MUTATIONS) {
    test(`${mutation.name}. ${mutation.what}`, async (t) => {
      const recorded = records.get(mutation.name);
      assert.ok(recorded !== undefined, `no seed is recorded: ${recordCommand([mutation.name])}`);
      const { caught, advice } = await replay(runs, mutation, recorded);
      assert.ok(caught !== undefined, String(advice));
      t.diagnostic(`by seed ${caught.seed} (${caught.focus}): ${caught.failures[0]?.slice(0, 200)}`);
      if (advice !== undefined) t.diagnostic(advice);
      const unmutated = await runs.runUnmutated(caught.focus, caught.seed);
      assert.deepEqual(unmutated.failures, [], renderFailure(unmutated));
    });
  }
});
