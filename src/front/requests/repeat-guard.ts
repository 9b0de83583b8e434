// Guards the repeats of one write against a suspension of the machine. The deadline of a request is on the monotonic
// clock, which stops while the machine is suspended. The owner of a slot knows an operation for its idempotency window,
// which runs on. Invariant: no try of a write is sent if the machine was suspended for longer than a bound since the
// first try. After that the owner may have forgotten what the first try did, and would do it again.

import type { Clock } from '../../core/async/clock.ts';

/**
 * How far the wall clock may move ahead of the monotonic one between the tries of a write. A repeat thus arrives within
 * the deadline of a request (10 s) plus this bound after the first try, well within the idempotency window, which is
 * twice the deadline. NTP steps the clock of a maintained machine by less.
 */
export const SUSPENSION_MS_MAX = 1000;

export class RepeatGuard {
  readonly #clock: Clock;
  /** Wall clock minus monotonic clock before the first try. */
  #wallOffsetMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the next try may be sent. To be called right before each try, including the first. */
  maySend(): boolean {
    const wallOffsetMs = this.#clock.wallMs() - this.#clock.monotonicMs();
    this.#wallOffsetMs ??= wallOffsetMs;
    return wallOffsetMs - this.#wallOffsetMs <= SUSPENSION_MS_MAX;
  }
}
