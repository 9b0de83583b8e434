// k6 for tests of the load scenarios: the machine's own, or one that is built on first use.

import { K6Missing, provideK6 } from '../../scripts/loadtest/k6.ts';
import { reportMissing } from './engine-script.ts';

/** Its command. Undefined if it is not available: reports that, and fails if CI is set. */
export function findK6(what: string): string | undefined {
  try {
    return provideK6();
  } catch (error) {
    if (!(error instanceof K6Missing)) throw error;
    reportMissing(what, error.message);
    return undefined;
  }
}
