// The change feeds that a front follows. Each session has at most one tail, however many followers. Invariants: the
// tails and the followers of a front are bounded, and so is what the tails keep; when the front closes, every follower
// is ended.

import type { Clock, Random } from '../../core/async/clock.ts';
import { type Turns, turnOf } from '../../core/async/turns.ts';
import { type FeedFilter, type FeedPlace, wholeSeq } from '../../core/change-feed.ts';
import { GrantdError } from '../../core/errors.ts';
import type { FeedPage, FeedQuery } from '../../shard/shard.ts';
import type { ChangesPage, ChangesQuery, FeedFollower, FeedStart, FeedSubscription } from '../changes.ts';
import {
  batchOf,
  changesOf,
  FEED_PAGE_LIMIT,
  FeedReader,
  type PlacedBatch,
  Tail,
  type TailFollower,
  type TailTotals,
} from './tail.ts';

/** Keys with followers: each takes a call that waits, of those that may be in flight, and of what a shard lets wait. */
const TAILS_MAX = 2000;
/** Far more than a front can hold connections for; HTTP bounds them before. */
const FOLLOWERS_MAX = 50_000;
const HELD_BYTES_MAX = 32 * 1024 * 1024;

export interface FeedsDependencies {
  readonly clock: Clock;
  readonly turns: Turns;
  readonly random: Random;
}

/** A session, as far as its feed goes. */
export interface FollowedSession {
  readonly tenantId: string;
  /** Rejects with a GrantdError. */
  readonly readPage: (query: FeedQuery) => Promise<FeedPage>;
}

const startOf = ({ cursor, since }: FeedStart): Partial<FeedQuery> => ({
  cursor,
  ...(since === 'now' ? { fromNow: true } : { sinceMs: since }),
});

export const feedQueryOf = ({ filter, limit, waitMs, ...start }: ChangesQuery): FeedQuery => ({
  ...startOf(start),
  ...filter,
  limit,
  waitMs,
});

export function changesPageOf(page: FeedPage): ChangesPage {
  const { nextCursor: cursor, next, atMs, atEnd } = page;
  return { changes: changesOf(page), cursor, seq: wholeSeq(next), atMs, atEnd };
}

export class Feeds {
  readonly #dependencies: FeedsDependencies;
  readonly #tails = new Map<FollowedSession, Tail>();
  readonly #totals: TailTotals = { followers: 0, bytes: 0, bytesMax: HELD_BYTES_MAX };
  #closed = false;

