// The teeth of the simulation: every protection, switched off, is found out, and by the same seeds the code as it is
// passes.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { applyEdit, watchAssertions } from './mutate.ts';
import { isSwitchable } from './mutation-switch.ts';
import { MUTATIONS, type Mutation } from './mutations.ts';
import type { Focus } from './profile.ts';
import { renderFailure } from './render-results.ts';
import { SeedWorkers } from './seed-workers.ts';
import type { RunResult } from './simulation-run.ts';

/** Within these, counted from the first, each mutation is caught. */
const SEEDS_MAX = 1000;
/** What is bounded is seeds; this only ends what hangs. */
const TEST_MS_MAX = 1_800_000;
const WORKERS = 2;
/** A search that takes more runs than this is to begin later. */
const RUNS_EXPECTED = 20;
/** Of the code that has most mutations, each with a seed. */
const UNCHANGED: readonly (readonly [Focus, number])[] = [
  ['broad', 3],
  ['rules', 4],
  ['transactions', 5],
];

const ROOT = new URL('../../', import.meta.url);

const workers = new SeedWorkers(WORKERS, { switches: true });
after(() => workers.end());

test('every mutation patches the code as it is', () => {
  for (const { edits } of MUTATIONS) {
    const texts = new Map<string, string>();
    for (const edit of edits) {
      const text = texts.get(edit.file) ?? readFileSync(new URL(edit.file, ROOT), 'utf8');
      texts.set(edit.file, applyEdit(text, edit));
    }
  }
});

test('nearly all mutations can be switched, and switched off they change nothing', async () => {
  assert.ok(MUTATIONS.filter((each) => !isSwitchable(each)).length < MUTATIONS.length / 10);
  watchAssertions();
  const { runSeed } = await import('./simulation-run.ts');
  for (const [focus, seed] of UNCHANGED) {
    const [switchedOff] = (await workers.run({ focus, from: seed, count: 1 })) ?? [];
    assert.deepEqual(switchedOff, await runSeed({ focus, seed }));
  }
});

/** The first run that fails with the mutation, or the last one. */
async function search(mutation: Mutation): Promise<RunResult | undefined> {
  const { name, caughtBy: focus, firstSeed = 1 } = mutation;
  const chunk = { from: firstSeed, count: SEEDS_MAX - firstSeed + 1, focus, stopAtFailure: true };
  if (isSwitchable(mutation)) return (await workers.run({ ...chunk, switchedOn: name }))?.at(-1);
  const own = new SeedWorkers(1, { mutation: name });
  try {
    return (await own.run(chunk))?.at(-1);
  } finally {
    own.end();
  }
}

describe('a mutation is caught', { concurrency: WORKERS, timeout: TEST_MS_MAX }, () => {
  for (const mutation of MUTATIONS) {
    test(`${mutation.name}. ${mutation.what}`, async (t) => {
      const caught = await search(mutation);
      assert.ok(caught !== undefined && caught.failures.length > 0, `not up to seed ${caught?.seed}`);
      t.diagnostic(`by seed ${caught.seed} (${caught.focus}): ${caught.failures[0]?.slice(0, 200)}`);
      const runs = caught.seed - (mutation.firstSeed ?? 1) + 1;
      if (runs > RUNS_EXPECTED) t.diagnostic(`after ${runs} runs: give it firstSeed ${caught.seed}`);
      const asItIs = (await workers.run({ from: caught.seed, count: 1, focus: caught.focus }))?.[0];
      assert.ok(asItIs !== undefined);
      assert.deepEqual(asItIs.failures, [], renderFailure(asItIs));
    });
  }
});
