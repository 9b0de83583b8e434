// Expires the audit log of the embedded store. On Cassandra each row expires by itself. Here a month is deleted as soon
// as all of it is older than the retention, in parts that fit a few transactions of state, with pauses in between: a
// commit waits for one step of a part at most. The next round repeats a part that failed.

import type { Clock, Timer } from '../../core/async/clock.ts';
import { MS_PER_DAY, MS_PER_HOUR } from '../../core/text/timestamps.ts';
import { AUDIT_LOG_KEPT_DAYS, type DeadlineMs } from '../store.ts';

/** A process that starts with a wrong clock has this long to correct it, before anything expires by it. */
const FIRST_ROUND_MS = 10 * 60_000;
const ROUND_MS = MS_PER_HOUR;
/** Between two parts, so that others can write. */
const PAUSE_MS = 100;
const PART_TIMEOUT_MS = 60_000;

/**
 * Deletes a part of the changes before the month. Returns the tenant after which to continue; undefined: nothing is
 * left.
 */
type RemovePart = (beforeMonth: string, after: string, deadline: DeadlineMs) => Promise<string | undefined>;

export class AuditLogExpiry {
  readonly #clock: Clock;
  readonly #removePart: RemovePart;
  #timer: Timer;
  #closed = false;

  constructor(clock: Clock, removePart: RemovePart) {
    this.#clock = clock;
    this.#removePart = removePart;
    this.#timer = this.#next('', FIRST_ROUND_MS);
  }

  close(): void {
    this.#closed = true;
    this.#timer.cancel();
  }

  #next(after: string, delayMs: number): Timer {
    return this.#clock.setTimer(() => void this.#run(after), delayMs);
  }

  async #run(after: string): Promise<void> {
    const keptFromMs = this.#clock.wallMs() - AUDIT_LOG_KEPT_DAYS * MS_PER_DAY;
    const beforeMonth = new Date(Math.max(keptFromMs, 0)).toISOString().slice(0, 7);
    let rest: string | undefined;
    try {
      rest = await this.#removePart(beforeMonth, after, this.#clock.monotonicMs() + PART_TIMEOUT_MS);
    } catch {
      // The worker has logged it.
    }
    if (!this.#closed) this.#timer = rest === undefined ? this.#next('', ROUND_MS) : this.#next(rest, PAUSE_MS);
  }
}
