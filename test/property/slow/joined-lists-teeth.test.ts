// The faults of `joined-faults.ts` are found by the histories of `joined-history.ts`, which find nothing without them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadSwitches, switchOn } from '../../simulation/mutation-switch.ts';
import { JOIN_FAULTS } from '../../unit/sync/joined-faults.ts';

// Before the code under test is loaded.
loadSwitches(JOIN_FAULTS);
const { JoinDifference, JoinedHistory, noCounts } = await import('../../unit/sync/joined-history.ts');

const STEPS = 40;
/** Several times as many as any fault takes. */
const SEEDS_MAX = 200;

interface Found {
  readonly seed: number;
  readonly kind: 'trees' | 'whole';
  readonly difference: string;
}

const run = (seed: number, kind: Found['kind']): Promise<void> =>
  JoinedHistory.run({ seed, kind, steps: STEPS, counts: noCounts(), demandsRefusals: false });

/** The first difference. */
async function search(): Promise<Found | undefined> {
  for (let seed = 1; seed <= SEEDS_MAX; seed += 1) {
    for (const kind of ['trees', 'whole'] as const) {
      try {
        await run(seed, kind);
      } catch (error) {
        if (!(error instanceof JoinDifference)) throw error;
        return { seed, kind, difference: error.message };
      }
    }
  }
  return undefined;
}

describe('the comparison of joined lists', () => {
  for (const { name, what } of JOIN_FAULTS) {
    it(`finds a fault: ${name}. ${what}`, async (t) => {
      switchOn(name);
      const found = await search().finally(() => switchOn(undefined));
      assert.ok(found !== undefined);
      t.diagnostic(found.difference);
      await run(found.seed, found.kind);
    });
  }
});
