// The port of the change feed of a tenant, as HTTP sees it: pages, and followers that get every change once it is
// durable. Invariants: a follower gets the changes in the order of the log, none is left out, and nothing comes after
// its end.

import type { FeedChange, FeedFilter } from '../core/change-feed.ts';
import type { GrantdError } from '../core/errors.ts';

/** Where to begin. Neither: with the oldest change that is kept. */
export interface FeedStart {
  readonly cursor?: string | undefined;
  /** Wall clock, ms since the Unix epoch; or only what comes from now on. */
  readonly since?: number | 'now' | undefined;
}

export interface ChangesQuery extends FeedStart {
  readonly filter: FeedFilter;
  readonly limit: number;
  /** How long an empty page may wait for a change, in ms; at most 5,000. */
  readonly waitMs: number;
}

/** In the order of the log. */
export interface FeedBatch {
  readonly changes: readonly FeedChange[];
  /** Every change up to here that fits has been delivered. */
  readonly cursor: string;
  /** So has every one of the entries up to this one: none of them is half delivered. */
  readonly seq: number;
  /** Time of the owner when that was so; wall clock, ms since the Unix epoch. */
  readonly atMs: number;
}

export interface ChangesPage extends FeedBatch {
  /** Nothing more was committed when this was read. */
  readonly atEnd: boolean;
}

/** Called in order, never again after `end`, and first after the promise of its subscription has resolved. */
export interface FeedFollower {
  /**
   * New changes, of which some, or all, may not fit the filter: the follower applies it. All followers of a session
   * share the batch, so they can share what is encoded from it. An empty batch is a new checkpoint. False: the
   * follower is behind, and nothing more comes until it calls `resume`. A follower that is further behind than the
   * front remembers gets pages again. The follower itself decides when it is too slow, and closes.
   */
  take(batch: FeedBatch): boolean;
  /** The feed has ended: for good with this error, or because the front is closing (undefined). */
  end(error: GrantdError | undefined): void;
}

export interface FeedSubscription {
  resume(): void;
  close(): void;
}
