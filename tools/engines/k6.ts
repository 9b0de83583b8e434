// The k6 of the load scenarios, for tests: the machine's, or one that is built on first use.

import { K6Missing, provideK6 } from '../../scripts/loadtest-k6.ts';
import { reportMissing } from './engine-script.ts';

/** Its command. Undefined where it cannot be had, which is said, and fails where CI is set. */
export function findK6(what: string): string | undefined {
  try {
    return provideK6((text) => console.error(text));
  } catch (error) {
    if (!(error instanceof K6Missing)) throw error;
    reportMissing(what, error.message);
    return undefined;
  }
}
