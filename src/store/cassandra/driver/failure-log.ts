// Failures of the store in the log: once when they begin, once in a while as they go on, once when they are over. Not
// once per call: an outage has thousands.

import type { Clock } from '../../../core/async/clock.ts';
import type { Log } from '../../../telemetry/log.ts';

/** A failure that goes on is logged again after this long. */
const INTERVAL_MS = 10_000;

export class FailureLog {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #loggedAtMs = new Map<string, number>();

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** `reason` is one of a few; `detail` names no value of a request. */
  note(reason: string, detail: string): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - (this.#loggedAtMs.get(reason) ?? Number.NEGATIVE_INFINITY) < INTERVAL_MS) return;
    this.#loggedAtMs.set(reason, nowMs);
    this.#log.warn({ reason, detail }, `the store is failing: ${reason}`);
  }

  /** Something worked. */
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
