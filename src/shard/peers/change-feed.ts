// The change feed of a tenant: the part of its audit log that tenants may follow, from any place that is still kept.
// Invariants: the pages of a feed, put together, are the changes of the log that fit, in its order, none left out and
// none twice, whatever owners served them. A change is delivered only once it is durable, by a tenure that serves.
//
// What lies behind is read from the state tables, up to the entry that was the last one when the read began, and once
// they contain that entry: a row that came later would otherwise lie behind the reader. What is recent comes from
// memory (recent-items.ts), which has all changes after some place, or none. A call at the end waits there.

import { turnOf } from '../../core/async/turns.ts';
import {
  type FeedContent,
  type FeedPlace,
  feedMatcher,
  parseFeedContent,
  RULES_UPDATED_TEXT,
  relationsIn,
} from '../../core/change-feed.ts';
import { GrantdError } from '../../core/errors.ts';
import { hasScope } from '../../core/scopes.ts';
import { formatTimestamp } from '../../core/text/timestamps.ts';
import type { Grant } from '../../core/tuples.ts';
import type { AuditLogRow } from '../../store/store.ts';
import { timeOfStamp } from '../log/slot-time.ts';
import type { ServedTenure } from '../log/tenure.ts';
import { monthBeside, monthOf } from '../log-changes.ts';
import { contentOf, type RecentChange, type RecentChanges } from '../memory/recent-items.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { FeedPage, FeedQuery, FeedRecord, GrantsPage, ResultPage } from '../shard.ts';
import { endsEarly } from '../store-calls.ts';
import { type AuditRetention, auditRecordOf, readAuditLog } from './audit-log-rows.ts';
import type { Handle } from './handles.ts';
import { cursorAt, type Listing, type ListingContext, pinDeclared, positionOf } from './listings.ts';
import type { Handler } from './peer.ts';

/** Rows read at once if most of them may not fit. */
const ROWS_PER_READ_MIN = 1000;
/** Reads of the store for one page, which then ends early: 10,000 rows, or months without changes. */
const READS_MAX = 10;
/** A page reads no more after this time: far below a request's deadline, in case the store is slow. */
const READING_MS_MAX = 2000;
/** Characters of the changes in one page, besides those of its last one: with three bytes each, they fit a message. */
const PAGE_LENGTH_MAX = 768 * 1024;
/** Recent changes that one page looks at, if most of them do not fit. */
const LOOKED_AT_MAX = 1000;
/** The cost of a change in the turns of tenants: filtered, and its cursor signed. */
const CHANGE_MS = 0.006;
/** Cursors signed in one step: a millisecond or two. */
const SIGNED_PER_STEP = 250;

/** Where a feed continues: after (seq, index), among the changes of entries made at `timeMs` or later. */
interface Position extends FeedPlace {
  readonly timeMs: number;
  /** Changes made before this time are left out until the first one that was not. */
  readonly sinceMs?: number | undefined;
  /** Everything up to this time has been delivered; absent: up to `timeMs`. A slot without entries stands still. */
  readonly asOfMs?: number | undefined;
}

type Fits = (change: { readonly change: FeedContent }) => boolean;

interface FeedRow {
  readonly row: AuditLogRow;
  readonly position: Position;
  readonly action: FeedContent['action'];
  /** Once it is signed. */
  cursor?: string | undefined;
  /** Where that is remembered for the next page. */
  readonly recent?: RecentChange | undefined;
}

interface Page {
  readonly told: readonly FeedRow[];
  readonly next: Position;
  readonly atEnd: boolean;
}

type Feed = Pick<Handle, 'tenure' | 'memory'>;

const scopeOf = (memory: TenantMemory): readonly string[] => ['changes', memory.tenantId];

function signed(context: ListingContext, { memory }: Feed, position: Position): string {
  const { seq, index, timeMs, sinceMs = 0, asOfMs = 0 } = position;
  const numbers = [seq, index, timeMs, sinceMs, asOfMs];
  return cursorAt(context, scopeOf(memory), numbers.map(String));
}

