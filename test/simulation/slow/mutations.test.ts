// Each mutation is searched for from the first seed on, whatever is recorded.

import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { after, describe, test } from 'node:test';
import { SEARCH_SEEDS, WorkerRuns } from '../mutation-records.ts';
import { MUTATIONS } from '../mutations.ts';
import { renderFailure } from '../render-results.ts';

/** What is bounded is seeds; this only ends what hangs. */
const TEST_MS_MAX = 3_600_000;

const runs = new WorkerRuns();
after(() => runs.end());

describe('a mutation is caught', { concurrency: availableParallelism(), timeout: TEST_MS_MAX }, () => {
  for (const mutation of MUTATIONS) {
    test(`${mutation.name}. ${mutation.what}`, async (t) => {
      const caught = await runs.search(mutation, 1, SEARCH_SEEDS);
      assert.ok(caught !== undefined, `not up to seed ${SEARCH_SEEDS}`);
      t.diagnostic(`by seed ${caught.seed} (${caught.focus}): ${caught.failures[0]?.slice(0, 200)}`);
      const unmutated = await runs.runUnmutated(caught.focus, caught.seed);
      assert.deepEqual(unmutated.failures, [], renderFailure(unmutated));
    });
  }
});
