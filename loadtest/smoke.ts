// Every operation at a low rate: whether the service responds at all, and correctly.

import { askBulk, askCheck, askListing, changeGrant, writerNumber } from './calls.ts';
import { listing, negativeQuestion, positiveQuestion, question, writtenTuple } from './data-set.ts';
import { answersRight, fast, nothingLost, OPERATIONS } from './judgement.ts';
import { openTest } from './load-test.ts';

const test = openTest('smoke');
const { bulkSize = 0 } = test.settings;

export const { setup, handleSummary } = test;
export const options = test.options({
  scenarios: { smoke: test.steady('visit') },
  thresholds: {
    ...answersRight(['positive_checks', 'negative_checks', 'listings', 'writes']),
    ...nothingLost(test.settings),
    ...fast(
      test.settings,
      OPERATIONS.map((operation) => `operation:${operation}`),
    ),
  },
});

export function visit(): void {
  const caller = test.pickCaller();
  const { grants } = caller.tenant;
  askCheck(caller, positiveQuestion(grants, Math.random));
  askCheck(caller, negativeQuestion(grants, Math.random));
  askBulk(
    caller,
    Array.from({ length: bulkSize }, () => question(grants, Math.random)),
  );
  askListing(caller, listing(grants, Math.random));

  const tuple = writtenTuple(writerNumber());
  const granted = changeGrant(caller, tuple, { granted: true, before: undefined });
  if (granted) askCheck(caller, { tuple, authorized: true });
  const revoked = changeGrant(caller, tuple, { granted: false, before: granted });
  if (revoked === false) askCheck(caller, { tuple, authorized: false });
}