/** The place after every change so far: every later one has a greater seq, and an entry with no smaller time. */
const endOf = ({ lastSeq, nextBase, slotTime }: ServedTenure): Position => ({
  seq: lastSeq + 1,
  index: -1,
  timeMs: timeOfStamp(nextBase),
  asOfMs: slotTime.nowMs,
});

/** Adds the cursor for what is committed from now on, before the page is read, to a listing of grants. */
export const withFeedCursor =
  <Query, Page extends ResultPage<Grant>>(
    read: (context: ListingContext, listing: Listing, query: Query) => Promise<Page>,
  ) =>
  async (context: ListingContext, listing: Listing, query: Query): Promise<Page & GrantsPage> => {
    const feedCursor = signed(context, listing, endOf(listing.tenure));
    return { ...(await read(context, listing, query)), feedCursor };
  };

/** Rejects with an error of the catalogue, or with a ShardFailure. */
export const readChanges: Handler<'readChanges'> = async ({ shard: context, handles, waits, kept }, by, query) => {
  const { clock } = context;
  const handle = handles.use(by.handle);
  if (query.cursor === undefined) await demandFilter(handle.memory, query);
  const fits = feedMatcher(query);
  const untilMs = clock.monotonicMs() + waitOf(handle, query.waitMs);
  let position = startOf(context, handle, query, await kept.read());
  while (true) {
    const { memory, tenure } = handle;
    const recent = query.waitMs > 0 ? memory.followChanges(tenure.lastSeq) : memory.recentChanges;
    const page =
      recent?.covers(position) === true
        ? recentPage(handle.tenure, recent, position, fits, query.limit)
        : await storedPage(context, handle, position, fits, query.limit);
    await sign(context, handle, page.told);
    handle.tenure.assertServing();
    handles.assertGood(handle);
    const isLast = recent === undefined || waits.ended || clock.monotonicMs() >= untilMs;
    if (page.told.length > 0 || !page.atEnd || isLast) return tell(context, handle, page);
    position = page.next;
    // Another change may have been committed while the store was read.
    if (position.seq <= handle.tenure.lastSeq) continue;
    await waits.until(recent, untilMs);
    // The calls that wait for the same change continue in the turns of the tenant.
    await turnOf(handle.tenure.budget.turns, handle.memory.tenantId, CHANGE_MS);
    handle.tenure.assertServing();
    handles.assertGood(handle);
  }
};

/** A cursor goes on although a relation has been removed since: its last revocations may still lie ahead. */
async function demandFilter(memory: TenantMemory, query: FeedQuery): Promise<void> {
  using _rules = await pinDeclared(memory, relationsIn(query));
}

/** A call under a key that expires does not wait beyond that. */
function waitOf({ use, expiresAtMs, tenure }: Handle, waitMs: number): number {
  if (use === undefined || expiresAtMs === undefined) return waitMs;
  return Math.min(waitMs, Math.max(0, expiresAtMs - tenure.slotTime.nowMs));
}

function startOf(
  context: ListingContext,
  feed: Feed,
  { cursor, sinceMs, fromNow }: FeedQuery,
  kept: AuditRetention,
): Position {
  const { tenure, memory } = feed;
  const end = endOf(tenure);
  if (fromNow === true) return end;
  const nowMs = Math.max(context.clock.wallMs(), tenure.slotTime.loggedMs);
  const keptFromMs = nowMs - kept.keptMs;
  const { createdAtMs } = memory.tenant;
  if (cursor !== undefined) {
    const position = positionIn(positionOf(context, scopeOf(memory), cursor) ?? []);
    if (position.seq > end.seq) throw new GrantdError('invalid-cursor', '"cursor" is ahead of the log.');
    if ((position.asOfMs ?? position.timeMs) < keptFromMs) throw tooOld(context, feed, nowMs, kept);
    return position;
  }
  if (sinceMs === undefined) return earliest(feed, nowMs, kept);
  if (sinceMs < keptFromMs && createdAtMs < keptFromMs) throw tooOld(context, feed, nowMs, kept);
  // Nothing that exists was made then.
  if (sinceMs > nowMs) return end;
  return { seq: 0, index: -1, timeMs: Math.min(Math.max(sinceMs, createdAtMs), end.timeMs), sinceMs };
}