  constructor(dependencies: FeedsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Rejects with the error of the first read, or as `overloaded`. */
  async follow(
    session: FollowedSession,
    start: FeedStart,
    filter: FeedFilter,
    follower: FeedFollower,
  ): Promise<FeedSubscription> {
    const { clock, turns, random } = this.#dependencies;
    const { tenantId, readPage } = session;
    const reader = new FeedReader({ clock, random, readPage });
    const first = await reader.readOnce({ ...startOf(start), ...filter, limit: FEED_PAGE_LIMIT, waitMs: 0 });
    const tail = this.#tailOf(session, reader);
    return new FollowerSubscription({ clock, turns, tenantId, reader, tail }, filter, follower, first);
  }

  get tails(): number {
    return this.#tails.size;
  }

  /** What all tails keep. */
  get heldBytes(): number {
    return this.#totals.bytes;
  }

  /** Ends every follower without an error, and refuses those that come later. */
  close(): void {
    this.#closed = true;
    for (const tail of [...this.#tails.values()]) tail.close();
  }

  #tailOf(session: FollowedSession, reader: FeedReader): Tail {
    if (this.#closed) throw new GrantdError('unavailable', 'The service is shutting down.');
    const known = this.#tails.get(session);
    if (this.#totals.followers >= FOLLOWERS_MAX || (known === undefined && this.#tails.size >= TAILS_MAX)) {
      throw new GrantdError('overloaded', 'Too many streams of changes are open.');
    }
    if (known !== undefined) return known;
    const { clock, turns } = this.#dependencies;
    const { tenantId } = session;
    const tail: Tail = new Tail({
      clock,
      turns,
      tenantId,
      reader,
      totals: this.#totals,
      onEnded: () => this.#tails.delete(session),
    });
    this.#tails.set(session, tail);
    return tail;
  }
}

// ---- one follower ----
//
// One follower of a change feed, from its start to its end. It reads pages until it has reached the tail, as fast as it
// takes them, and goes on from there. If it falls behind further than the tail remembers, it reads pages again.
// Invariant: its place only moves forward, over everything that fits; each change that fits is given once, in the order
// of the log; and nothing is given while it is behind, or after its end.

const isSame = (left: FeedPlace, right: FeedPlace): boolean => left.seq === right.seq && left.index === right.index;

/** What parsing a page costs. */
const PAGE_MS = 0.5;

export interface SubscriptionDependencies {
  readonly clock: Clock;
  readonly turns: Turns;
  readonly tenantId: string;
  readonly reader: FeedReader;
  readonly tail: Tail;
}

export class FollowerSubscription implements FeedSubscription, TailFollower {
  readonly #dependencies: SubscriptionDependencies;
  readonly #filter: FeedFilter;
  readonly #follower: FeedFollower;
  #place: FeedPlace;
  #cursor: string;
  /** The last page was the end of the log. */
  #atEnd: boolean;
  /** The follower is behind. */
  #paused = false;
  #ended = false;
  #reading = false;
  #giving = false;

  /** `first`: the page with which it starts. */
  constructor(dependencies: SubscriptionDependencies, filter: FeedFilter, follower: FeedFollower, first: FeedPage) {
    this.#dependencies = dependencies;
    this.#filter = filter;
    this.#follower = follower;
    this.#place = first.next;
    this.#cursor = first.nextCursor;
    this.#atEnd = first.atEnd;
    this.#reading = true;
    dependencies.tail.add(this);
    // The caller gets its subscription before its first batch.
    dependencies.clock.setImmediate(() => {
      this.#give(batchOf(first, undefined));
      this.#reading = false;
      this.#go();
    });
  }

  resume(): void {
    if (!this.#paused || this.#ended) return;
    this.#paused = false;
    this.#go();
  }

  close(): void {
    this.#ended = true;
    this.#dependencies.tail.remove(this);
  }

  advance(latest: PlacedBatch): void {
    if (!this.#goesOn || this.#reading || this.#giving) return;
    // Followers that have kept up are where the batch begins. An empty batch counts too, though it leads no further.
    if (isSame(latest.from, this.#place)) this.#give(latest);
    else if (isSame(latest.to, this.#place) && latest.changes.length === 0) this.#give(latest);
    else this.#go();
  }

  end(error: GrantdError | undefined): void {
    if (this.#ended) return;
    this.close();
    this.#follower.end(error);
  }

  get #goesOn(): boolean {
    return !this.#paused && !this.#ended;
  }

  /** Gives what is known, or reads on. */
  #go(): void {
    if (!this.#goesOn || this.#reading || this.#giving) return;
    const { tail } = this.#dependencies;
    if (tail.covers(this.#place)) {
      for (const batch of tail.after(this.#place)) if (!this.#give(batch)) return;
      return;
    }
    this.#reading = true;
    void this.#read();
  }

  /** Whether the follower takes more. */
  #give(batch: PlacedBatch): boolean {
    if (this.#ended) return false;
    this.#place = batch.to;
    this.#cursor = batch.cursor;
    this.#giving = true;
    // It may resume before it has said that it is behind.
    this.#paused = true;
    try {
      if (this.#follower.take(batch)) this.#paused = false;
    } catch (error) {
      this.end(GrantdError.from(error));
    } finally {
      this.#giving = false;
    }
    return this.#goesOn;
  }

  async #read(): Promise<void> {
    const { tail, turns, tenantId, reader } = this.#dependencies;
    const wanted = (): boolean => !this.#ended;
    try {
      while (this.#goesOn && !tail.covers(this.#place)) {
        if (this.#atEnd && !tail.isLocated) await tail.located;
        const page = await reader.read(
          { ...this.#filter, cursor: this.#cursor, limit: FEED_PAGE_LIMIT, waitMs: 0 },
          wanted,
        );
        if (page === undefined) return;
        await turnOf(turns, tenantId, PAGE_MS);
        this.#atEnd = page.atEnd;
        this.#give(batchOf(page, this.#place));
      }
    } catch (error) {
      this.end(GrantdError.from(error));
    }
    this.#reading = false;
    this.#go();
  }
}
