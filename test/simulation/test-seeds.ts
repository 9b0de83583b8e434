// Tests that run seeds of the code as it is.

import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { after, test } from 'node:test';
import type { Focus } from './profile.ts';
import { renderFailure, renderSummary, totalsOf } from './render-results.ts';
import { runSeeds, SeedWorkers } from './seed-workers.ts';

/** What is bounded is seeds; this only ends what hangs. */
export const TEST_MS_MAX = 1_800_000;

/** The same for every test of a file: new ones would compile the program again. */
export const workers = new SeedWorkers(availableParallelism());

export function testFocuses(counts: ReadonlyMap<Focus, number>): void {
  after(() => workers.end());
  for (const [focus, count] of counts) {
    const name = `no order of faults brings about a wrong answer: ${count} seeds, ${focus}`;
    test(name, { timeout: TEST_MS_MAX }, async (t) => {
      const startedMs = performance.now();
      const results = await runSeeds(workers, { from: 1, count, focus });
      t.diagnostic(renderSummary(totalsOf(results), performance.now() - startedMs));
      const failed = results.filter(({ failures }) => failures.length > 0);
      const shown = failed.slice(0, 3).map((result) => renderFailure(result));
      assert.equal(failed.length, 0, shown.join('\n\n'));
      assert.equal(results.length, count);
      const operations = results.reduce((sum, result) => sum + result.answered, 0);
      assert.ok(operations > 100 * count, `only ${operations} operations were answered in ${count} runs`);
    });
  }
}
