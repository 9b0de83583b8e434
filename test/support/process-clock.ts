// The clock of one simulated process: real time, until the process is killed. From then on none of its timers fires, so
// nothing of it runs on, as after a `kill -9`.

import type { Clock, Timer } from '../../src/core/clock.ts';

export interface ProcessClock extends Clock {
  kill(): void;
}

/** `wallMs`: another wall clock than the machine's. */
export function createProcessClock(wallMs: () => number = Date.now): ProcessClock {
  let alive = true;
  const timers = new Set<NodeJS.Timeout>();
  return {
    monotonicMs: () => performance.now(),
    wallMs,
    setTimer(run, delayMs): Timer {
      const timeout = setTimeout(() => {
        timers.delete(timeout);
        if (alive) run();
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
