// Seeds of mutations: what a replay does when the recorded seed no longer catches, and which seed is recorded.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Found, findSeeds, type MutationRuns, REPLAY_SEEDS, replay, SEARCH_SEEDS } from './mutation-records.ts';
import { MUTATIONS, type Mutation } from './mutations.ts';
import type { Focus } from './profile.ts';
import type { MeasuredResult } from './seed-workers.ts';

const [FIRST, SECOND] = MUTATIONS.filter(({ caughtBy }) => caughtBy === 'rules');
assert.ok(FIRST !== undefined && SECOND !== undefined);

function runOf(focus: Focus, seed: number, failures: readonly string[]): MeasuredResult {
  const none = { hash: 0, events: 0, virtualMs: 0, operations: 0, answered: 0, undecided: 0, displaced: 0 };
  return { seed, focus, failures, ...none, cpuMs: 100 - seed };
}

/**
 * Runs in which each mutation is caught by these seeds alone, and later seeds are cheaper. `tried`: all that was run.
 */
function createRuns(catching: ReadonlyMap<Mutation, readonly number[]>, broken: readonly number[] = []) {
  const tried: number[] = [];
  const runs: MutationRuns = {
    async search(mutation, from, count) {
      for (let seed = from; seed < from + count; seed += 1) {
        tried.push(seed);
        if (catching.get(mutation)?.includes(seed)) return runOf(mutation.caughtBy, seed, ['caught']);
      }
      return undefined;
    },
    runUnmutated: async (focus, seed) => runOf(focus, seed, broken.includes(seed) ? ['wrong'] : []),
  };
  return { runs, tried };
}

async function find(runs: MutationRuns, mutations: readonly Mutation[], records: Readonly<Record<string, number>>) {
  const found: Found[] = [];
  const from = { records: new Map(Object.entries(records)), from: 1, count: SEARCH_SEEDS };
  await findSeeds(runs, mutations, from, (each) => found.push(each));
  return found.map(({ mutation, caught, unmutated }) => [mutation.name, caught?.seed, unmutated?.failures.length]);
}

test('a replay runs the recorded seed alone', async () => {
  const { runs, tried } = createRuns(new Map([[FIRST, [3, 7]]]));
  const { caught, advice } = await replay(runs, FIRST, 7);
  assert.equal(caught?.seed, 7);
  assert.equal(advice, undefined);
  assert.deepEqual(tried, [7]);
});

test('a replay whose seed no longer catches searches a few others, and says how to record', async () => {
  const { runs } = createRuns(new Map([[FIRST, [3]]]));
  const { caught, advice } = await replay(runs, FIRST, 7);
  assert.equal(caught?.seed, 3);
  const command = `npm run simulate -- --mutations ${FIRST.name} --record`;
  assert.equal(advice, `the recorded seed 7 does not catch it, but seed 3 does: ${command}`);
  const { runs: never, tried } = createRuns(new Map([[FIRST, [REPLAY_SEEDS + 1]]]));
  const failed = await replay(never, FIRST, 7);
  assert.equal(failed.caught, undefined);
  assert.equal(tried.length, 1 + REPLAY_SEEDS);
  assert.ok(failed.advice?.endsWith(`: ${command}`));
});

test('of the first seeds that catch, the cheapest is recorded; none costs less than that of another mutation', async () => {
  const { runs } = createRuns(
    new Map([
      [FIRST, [2, 9]],
      [SECOND, [2, 30]],
    ]),
  );
  assert.deepEqual(await find(runs, [FIRST], {}), [[FIRST.name, 9, 0]]);
  assert.deepEqual(await find(runs, [FIRST], { [SECOND.name]: 2 }), [[FIRST.name, 2, 0]]);
  assert.deepEqual(await find(runs, [FIRST, SECOND], { [SECOND.name]: 30 }), [
    [SECOND.name, 2, 0],
    [FIRST.name, 2, 0],
  ]);
});

test('where none of the first catches, the recorded seed stays while it does, or else the next one is recorded', async () => {
  const { runs } = createRuns(new Map([[FIRST, [20, 30]]]));
  assert.deepEqual(await find(runs, [FIRST], { [FIRST.name]: 30 }), [[FIRST.name, 30, 0]]);
  assert.deepEqual(await find(runs, [FIRST], { [FIRST.name]: 25 }), [[FIRST.name, 20, 0]]);
  assert.deepEqual(await find(runs, [FIRST], {}), [[FIRST.name, 20, 0]]);
});

test('a search tells what no seed catches, and where the code as it is fails, too', async () => {
  const { runs } = createRuns(new Map([[SECOND, [5]]]), [5]);
  assert.deepEqual(await find(runs, [FIRST, SECOND], {}), [
    [FIRST.name, undefined, undefined],
    [SECOND.name, 5, 1],
  ]);
});
