// A clock that stands still until a test moves it: every timer that falls due runs in order, and promises settle between.

import type { Clock, Timer } from '../../src/core/clock.ts';

export class VirtualClock implements Clock {
  /** Wall clock minus monotonic clock; a test lets it jump. */
  wallOffsetMs = 1_700_000_000_000;
  #nowMs = 1000;
  #order = 0;
  #timers: { readonly dueMs: number; readonly order: number; readonly run: () => void }[] = [];

  monotonicMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return Math.floor(this.#nowMs + this.wallOffsetMs);
  }

  setTimer(run: () => void, delayMs: number): Timer {
    this.#order += 1;
    const timer = { dueMs: this.#nowMs + Math.max(0, delayMs), order: this.#order, run };
    this.#timers.push(timer);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((each) => each !== timer);
      },
    };
  }

  setImmediate(run: () => void): void {
    this.setTimer(run, 0);
  }

  get timers(): number {
    return this.#timers.length;
  }

  /** Time passes, and whatever falls due in it runs. */
  async advance(byMs: number): Promise<void> {
    const endMs = this.#nowMs + byMs;
    while (true) {
      await new Promise((resolve) => setImmediate(resolve));
      const [next] = this.#timers.sort((left, right) => left.dueMs - right.dueMs || left.order - right.order);
      if (next === undefined || next.dueMs > endMs) break;
      this.#timers = this.#timers.filter((each) => each !== next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.run();
    }
    this.#nowMs = endMs;
  }

  /** Time passes, and nothing runs: as a process that is stopped. What fell due meanwhile runs at the next `advance`. */
  stall(byMs: number): void {
    this.#nowMs += byMs;
  }
}
