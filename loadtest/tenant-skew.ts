// Checks of very many tenants, few of them busy: the busy ones must not slow the others down, and the many rarely used
// grants must not slow down the busy ones.

import { askCheck } from './calls.ts';
import { question } from './data-set.ts';
import { answersRight, fast, nothingLost } from './judgement.ts';
import { openTest } from './load-test.ts';
import { paretoIndex } from './pareto.ts';

const BUSY_SHARE = 0.01;

const test = openTest('tenant-skew');
const { paretoShape = 0 } = test.settings;

export const { setup, handleSummary } = test;
export const options = test.options({
  scenarios: { 'tenant-skew': test.steady('ask') },
  thresholds: {
    ...answersRight(['positive_checks', 'negative_checks']),
    ...nothingLost(test.settings),
    ...fast(test.settings, ['tenants:busy', 'tenants:other']),
  },
});

export function ask(): void {
  const count = test.tenants.length;
  const index = paretoIndex(count, paretoShape, Math.random());
  const caller = test.callerAt(index, { tenants: index < count * BUSY_SHARE ? 'busy' : 'other' });
  askCheck(caller, question(caller.tenant.grants, Math.random));
}
