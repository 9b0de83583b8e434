// The time of a slot, by which its grants expire. Invariant: a grant that any owner has once treated as expired never
// holds again, whatever the wall clocks of the owners say and however far they are apart.
//
// The log guarantees this. Bases of entries only grow, across owners too, since a new owner continues after the last
// entry. The *logged time* is that of the last entry of the log. Grants that expire up to then have expired for this
// owner and for every later one. So:
//   - A grant whose expiry lies behind the logged time has expired. The present, which is the greater of wall clock and
//     logged time, is not before its expiry.
//   - A grant whose expiry lies after the present holds.
//   - In between, the grant has expired by the wall clock, but not by the log. Its expiry is not reported until it is
//     in the log: the answer waits for an entry, an empty one if there are no writes, whose base is that of the wall
//     clock or later. If the wall clock was set back in the meantime, the grant still holds, and no answer has said
//     otherwise.
//
// The failures, and their effects:
//   - Death and takeover, a released slot, a process that was paused: the next owner reads the log to its end, and so
//     knows every time by which its predecessors have answered. Their clocks and leases do not matter.
//   - A restart of the only process with its wall clock set back: the same.
//   - A wall clock that is ahead: grants expire early, for good, since the log records it. Time then stops until wall
//     clocks catch up with the log, or until an operator sets it back.
//
// Time is set back by an entry (time-repair.ts). Bases still only grow, since they are also the stamps of rows. But
// from that entry on, the time of an entry is behind its base by as much as time was set back, and each entry says by
// how much. The entry is appended only once nothing is left that has ended by the time before it: such grants are
// collected, such keys are revoked. So nothing that any owner has treated as expired is there to hold again. The tenure
// ends with that entry: within a tenure, and for its readers, time never goes back.
//   - A wall clock that is behind: grants expire late; `checked_at` is the time at which they held.
//   - An expired lease: the owner answers nothing at all.

import type { Clock } from '../../core/async/clock.ts';
import {
  type GrantAttributes,
  type GrantTerms,
  hasExpired,
  isContingent,
  meetsNone,
} from '../../core/grant-attributes.ts';
import type { LogRecord, Stamp } from '../../store/store.ts';
import { type EntryTime, wallBase, wallStamp } from './entries.ts';

/** Whole ms. */
export const timeOfStamp = (stamp: Stamp): number => Math.floor(stamp / 1000);

interface TimedLog {
  readonly nextBase: Stamp;
  /** How far its time is behind its bases. */
  readonly behindMs: number;
}

/** The next base, less what time is behind it: what serves readers and fronts as time alone. */
export const timeBase = ({ nextBase, behindMs }: TimedLog): number => nextBase - behindMs * 1000;

export class SlotTime {
  readonly #clock: Pick<Clock, 'wallMs'>;
  readonly #log: TimedLog;

  constructor(clock: Pick<Clock, 'wallMs'>, log: TimedLog) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Grants that expire up to then have expired for good. */
  get loggedMs(): number {
    return timeOfStamp(timeBase(this.#log) - 1);
  }

  /** How far the logged time is ahead of the wall clock; 0: it is not. Meanwhile time stands still. */
  get aheadMs(): number {
    return Math.max(0, this.loggedMs - timeOfStamp(wallStamp(this.#clock)));
  }

  /** Never before the logged time. */
  get nowMs(): number {
    return Math.max(timeOfStamp(wallStamp(this.#clock)), this.loggedMs);
  }

  /** Whether a tuple holds at `nowMs`, where no condition is met. Undefined: the log has to reach that time first. */
  holds(facts: GrantAttributes | null, nowMs: number): boolean | undefined {
    if (facts === null || !meetsNone(facts)) return false;
    if (!hasExpired(facts, nowMs)) return true;
    return hasExpired(facts, this.loggedMs) ? false : undefined;
  }
}

/**
 * Which grants count for one listing or evaluation: those that exist at its time. If a listing meets grants that have
 * expired since the log was written, the log must reach their expiry before the listing may leave them out.
 */
export class ListingTime {
  readonly #loggedMs: number;
  readonly #nowMs: number;
  /** Whether the listing met a grant for which it must wait. */
  waits = false;
  /** Whether it met a contingent grant: at another time, or for another context, the answer may be another one. */
  depends = false;
  /** What it met ends no sooner: until then, the answer is the same. */
  endsMs = Number.POSITIVE_INFINITY;

  constructor({ loggedMs }: SlotTime, nowMs: number) {
    this.#loggedMs = loggedMs;
    this.#nowMs = nowMs;
  }

  /** Whether a grant holds where no condition is evaluated: one with a condition does not. */
  readonly holds = (terms: GrantTerms): boolean => this.keeps(terms) && meetsNone(terms);

  /** Whether a grant exists; whether its condition is met does not matter. */
  readonly keeps = (terms: GrantTerms): boolean => {
    if (isContingent(terms)) this.depends = true;
    if (!hasExpired(terms, this.#nowMs)) {
      if (terms.expiresAtMs !== undefined) this.endsMs = Math.min(this.endsMs, terms.expiresAtMs);
      return true;
    }
    if (!hasExpired(terms, this.#loggedMs)) this.waits = true;
    return false;
  };
}

// ---- the time and the age of entries ----
//
// Time in the log, as the owner of an epoch measures it: the time of the next entry, and the age of existing ones.
//   - `atLeastMs`: measured by this owner's monotonic clock; for earlier epochs, since it opened its own. Anything that
//     must not happen too early relies on this alone.
//   - `byWallMs`: for earlier epochs, the difference between the wall clocks of two owners. A clock that was ahead
//     leaves entries, and bases after them, that lie in the future until wall clocks catch up. Their age is unknown,
//     and they count as old, so that nothing waits for as long as a clock was wrong.
// Once time was set back (slot-time.ts), all of this goes by bases less what each entry says it is behind its base.

/** The end of the log as a tenure begins with it. */
export interface LogEnd {
  readonly slot: number;
  readonly epoch: number;
  readonly lastSeq: number;
  /** Whether the log contains the first entry of the tenure: no other owner can append any more. */
  readonly fenced: boolean;
  /** The smallest base that the next entry may have. */
  readonly nextBase: Stamp;
  /** How far the time of entries is behind their bases. */
  readonly behindMs: number;
  /** From which the entries of the tenure count their time, on the monotonic clock. */
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

  /** `opened`: the log as the tenure begins with it. */
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

  /** Whole ms since the tenure began. */
  #elapsedMs(): number {
    return Math.floor(this.#clock.monotonicMs() - this.#opened.openedAtMs);
  }
}