const zeroAsUndefined = (ms: number): number | undefined => (ms === 0 ? undefined : ms);

function positionIn(texts: readonly string[]): Position {
  const [seq = Number.NaN, index = 0, timeMs = 0, sinceMs = 0, asOfMs = 0] = texts.map(Number);
  if ([seq, index, timeMs, sinceMs, asOfMs].every(Number.isSafeInteger)) {
    return { seq, index, timeMs, sinceMs: zeroAsUndefined(sinceMs), asOfMs: zeroAsUndefined(asOfMs) };
  }
  throw new GrantdError('invalid-cursor', '"cursor" contains no position.');
}

function earliest({ tenure, memory }: Feed, nowMs: number, { earliestMs }: AuditRetention): Position {
  const { createdAtMs } = memory.tenant;
  const fromMs = nowMs - earliestMs;
  const timeMs = Math.min(Math.max(createdAtMs, fromMs), endOf(tenure).timeMs);
  const start = { seq: 0, index: -1, timeMs };
  return createdAtMs >= fromMs ? start : { ...start, sinceMs: timeMs };
}

function tooOld(context: ListingContext, feed: Feed, nowMs: number, kept: AuditRetention): GrantdError {
  const from = earliest(feed, nowMs, kept);
  const cursor = signed(context, feed, from);
  const keptFrom = formatTimestamp(from.timeMs);
  return new GrantdError('cursor-too-old', `Changes before ${keptFrom} are no longer kept.`, {
    details: { earliest: cursor },
  });
}

// ---- pages ----

/** A page that fills, in the order of the log. */
class PageBuilder {
  readonly told: FeedRow[] = [];
  readonly #limit: number;
  readonly #fits: Fits | undefined;
  #sinceMs: number | undefined;
  #length = 0;
  /** Everything up to here has been looked at. */
  next: Position;

  constructor(from: Position, fits: Fits | undefined, limit: number) {
    this.#limit = limit;
    this.#fits = fits;
    this.#sinceMs = from.sinceMs;
    this.next = from;
  }

  get isFull(): boolean {
    return this.told.length >= this.#limit || this.#length >= PAGE_LENGTH_MAX;
  }

  /** Whether most rows may be left out. */
  get selective(): boolean {
    return this.#fits !== undefined || this.#sinceMs !== undefined;
  }

