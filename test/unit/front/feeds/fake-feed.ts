// The change feed of a tenant: its changes as an audit log in memory, committed by the test. A cursor is its place as
// text.

import { feedMatcher, parseFeedContent } from '../../../../src/core/change-feed.ts';
import { GrantdError } from '../../../../src/core/errors.ts';
import type { AuditRecord, FeedPage, FeedQuery } from '../../../../src/shard/shard.ts';

/** Rows that one page looks at. */
const LOOKED_AT_MAX = 50;

export class FakeFeed {
  readonly rows: AuditRecord[] = [];
  /** Cursors before this seq are too old. */
  keptFromSeq = 0;

  /** One entry with these changes, as JSON. */
  commit(...changes: readonly string[]): void {
    const seq = (this.rows.at(-1)?.seq ?? 0) + 1;
    const entry = { seq, atMs: 1_700_000_000_000 + seq, actor: 'operator:ann', requestId: `req_${seq}` };
    this.rows.push(...changes.map((change, index) => ({ ...entry, index, change })));
  }

  /** Entries that create one grant each: on doc:1, doc:2 and so on. */
  grant(count: number): void {
    for (let made = 0; made < count; made += 1) this.commit(grantCreated(`doc:${(this.rows.at(-1)?.seq ?? 0) + 1}`));
  }

  page({ cursor, sinceMs = 0, fromNow, limit, ...filter }: FeedQuery): FeedPage {
    const fits = feedMatcher(filter);
    const end = { seq: (this.rows.at(-1)?.seq ?? 0) + 1, index: -1 };
    const from = fromNow === true ? end : this.#placeOf(cursor);
    let next = from;
    const items: FeedPage['items'][number][] = [];
    let lookedAt = 0;
    for (const row of this.rows) {
      if (row.seq < from.seq || (row.seq === from.seq && row.index <= from.index) || row.atMs < sinceMs) continue;
      if (items.length === limit || lookedAt === LOOKED_AT_MAX) return this.#page(items, next, false);
      lookedAt += 1;
      next = row;
      const change = parseFeedContent(row.change);
      if (change === undefined || (fits !== undefined && !fits({ change }))) continue;
      items.push({ ...row, cursor: `${row.seq}.${row.index}` });
    }
    return this.#page(items, end, true);
  }

  #placeOf(cursor: string | undefined): { seq: number; index: number } {
    if (cursor === undefined) return { seq: this.keptFromSeq, index: -1 };
    const match = /^(\d+)\.(-?\d+)$/.exec(cursor);
    if (match === null) throw new GrantdError('invalid-cursor', 'Not a cursor.');
    const [seq = 0, index = 0] = match.slice(1).map(Number);
    if (seq >= this.keptFromSeq) return { seq, index };
    throw new GrantdError('cursor-too-old', 'Not kept.', { details: { earliest: `${this.keptFromSeq}.-1` } });
  }

  #page(items: FeedPage['items'], { seq, index }: { seq: number; index: number }, atEnd: boolean): FeedPage {
    return { items, nextCursor: `${seq}.${index}`, next: { seq, index }, atMs: 1_700_000_100_000, atEnd };
  }
}

export const grantCreated = (object: string, relation = 'viewer'): string =>
  JSON.stringify({ action: 'grant.created', subject: 'user:a', relation, object, grant_id: 'grt_1' });
