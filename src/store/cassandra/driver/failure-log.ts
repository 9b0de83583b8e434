// Logs failures of the store: once when they begin, at intervals while they last, once when they end. Not once per
// call, because an outage has thousands of failed calls.

import type { Clock } from '../../../core/async/clock.ts';
import type { Log } from '../../../telemetry/log.ts';

/** A lasting failure is logged again after this time. */
const INTERVAL_MS = 10_000;

export class FailureLog {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #loggedAtMs = new Map<string, number>();

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** `reason` is one of a fixed set; `detail` contains no value of a request. */
  note(reason: string, detail: string): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - (this.#loggedAtMs.get(reason) ?? Number.NEGATIVE_INFINITY) < INTERVAL_MS) return;
    this.#loggedAtMs.set(reason, nowMs);
    this.#log.warn({ reason, detail }, `the store is failing: ${reason}`);
  }

  /** A call succeeded. */
  recovered(): void {
    if (this.#loggedAtMs.size === 0) return;
    const nowMs = this.#clock.monotonicMs();
    for (const [reason, atMs] of this.#loggedAtMs) {
      if (nowMs - atMs < INTERVAL_MS) continue;
      this.#loggedAtMs.delete(reason);
      this.#log.info({ reason }, 'the store has recovered');
    }
  }
}
