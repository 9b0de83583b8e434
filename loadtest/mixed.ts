// Out of 100 requests, 95 checks, 4 listings and 1 write.

import { answersRight, fast, nothingLost } from './judgement.ts';
import { openTest } from './load-test.ts';
import { askMixture } from './mixture.ts';

const test = openTest('mixed');

export const { setup, handleSummary } = test;
export const options = test.options({
  scenarios: { mixed: test.steady('ask') },
  thresholds: {
    ...answersRight(['positive_checks', 'negative_checks', 'listings', 'writes']),
    ...nothingLost(test.settings),
    ...fast(test.settings, ['operation:check', 'operation:list', 'operation:grant', 'operation:revoke']),
  },
});

export function ask(): void {
  askMixture(test.pickCaller());
}
