// The clock of one simulated process: real time, or ahead of it by as much as a test wants to have passed, until the
// process is killed. From then on none of its timers fires, so nothing of it runs on, as after a `kill -9`.

import type { Clock, Timer } from '../../src/core/async/clock.ts';
import { systemClock } from '../../src/roles/process/system.ts';

export interface ProcessClock extends Clock {
  kill(): void;
}

/** `wallMs`: another wall clock than the machine's. `aheadMs`: what has passed besides, with no timer fired for it. */
export function createProcessClock(wallMs: () => number = Date.now, aheadMs: () => number = () => 0): ProcessClock {
  let alive = true;
  const timers = new Set<NodeJS.Timeout>();
  return {
    monotonicMs: () => performance.now() + aheadMs(),
    wallMs,
    idleMs: systemClock.idleMs,
    setTimer(run, delayMs): Timer {
      if (!alive) return { cancel() {} };
      const timeout = setTimeout(() => {
        timers.delete(timeout);
        run();
      }, delayMs);
      timers.add(timeout);
      return {
        cancel() {
          timers.delete(timeout);
          clearTimeout(timeout);
        },
      };
    },
    setImmediate(run) {
      setImmediate(() => {
        if (alive) run();
      });
    },
    kill() {
      alive = false;
      for (const timeout of timers) clearTimeout(timeout);
    },
  };
}
