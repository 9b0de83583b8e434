// Single checks at a steady rate, half of them authorized.

import { askCheck } from './calls.ts';
import { question } from './data-set.ts';
import { answersRight, fast, nothingLost } from './judgement.ts';
import { openTest } from './load-test.ts';

const test = openTest('check');

export const { setup, handleSummary } = test;
export const options = test.options({
  scenarios: { check: test.steady('ask') },
  thresholds: {
    ...answersRight(['positive_checks', 'negative_checks']),
    ...nothingLost(test.settings),
    ...fast(test.settings, ['operation:check']),
  },
});

export function ask(): void {
  const caller = test.pickCaller();
  askCheck(caller, question(caller.tenant.grants, Math.random));
}
