// Writers that write one after another come again as soon as they are answered. Where an append takes much longer than
// their way back, a moment's wait for them makes one append of two, and lets each of them write more often: without it
// they fall into two cohorts that wait for each other's appends.

import type { Clock } from '../../core/async/clock.ts';

/** Shorter waits are not worth a timer, longer ones not an answer. */
const WAIT_MS_MIN = 1;
const WAIT_MS_MAX = 25;
/** Where it was in vain, this many appends at most go without a wait before the next attempt. */
const SKIPPED_MAX = 64;

export class Cohort {
  readonly #clock: Clock;
  #target = 0;
  #end: (() => void) | undefined;
  #skipped = 0;
  #toSkip = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Resolves once as many operations have come as were answered, or after the length of the append before. `waiting`
   * tells how many wait.
   */
  async gather(answered: number, appendMs: number, waiting: () => number): Promise<void> {
    const waitMs = Math.min(appendMs, WAIT_MS_MAX);
    if (answered === 0 || waitMs < WAIT_MS_MIN) return;
    if (this.#skipped < this.#toSkip) {
      this.#skipped += 1;
      return;
    }
    const before = waiting();
    this.#target = before + answered;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.setTimer(resolve, waitMs);
      this.#end = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#end = undefined;
    const came = waiting() - before;
    this.#skipped = 0;
    this.#toSkip = 4 * came >= answered ? 0 : Math.min(2 * this.#toSkip + 1, SKIPPED_MAX);
  }

  /** So many wait now. */
  arrived(waiting: number): void {
    if (waiting >= this.#target) this.#end?.();
  }

  /** Nobody is waited for any longer. */
  end(): void {
    this.#end?.();
  }
}
