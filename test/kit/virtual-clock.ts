// A clock that stands still until a test moves it: every timer that falls due runs in order, and promises settle
// between.

import type { Clock, Timer } from '../../src/core/async/clock.ts';

export class VirtualClock implements Clock {
  /** Wall clock minus monotonic clock; a test lets it jump. */
  wallOffsetMs = 1_700_000_000_000;
  /** How long the event loop has been busy; a test lets it be. */
  busyMs = 0;
  #nowMs = 1000;
  /** In the order in which they were set. */
  readonly #timers = new Set<{ readonly dueMs: number; readonly run: () => void }>();

  monotonicMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return Math.floor(this.#nowMs + this.wallOffsetMs);
  }

  setTimer(run: () => void, delayMs: number): Timer {
    const timer = { dueMs: this.#nowMs + Math.max(0, delayMs), run };
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
      },
    };
  }

  setImmediate(run: () => void): void {
    this.setTimer(run, 0);
  }

  /** Whatever a test lets happen takes no time. */
  idleMs(): number {
    return this.#nowMs - this.busyMs;
  }

  get timers(): number {
    return this.#timers.size;
  }

  /** Time passes, and whatever falls due in it runs. */
  async advance(byMs: number): Promise<void> {
    const endMs = this.#nowMs + byMs;
    while (true) {
      await new Promise((resolve) => setImmediate(resolve));
      let next: { readonly dueMs: number; readonly run: () => void } | undefined;
      for (const timer of this.#timers) if (next === undefined || timer.dueMs < next.dueMs) next = timer;
      if (next === undefined || next.dueMs > endMs) break;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.run();
    }
    this.#nowMs = endMs;
  }

  /**
   * Time passes, and nothing runs: as a process that is stopped. What fell due meanwhile runs at the next `advance`.
   */
  stall(byMs: number): void {
    this.#nowMs += byMs;
  }
}
