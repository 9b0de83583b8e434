// The bounds within which subjects are kept in memory and read from the store, and those of readers.

import { REVOKED_PER_CALL_MAX } from '../../core/limits.ts';
import { SUBJECT_BUCKETS } from '../../core/slots.ts';

export interface PageLimits {
  /** Live rows and tombstone rows up to which a page is kept whole, and tuples of a sparse page. */
  readonly rowsMax: number;
  /** Estimated bytes up to which a page is kept whole. */
  readonly bytesMax: number;
  /** Rows in one read of the store; one step of the event loop processes them. */
  readonly rowsPerRead: number;
  /** Reads of the store for a sparse page after which its remaining rows are read. */
  readonly readsBeforeWhole: number;
  /** Rows in one read of the store for a listing, whatever limit the listing has. */
  readonly rowsPerListing: number;
  /** Subjects of a tenant that are read before all its subjects are; more, if it has many. Infinite: never. */
  readonly readsBeforeScan: number;
  /** Grants that one call revokes by a filter. */
  readonly revokedPerCall: number;
}

/**
 * 10,000 rows of short objects take 0.4 MiB; of the longest ones they would take 12 MiB. Processing 256 rows takes a
 * millisecond or two. A sparse page is read to its end only after 32 reads about it.
 */
export const PAGE_LIMITS: PageLimits = Object.freeze({
  rowsMax: 10_000,
  bytesMax: 2 * 1024 * 1024,
  rowsPerRead: 256,
  readsBeforeWhole: 32,
  // The longest page of a listing plus one row, which shows whether there is a next page.
  rowsPerListing: 1001,
  // Reading all subjects takes a read for each of their buckets.
  readsBeforeScan: SUBJECT_BUCKETS,
  revokedPerCall: REVOKED_PER_CALL_MAX,
});

// ---- readers ----

/** Limits of what an owner keeps for the readers of its tenants, and of the readers themselves. */
export interface ReaderLimits {
  /** Bytes of the recent commits of a tenant, and as many of the recent changes that its feed follows. */
  readonly recentBytesMax: number;
  /** After this time without a question, a tenant has no followers. */
  readonly followedMs: number;
  /** A reader that no call has used for so long ends. */
  readonly idleMs: number;
  /** Characters of commits that a reader parses in one step. */
  readonly charactersPerStep: number;
  /** A tenant whose readers are `auto` loses one after so long in which fewer would do. */
  readonly shrinkAfterMs: number;
  /** For how long an owner promises at most that it shows no commit of a tenant: as long as a write waits, once. */
  readonly quietMs: number;
  /** A tenant without a commit for so long will probably have none soon. */
  readonly restedMs: number;
}

export const READER_LIMITS: ReaderLimits = Object.freeze({
  // Seconds of a tenant that writes as fast as it can: as long as a follower takes to come back after a failover.
  recentBytesMax: 2 * 1024 * 1024,
  // Followers ask every few seconds.
  followedMs: 60_000,
  // A reader that is not used for so long would soon lack commits that the owner no longer keeps.
  idleMs: 30_000,
  charactersPerStep: 16 * 1024,
  shrinkAfterMs: 300_000,
  // Longer ones save little: a front asks 25 times a second then.
  quietMs: 40,
  restedMs: 1000,
});
