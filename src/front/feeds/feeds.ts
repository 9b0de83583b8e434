// The change feeds that a front follows. Each session has at most one tail, however many followers. Invariants: the
// tails and the followers of a front are bounded, and so is what the tails keep; when the front closes, every follower
// is ended.

import type { Clock, Random } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import type { FeedFilter } from '../../core/change-feed.ts';
import { GrantdError } from '../../core/errors.ts';
import type { FeedPage, FeedQuery } from '../../shard/shard.ts';
import type { ChangesPage, ChangesQuery, FeedFollower, FeedStart, FeedSubscription } from '../changes.ts';
import { changesOf } from './feed-batch.ts';
import { FeedReader } from './feed-reader.ts';
import { Following } from './following.ts';
import { FEED_PAGE_LIMIT, Tail, type TailTotals } from './tail.ts';

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
  const { nextCursor: cursor, atMs, atEnd } = page;
  return { changes: changesOf(page), cursor, atMs, atEnd };
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
    return new Following({ clock, turns, tenantId, reader, tail }, filter, follower, first);
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
