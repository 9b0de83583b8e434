// The real clock and randomness. Code that decides by time gets this Clock and Random, so that it can run on virtual
// time and a seed. Node's own timers serve only sockets and the shutdown of servers.

import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { assert } from '../../core/assert.ts';
import type { Clock, Random, Timer } from '../../core/async/clock.ts';

/** The longest delay that Node's timers accept. */
const DELAY_MS_MAX = 2 ** 31 - 1;

/**
 * Node's timers round to whole milliseconds and may fire slightly early, which would break the promise of the port.
 * Then the timer waits once more.
 */
function setTimer(run: () => void, delayMs: number): Timer {
  assert(delayMs <= DELAY_MS_MAX, 'a timer waits 24 days at most');
  const dueMs = performance.now() + delayMs;
  let timeout: NodeJS.Timeout;
  const arm = (waitMs: number): void => {
    timeout = setTimeout(() => {
      const leftMs = dueMs - performance.now();
      if (leftMs > 0) arm(leftMs);
      else run();
    }, Math.ceil(waitMs));
    timeout.unref();
  };
  arm(delayMs);
  return { cancel: () => clearTimeout(timeout) };
}

export const systemClock: Clock = Object.freeze({
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  idleMs: () => performance.nodeTiming.idleTime,
  setTimer,
  setImmediate: (run: () => void) => {
    setImmediate(run);
  },
});

export const systemRandom: Random = Object.freeze({ bytes: (length: number) => randomBytes(length) });
