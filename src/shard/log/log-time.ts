// Time in the log, as the owner of an epoch measures it: the time of the next entry, and the age of existing ones.
//   - `atLeastMs`: measured by this owner's monotonic clock; for earlier epochs, since it opened its own. Anything that
//     must not happen too early relies on this alone.
//   - `byWallMs`: for earlier epochs, the difference between the wall clocks of two owners. A clock that was ahead
//     leaves entries, and bases after them, that lie in the future until wall clocks catch up. Their age is unknown,
//     and they count as old, so that nothing waits for as long as a clock was wrong.
// Once time was set back (slot-time.ts), all of this goes by bases less what each entry says it is behind its base.

import type { Clock } from '../../core/async/clock.ts';
import type { LogRecord, Stamp } from '../../store/store.ts';
import { type EntryTime, wallBase } from './entries.ts';

/** The end of the log once it contains the tenure's first entry. */
export interface LogEnd {
  readonly slot: number;
  readonly epoch: number;
  readonly lastSeq: number;
  /** The smallest base that the next entry may have. */
  readonly nextBase: Stamp;
  /** How far the time of entries is behind their bases. */
  readonly behindMs: number;
  /** When the first entry was created, on the monotonic clock. */
  readonly openedAtMs: number;
}

export interface EntryAge {
  readonly atLeastMs: number;
  /** Infinite if the entry lies in the future. */
  readonly byWallMs: number;
}

export class LogTime {
  readonly #clock: Clock;
  readonly #opened: LogEnd;

  /** `opened`: the log as the first entry of the epoch left it. */
  constructor(clock: Clock, opened: LogEnd) {
    this.#clock = clock;
    this.#opened = opened;
  }

  /** The time of an entry that is created now. */
  next(leastBase: Stamp): EntryTime {
    const { behindMs } = this.#opened;
    const time = { base: Math.max(leastBase, wallBase(this.#clock, behindMs)), elapsedMs: this.#elapsedMs() };
    return behindMs === 0 ? time : { ...time, behindMs };
  }

  /** The time of an entry after which the time of the log is that of the wall clock, which it is ahead of by that. */
  setBack(leastBase: Stamp, aheadMs: number): EntryTime {
    return { base: leastBase, elapsedMs: this.#elapsedMs(), behindMs: this.behindMs + aheadMs };
  }

  get behindMs(): number {
    return this.#opened.behindMs;
  }

  /** Undefined: the entry is void, since it landed after the first entry of this epoch; its age is unknown. */
  ageOf({ seq, epoch }: Pick<LogRecord, 'seq' | 'epoch'>, time: EntryTime): EntryAge | undefined {
    const openMs = this.#elapsedMs();
    if (epoch === this.#opened.epoch) {
      const atLeastMs = openMs - time.elapsedMs;
      return { atLeastMs, byWallMs: atLeastMs };
    }
    if (seq > this.#opened.lastSeq) return undefined;
    const wallMs = (wallBase(this.#clock, time.behindMs ?? 0) - time.base) / 1000;
    return { atLeastMs: openMs, byWallMs: wallMs < 0 ? Number.POSITIVE_INFINITY : Math.max(openMs, wallMs) };
  }

  /** Whole ms since the first entry of the epoch. */
  #elapsedMs(): number {
    return Math.floor(this.#clock.monotonicMs() - this.#opened.openedAtMs);
  }
}
