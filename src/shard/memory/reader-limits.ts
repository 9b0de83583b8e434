// The bounds of what an owner keeps for the readers of its tenants, and of the readers themselves.

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
});
