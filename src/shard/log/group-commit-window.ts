// The group-commit window. Closed-loop writers send their next write as soon as they get a reply. If an append takes
// much longer than their round trip, a short wait for them turns two appends into one and lets each of them write more
// often. Without it they split into two groups, each of which waits for the appends of the other.

import type { Clock } from '../../core/async/clock.ts';

/** Shorter waits are not worth a timer; longer ones would delay replies too much. */
const WAIT_MS_MIN = 1;
const WAIT_MS_MAX = 25;
/** After futile waits, at most this many appends go without one before the next attempt. */
const SKIPPED_MAX = 64;

export class GroupCommitWindow {
  readonly #clock: Clock;
  #target = 0;
  #end: (() => void) | undefined;
  #skipped = 0;
  #toSkip = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Resolves when as many operations have arrived as were answered, or after the duration of the previous append.
   * `waiting` returns the number of waiting operations.
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

  /** `waiting` operations wait now. */
  arrived(waiting: number): void {
    if (waiting >= this.#target) this.#end?.();
  }

  /** Ends the current wait. */
  end(): void {
    this.#end?.();
  }
}
