// What every store owes its caller at the deadline: a rejection as `unavailable`, whatever becomes of the call.

import type { Clock } from '../../../src/core/async/clock.ts';
import { GrantdError } from '../../../src/core/errors.ts';

/** No test waits longer. */
const TIMER_MAX_MS = 3_600_000;

/** The promise, or a rejection as `unavailable` when the deadline comes first. */
export function withDeadline<Result>(clock: Clock, deadlineMs: number, promise: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(
      () => reject(new GrantdError('unavailable', 'The store did not answer in time.')),
      Math.min(Math.max(0, deadlineMs - clock.monotonicMs()), TIMER_MAX_MS),
    );
    promise.then(resolve, reject).finally(() => timer.cancel());
  });
}
