// When checks that gather at a link leave. The first one after a rest leaves at the end of its turn. While the shard
// has not answered the last message of checks, further ones wait for that, 1 ms at most (as Nagle's algorithm, RFC
// 896); and while the event loop is busy, messages also keep a distance of up to 1.5 ms, since the fixed cost of a
// message is most of what a check between two processes costs at moderate load. Invariants: no check waits for longer
// than both bounds, whether or not the shard answers; what has to leave at once (calls) takes along what waits.

import type { Clock, Timer } from '../../core/async/clock.ts';

/** How long checks wait for the answer to the message before. */
const ANSWER_MS_MAX = 1;
const SPACING_MS_MAX = 1.5;
/** The share of the time that the event loop may be busy before messages are spaced. */
const BUSY_SHARE = 1 / 3;
const WINDOW_MS = 100;
/** Change of the spacing in a window in which the event loop was busy all the time. */
const STEP_MS = 2.5;
/** So many share the cost of a message well enough. */
const GATHERED_MAX = 32;
/** Of so many messages, one waits although as many have gathered as ever do: else nothing would show that more ask. */
const PROBE_EVERY = 16;

/**
 * The spacing of messages, for all links on one event loop. An integrating controller: the spacing grows while the
 * event loop is busier than a third of the time, and shrinks otherwise. So it settles where the loop, with the messages
 * that the spacing saves, is busy for a third, and is 0 if the loop is less busy anyway.
 */
export class MessageSpacing {
  readonly #clock: Clock;
  #startedMs: number;
  #idleMs: number;
  #spacingMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedMs = clock.monotonicMs();
    this.#idleMs = clock.idleMs();
  }

  /** The distance to keep after a message that is sent now, 0 to 1.5 ms. */
  spacingMs(nowMs: number): number {
    const elapsedMs = nowMs - this.#startedMs;
    if (elapsedMs >= WINDOW_MS) {
      const idleMs = this.#clock.idleMs();
      const busyShare = 1 - (idleMs - this.#idleMs) / elapsedMs;
      const changeMs = ((busyShare - BUSY_SHARE) / (1 - BUSY_SHARE)) * STEP_MS * (elapsedMs / WINDOW_MS);
      this.#spacingMs = Math.min(SPACING_MS_MAX, Math.max(0, this.#spacingMs + changeMs));
      this.#startedMs = nowMs;
      this.#idleMs = idleMs;
    }
    return this.#spacingMs;
  }
}

/** The checks of one link. */
export class Gathering {
  readonly #clock: Clock;
  readonly #spacing: MessageSpacing;
  readonly #release: () => void;
  #timer: Timer | undefined;
  #sentAtMs = Number.NEGATIVE_INFINITY;
  #spacingMs = 0;
  /** Checks of the last message, while none of its answers has come; otherwise 0. */
  #unanswered = 0;
  /** The most checks that waited here and at the shard at once, in this window and the one before. */
  #peak = 0;
  #peakBefore = 0;
  #peakSinceMs = 0;
  #messages = 0;

  /** `release`: what waits has to leave at the end of this turn. */
  constructor(clock: Clock, spacing: MessageSpacing, release: () => void) {
    this.#clock = clock;
    this.#spacing = spacing;
    this.#release = release;
  }

  /** Whether one more check waits for others, besides so many that have `gathered`. If not, all leave in this turn. */
  waits(gathered: number): boolean {
    const count = gathered + 1;
    const all = this.#isAll(count);
    this.#peak = Math.max(this.#peak, count + this.#unanswered);
    if (count > GATHERED_MAX || all) return false;
    if (this.#timer !== undefined && this.#unanswered > 0) return true;
    const spacingMs = this.#unanswered > 0 ? Math.max(ANSWER_MS_MAX, this.#spacingMs) : this.#spacingMs;
    const leftMs = this.#sentAtMs + spacingMs - this.#clock.monotonicMs();
    if (leftMs <= 0) return false;
    this.#timer ??= this.#clock.setTimer(() => {
      this.#timer = undefined;
      this.#release();
    }, leftMs);
    return true;
  }

  /** A message with so many checks leaves. */
  sent(checks: number): void {
    const nowMs = this.#clock.monotonicMs();
    this.#cancel();
    this.#sentAtMs = nowMs;
    this.#spacingMs = this.#spacing.spacingMs(nowMs);
    this.#unanswered = checks;
    this.#messages += 1;
    if (nowMs - this.#peakSinceMs < WINDOW_MS) return;
    this.#peakBefore = this.#peak;
    this.#peak = 0;
    this.#peakSinceMs = nowMs;
  }

  /** Answers to checks have come. Returns whether those that have gathered meanwhile leave now. */
  answered(gathered: number): boolean {
    this.#unanswered = 0;
    if (this.#timer === undefined) return false;
    return this.#isAll(gathered) || this.#clock.monotonicMs() >= this.#sentAtMs + this.#spacingMs;
  }

  /** The stream has ended, and nothing waits. */
  clear(): void {
    this.#cancel();
    this.#unanswered = 0;
    this.#sentAtMs = Number.NEGATIVE_INFINITY;
  }

  /**
   * Clients that ask one check after the other gain nothing from waiting: once as many have asked as ever did at once,
   * no other is likely to ask before it has its answer.
   */
  #isAll(gathered: number): boolean {
    if (this.#unanswered > 0 || this.#messages % PROBE_EVERY === 0) return false;
    return gathered >= Math.max(this.#peak, this.#peakBefore);
  }

  #cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
