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
import type { Stamp } from '../../store/store.ts';
import { wallStamp } from './entries.ts';

/** Whole ms. */
export const timeOfStamp = (stamp: Stamp): number => Math.floor(stamp / 1000);

/** The end of a log. */
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

  constructor({ loggedMs }: SlotTime, nowMs: number) {
    this.#loggedMs = loggedMs;
    this.#nowMs = nowMs;
  }

  /** Whether a grant holds where no condition is evaluated: one with a condition does not. */
  readonly holds = (terms: GrantTerms): boolean => this.keeps(terms) && meetsNone(terms);

  /** Whether a grant exists; whether its condition is met does not matter. */
  readonly keeps = (terms: GrantTerms): boolean => {
    if (isContingent(terms)) this.depends = true;
    if (!hasExpired(terms, this.#nowMs)) return true;
    if (!hasExpired(terms, this.#loggedMs)) this.waits = true;
    return false;
  };
}
