// What the call about the change feed takes and returns, as part of the port of a shard (shard.ts).

import type { FeedFilter, FeedPlace } from '../core/change-feed.ts';
import type { AuditRecord } from './audit-log-calls.ts';

/** Where the feed begins: at a cursor, at a time, now, or with the oldest change that is kept. */
export interface FeedQuery extends FeedFilter {
  readonly cursor?: string | undefined;
  /** Changes at or after this time; wall clock, ms since the Unix epoch. */
  readonly sinceMs?: number | undefined;
  /** Only what is committed from now on. */
  readonly fromNow?: boolean | undefined;
  readonly limit: number;
  /** How long an empty page waits for a change. Up to `FEED_WAIT_MS_MAX`. */
  readonly waitMs: number;
}

export interface FeedRecord extends AuditRecord {
  /** Where the feed goes on after this change. */
  readonly cursor: string;
}

export interface FeedPage {
  readonly items: readonly FeedRecord[];
  /** Where the feed goes on: everything before it that fits is in this page, or came earlier. */
  readonly nextCursor: string;
  /** The place of that cursor. */
  readonly next: FeedPlace;
  /** Time of the owner; wall clock, ms since the Unix epoch. */
  readonly atMs: number;
  /** Nothing more was committed when this was read. */
  readonly atEnd: boolean;
}
