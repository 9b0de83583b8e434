// Guards the repeats of one write against a machine that was suspended. The deadline of a request is on the monotonic
// clock, which stands still while its machine is suspended; the owner of a slot knows an operation for its idempotency
// window, which runs on meanwhile. It keeps: no try of a write is sent once its machine has been suspended, since the
// first try, for longer than a bound. After that the owner may have forgotten what the first try did, and would do it
// again.

import type { Clock } from '../../core/async/clock.ts';

/**
 * How far the wall clock may move ahead of the monotonic one between the tries of a write. A repeat then arrives within
 * the deadline of a request (10 s) and this after the first try, well within the idempotency window, which is twice the
 * deadline. More than what NTP steps a clock by on a machine that is looked after.
 */
export const SUSPENSION_MS_MAX = 1000;

export class RepeatGuard {
  readonly #clock: Clock;
  /** Wall clock minus monotonic clock before the first try. */
  #wallOffsetMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the next try may be sent. To be asked right before each of them, and of the first one, too. */
  maySend(): boolean {
    const wallOffsetMs = this.#clock.wallMs() - this.#clock.monotonicMs();
    this.#wallOffsetMs ??= wallOffsetMs;
    return wallOffsetMs - this.#wallOffsetMs <= SUSPENSION_MS_MAX;
  }
}
