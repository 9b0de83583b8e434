// The load of `mixed` for k6, by count and not by rate: so many iterations, each begun when the one before it has
// ended. A machine that is busy makes it longer and drops nothing of it.

import { answersRight, nothingLost } from '../../../loadtest/judgement.ts';
import { openTest } from '../../../loadtest/load-test.ts';
import { askMixture } from '../../../loadtest/mixture.ts';

const VUS = 8;
const DURATION_MAX = '4m';

const test = openTest('mixed');

export const { setup, handleSummary } = test;
export const options = test.options({
  scenarios: {
    mixture: {
      executor: 'shared-iterations',
      vus: VUS,
      iterations: Number(__ENV.ITERATIONS),
      maxDuration: DURATION_MAX,
      exec: 'ask',
    },
  },
  thresholds: {
    ...answersRight(['positive_checks', 'negative_checks', 'listings', 'writes']),
    ...nothingLost(test.settings),
  },
});

export function ask(): void {
  askMixture(test.pickCaller());
}
