// Bulk checks at a steady rate, half of each authorized.

import { askBulk } from './calls.ts';
import { question } from './data-set.ts';
import { answersRight, fast, nothingLost } from './judgement.ts';
import { openTest } from './load-test.ts';

const test = openTest('bulk');
const { bulkSize = 0 } = test.settings;

export const { setup, handleSummary } = test;
export const options = test.options({
  scenarios: { bulk: test.steady('ask') },
  thresholds: {
    ...answersRight(['positive_checks', 'negative_checks']),
    ...nothingLost(test.settings),
    ...fast(test.settings, ['operation:bulk']),
  },
});

export function ask(): void {
  const caller = test.pickCaller();
  askBulk(
    caller,
    Array.from({ length: bulkSize }, () => question(caller.tenant.grants, Math.random)),
  );
}
