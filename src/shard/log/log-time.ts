// Time in the log, as the owner of one epoch reckons it: when the next entry is made, and how old those are that stand.
//   - at least: what this owner's monotonic clock has measured, of earlier epochs since it opened its own. Nothing that
//     may not happen too soon goes by anything else.
//   - by the wall clock: of earlier epochs what the clocks of two owners make of it. One that was ahead leaves entries
//     of the future, and bases that stand there until wall clocks have caught up: those say nothing about their age,
//     and count as old, so that nothing waits for as long as a clock was wrong.

import type { Clock } from '../../core/async/clock.ts';
import type { LogRecord, Stamp } from '../../store/store.ts';
import { type EntryTime, wallStamp } from './entries.ts';

/** Where the log ends once the tenure's first entry stands in it. */
export interface LogEnd {
  readonly slot: number;
  readonly epoch: number;
  readonly lastSeq: number;
  /** The least base of the next entry. */
  readonly nextBase: Stamp;
  /** When the first entry was made, on the monotonic clock. */
  readonly openedAtMs: number;
}

export interface EntryAge {
  readonly atLeastMs: number;
  /** Infinite where the entry is of the future. */
  readonly byWallMs: number;
}

export class LogTime {
  readonly #clock: Clock;
  readonly #opened: LogEnd;

  /** `opened`: the log as the first entry of the epoch has left it. */
  constructor(clock: Clock, opened: LogEnd) {
    this.#clock = clock;
    this.#opened = opened;
  }

  /** For an entry that is made now. */
  next(leastBase: Stamp): EntryTime {
    return { base: Math.max(leastBase, wallStamp(this.#clock)), elapsedMs: this.#elapsedMs() };
  }

  /** Undefined: the entry is void, since it landed behind the first of this epoch, and nothing says when. */
  ageOf({ seq, epoch }: Pick<LogRecord, 'seq' | 'epoch'>, time: EntryTime): EntryAge | undefined {
    const openMs = this.#elapsedMs();
    if (epoch === this.#opened.epoch) {
      const atLeastMs = openMs - time.elapsedMs;
      return { atLeastMs, byWallMs: atLeastMs };
    }
    if (seq > this.#opened.lastSeq) return undefined;
    const wallMs = (wallStamp(this.#clock) - time.base) / 1000;
    return { atLeastMs: openMs, byWallMs: wallMs < 0 ? Number.POSITIVE_INFINITY : Math.max(openMs, wallMs) };
  }

  /** Whole ms since the first entry of the epoch. */
  #elapsedMs(): number {
    return Math.floor(this.#clock.monotonicMs() - this.#opened.openedAtMs);
  }
}
