// The wall clock of a shard, as far as it may be believed. The judgement (clock-watch.ts) gives a *reference*: what the
// wall clocks of the others show at a moment of the monotonic clock of this process, which carries it from there on. So
// the wall clock is compared with it at every use, and a jump is noticed by the very next one.
//
// Invariant: the time that this clock tells is never further ahead of the reference than the bound, so neither is that
// of any log that goes by it.

import type { Clock, Timer } from '../../core/async/clock.ts';

export class WallClock implements Clock {
  readonly #clock: Clock;
  readonly #skewMsMax: number;
  /** Wall clock of the others minus the monotonic clock of this process. */
  #referenceMs: number | undefined;
  #judged = false;

  /** `skewMsMax`: infinite if any wall clock will do. */
  constructor(clock: Clock, skewMsMax: number) {
    this.#clock = clock;
    this.#skewMsMax = skewMsMax;
  }

  get skewMsMax(): number {
    return this.#skewMsMax;
  }

  /** Wall clock minus monotonic clock. */
  get offsetMs(): number {
    return this.#clock.wallMs() - this.#clock.monotonicMs();
  }

  /** How far the wall clock is ahead of the reference now. Undefined: there is none yet. */
  get skewMs(): number | undefined {
    return this.#referenceMs === undefined ? undefined : this.offsetMs - this.#referenceMs;
  }

  /** Whether the wall clock agrees with what is known of the others. */
  get agrees(): boolean {
    const { skewMs } = this;
    return skewMs !== undefined && Math.abs(skewMs) <= this.#skewMsMax;
  }

  /** Whether this process may serve by this clock: it was compared with all others, and agrees. */
  get right(): boolean {
    return this.#judged && this.agrees;
  }

  /** `isWhole`: all others that are there were compared. */
  judge(referenceMs: number, isWhole: boolean): void {
    this.#referenceMs = referenceMs;
    this.#judged ||= isWhole;
  }

  /** Whole ms, ahead of the reference by the bound at most. */
  wallMs(): number {
    const wallMs = this.#clock.wallMs();
    if (this.#referenceMs === undefined || this.#skewMsMax === Number.POSITIVE_INFINITY) return wallMs;
    const referenceMs = this.#clock.monotonicMs() + this.#referenceMs;
    return Math.min(wallMs, Math.floor(referenceMs + this.#skewMsMax));
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  setTimer(run: () => void, delayMs: number): Timer {
    return this.#clock.setTimer(run, delayMs);
  }

  setImmediate(run: () => void): void {
    this.#clock.setImmediate(run);
  }
}