  add(
    { row, position: { seq, index, timeMs }, ...known }: Omit<FeedRow, 'action'>,
    content: FeedContent | undefined,
  ): void {
    if (this.#sinceMs !== undefined && row.atMs >= this.#sinceMs) this.#sinceMs = undefined;
    const position = { seq, index, timeMs, sinceMs: this.#sinceMs };
    this.next = position;
    if (this.#sinceMs !== undefined || content === undefined) return;
    if (this.#fits !== undefined && !this.#fits({ change: content })) return;
    this.#length += row.change.length;
    this.told.push({ row, position, action: content.action, ...known });
  }

  /** Nothing is left before this place. */
  page(end: Position): Page {
    return { told: this.told, next: end, atEnd: true };
  }

  /** There may be more. */
  get part(): Page {
    return { told: this.told, next: this.next, atEnd: false };
  }
}

function recentPage(
  tenure: ServedTenure,
  recent: RecentChanges,
  from: Position,
  fits: Fits | undefined,
  limit: number,
): Page {
  const filling = new PageBuilder(from, fits, limit);
  let lookedAt = 0;
  for (const change of recent.after(from)) {
    if (filling.isFull || lookedAt === LOOKED_AT_MAX) return filling.part;
    lookedAt += 1;
    const { row, timeMs, cursor } = change;
    const position = { seq: row.seq, index: row.index, timeMs };
    filling.add({ row, position, cursor, recent: change }, contentOf(change));
  }
  return filling.page(endOf(tenure));
}

async function storedPage(
  context: ListingContext,
  { tenure, memory }: Feed,
  from: Position,
  fits: Fits | undefined,
  limit: number,
): Promise<Page> {
  const { clock } = context;
  const filling = new PageBuilder(from, fits, limit);
  // Taken first: whatever the state tables get from here on is left to the next page.
  const end = endOf(tenure);
  if (from.seq >= end.seq) return filling.page(end);
  await tenure.applied();
  const enoughAtMs = clock.monotonicMs() + READING_MS_MAX;
  const log = { tenantId: memory.tenantId, newestFirst: false };
  const lastMonth = monthOf(end.timeMs);
  let month = monthOf(from.timeMs);
  let after: FeedPlace | undefined = from;
  for (let reads = 0; month <= lastMonth; reads += 1) {
    if (reads === READS_MAX || (reads > 0 && clock.monotonicMs() >= enoughAtMs)) {
      return { ...filling.part, next: { ...filling.next, timeMs: timeIn(month, filling.next.timeMs) } };
    }
    const rowsMax = Math.max(limit + 1 - filling.told.length, filling.selective ? ROWS_PER_READ_MIN : 0);
    const rows = await readAuditLog(context, tenure, log, { month, after }, rowsMax);
    for (const row of rows) {
      if (row.seq >= end.seq) return filling.page(end);
      if (filling.isFull) return filling.part;
      const { seq, index } = row;
      filling.add({ row, position: { seq, index, timeMs: timeIn(month, row.atMs) } }, parseFeedContent(row.change));
    }
    const last = endsEarly(rows, rowsMax) ? rows.at(-1) : undefined;
    if (last === undefined) month = monthBeside(month, 1);
    after = last;
  }
  return filling.page(end);
}

/** The time of an entry in a month, from the time of its change, which may be in another month. */
function timeIn(month: string, atMs: number): number {
  const startMs = Date.parse(`${month}-01T00:00:00.000Z`);
  if (atMs < startMs) return startMs;
  return monthOf(atMs) === month ? atMs : Date.parse(`${monthBeside(month, 1)}-01T00:00:00.000Z`) - 1;
}

/** Signs the cursors of all changes, in the turns of the tenant. */
async function sign(context: ListingContext, handle: Handle, told: readonly FeedRow[]): Promise<void> {
  const { turns } = handle.tenure.budget;
  for (const [index, each] of told.entries()) {
    if (index > 0 && index % SIGNED_PER_STEP === 0) {
      await turnOf(turns, handle.memory.tenantId, SIGNED_PER_STEP * CHANGE_MS);
    }
    each.cursor ??= signed(context, handle, each.position);
    if (each.recent !== undefined) each.recent.cursor = each.cursor;
  }
}

/** Nothing is awaited between the last look at the handle and this. */
function tell(context: ListingContext, handle: Handle, { told, next, atEnd }: Page): FeedPage {
  const mayReadRules = hasScope(handle.scopes, 'admin');
  const items = told.map(({ row, action, cursor = '' }): FeedRecord => {
    const record = { ...auditRecordOf(row), cursor };
    return action === 'rules.updated' && !mayReadRules ? { ...record, change: RULES_UPDATED_TEXT } : record;
  });
  const { seq, index } = next;
  const atMs = handle.tenure.slotTime.nowMs;
  return { items, nextCursor: signed(context, handle, next), next: { seq, index }, atMs, atEnd };
}
