// The audit log of a tenant: every change, ordered by its place in the log. It is read from the state tables, up to
// what was committed when the call began. Beyond that, state may still have gaps, and a reader that continues after a
// gap never sees what fills it later. A deleted tenant keeps its audit log, so that operators can see who deleted it.
//
// Rows are keyed by tenant and month, without an index, so a filter applies to rows after they are read. Each call
// therefore reads a bounded number of rows, for a bounded time. A page may be short or empty, with a cursor after the
// last row that was read. Every read passes the gate of its tenant and waits for its turn, like reads of grants, so
// that other work gets its share.

import type { Clock } from '../../core/async/clock.ts';
import { auditMatcher, type FilteredEntry, filterScope } from '../../core/audit-log.ts';
import { GrantdError } from '../../core/errors.ts';
import { isDerivedId, parseTenantId, type TenantId, timeOfId } from '../../core/ids.ts';
import { formatTimestamp } from '../../core/text/timestamps.ts';
import type { AuditLogRow } from '../../store/store.ts';
import type { Tenure } from '../log/tenure.ts';
import { monthBeside, monthOf } from '../log-changes.ts';
import type { AuditLogPage, AuditLogQuery } from '../shard.ts';
import { endsEarly } from '../store-calls.ts';
import { type AuditLogPlace, auditRecordOf, type KeptAuditLog, readAuditLog } from './audit-log-rows.ts';
import { cursorAt, type ListingContext, positionOf } from './listings.ts';
import type { Handler } from './peer.ts';
import { noTenant } from './tenants.ts';

/** Rows read at once if most of them may not match. Filtered in a millisecond or two. */
const ROWS_PER_READ_MIN = 1000;
/**
 * Maximum of reads per call. Months without changes and rows that do not match also cost reads, so a page may end
 * early, after 50,000 rows at most.
 */
export const READS_MAX = 50;
/** A call reads no more after this time: far below a request's deadline, in case the store is slow. */
export const READING_MS_MAX = 2000;
/**
 * Characters of the changes in one page, besides those of its last one: with three bytes each, a page fits into a
 * message. Changes of rules have up to 257 Ki of them.
 */
const PAGE_LENGTH_MAX = 1024 * 1024;
/**
 * How far the time of a change may lie behind the time of its log entry, which never decreases: as far as the clocks of
 * owners differ, or were set back. It bounds how far beyond a time range the call reads.
 */
const CLOCK_STEP_MS = 24 * 3_600_000;

export interface AuditLogContext extends ListingContext {
  readonly kept: KeptAuditLog;
}

interface Bounds {
  readonly tenantId: TenantId;
  readonly fits: ((row: FilteredEntry) => boolean) | undefined;
  readonly newestFirst: boolean;
  readonly sinceMs: number;
  readonly untilMs: number;
  /** The last seq to include. */
  readonly end: number;
  readonly firstMonth: string;
  readonly lastMonth: string;
}

interface PlacedRow extends AuditLogPlace {
  readonly row: AuditLogRow;
}

interface Read {
  readonly found: readonly PlacedRow[];
  /** Where to continue, if reading stopped early. */
  readonly rest?: AuditLogPlace;
  /** If reading stopped early: the time of the last change that was read. */
  readonly scannedToMs?: number | undefined;
}

/** How far back the audit log of a removed tenant is looked for: it is kept for 400 days. */
const AUDIT_LOG_SEARCHED_MS = 450 * 24 * 3_600_000;

export const listAuditLog: Handler<'listAuditLog'> = async (peer, _, query) => {
  const tenantId = parseTenantId(query.tenantId);
  if (tenantId === undefined) throw noTenant(query.tenantId);
  const tenure = peer.tenureOf(tenantId);
  const memory = tenure.tenants.get(tenantId);
  const createdAtMs = memory?.tenant.createdAtMs ?? timeOfRemoved(tenantId, peer.shard.clock) - CLOCK_STEP_MS;
  const isDeleted = memory === undefined || memory.tenant.state === 'deleted';
  const of = { tenantId, createdAtMs, isDeleted };
  const context = { ...peer.shard, kept: peer.kept };
  const page = await readPage(context, tenure, of, query);
  const isNothing = ({ items, nextCursor }: AuditLogPage): boolean => items.length === 0 && nextCursor === undefined;
  if (memory === undefined && query.cursor === undefined && isNothing(page)) {
    // Either no entry matches, or the tenant has none.
    const last = { limit: 1, cursor: undefined, newestFirst: true };
    if (isNothing(await readPage(context, tenure, of, last))) throw noTenant(tenantId);
  }
  tenure.assertServing();
  return page;
};

/** When a removed tenant was created, or a time before that. Its id gives it by the clock of a console. */
function timeOfRemoved(tenantId: TenantId, clock: Clock): number {
  if (isDerivedId(tenantId)) return clock.wallMs() - AUDIT_LOG_SEARCHED_MS;
  return timeOfId(tenantId) ?? 0;
}

async function readPage(
  context: AuditLogContext,
  tenure: Tenure,
  tenant: { readonly tenantId: TenantId; readonly createdAtMs: number; readonly isDeleted: boolean },
  query: AuditLogQuery,
): Promise<AuditLogPage> {
  const { tenantId, createdAtMs, isDeleted } = tenant;
  const { limit, newestFirst = false, sinceMs = 0, untilMs = Number.POSITIVE_INFINITY } = query;
  const parts = ['audit-log', tenantId, String(sinceMs), String(untilMs), ...filterScope(query)];
  const scope = (order: string): readonly string[] => parts.toSpliced(2, 0, order);
  const order = newestFirst ? 'newest-first' : 'oldest-first';
  const position = positionOf(context, scope(order), query.cursor);
  const nowMs = Math.max(context.clock.wallMs(), tenure.slotTime.loggedMs);
  const end = tenure.lastSeq;
  // Every change so far has a smaller base, and no later change has a smaller one.
  const endMs = tenure.nextBase / 1000;
  const firstMonth = monthOf(Math.min(Math.max(createdAtMs, sinceMs), endMs));
  const goesOn = (place: AuditLogPlace, placeMs: number): string =>
    cursorAt(context, scope('oldest-first'), ascendingTexts(place, placeMs, nowMs));
  if (!newestFirst && position !== undefined && (await isTooOld(context, position, nowMs))) {
    const from = formatTimestamp(timeOf(position));
    throw new GrantdError('cursor-too-old', `Changes after ${from} are no longer kept.`, {
      details: { earliest: goesOn({ month: firstMonth, after: undefined }, 0) },
    });
  }
  await tenure.applied();

  // Once time was set back, bases say nothing about the time of a change.
  const untilBaseMs = tenure.behindMs > 0 ? endMs : untilMs + CLOCK_STEP_MS;
  const lastMonth = monthOf(Math.min(untilBaseMs, endMs));
  const bounds = { tenantId, fits: auditMatcher(query), newestFirst, sinceMs, untilMs, end, firstMonth, lastMonth };
  const beyondEnd = { seq: end + 1, index: -1 };
  const start = newestFirst ? { month: lastMonth, after: beyondEnd } : { month: firstMonth, after: undefined };
  const from = position ? placeFrom(position) : start;
  const { found, rest, scannedToMs } = await readRows(context, tenure, bounds, from, limit);

  const last = found[limit - 1];
  const next = found.length > limit && last !== undefined ? last : rest;
  // Future changes come after the end, once everything before it was returned.
  const known = newestFirst ? position === undefined : next === undefined;
  const resume =
    known && !isDeleted && untilMs === Number.POSITIVE_INFINITY
      ? { month: monthOf(endMs), after: beyondEnd }
      : undefined;
  const readToMs =
    (next === last ? undefined : scannedToMs) ?? found[limit - 1]?.row.atMs ?? found.at(-1)?.row.atMs ?? 0;
  const nextOf = newestFirst ? (place: AuditLogPlace) => cursorAt(context, scope(order), textsOf(place)) : goesOn;
  return {
    items: found.slice(0, limit).map(({ row }) => auditRecordOf(row)),
    nextCursor: next && nextOf(next, readToMs),
    resumeCursor: resume && goesOn(resume, nowMs),
    scannedToMs,
  };
}

/** Whether changes after this place may have been deleted since the cursor was issued. */
async function isTooOld({ kept }: AuditLogContext, position: readonly string[], nowMs: number): Promise<boolean> {
  const { keptMs, earliestMs } = await kept.read();
  const [, , , , issuedMs = '0'] = position;
  return timeOf(position) < nowMs - keptMs && Number(issuedMs) < nowMs - (keptMs - earliestMs);
}

/** The time of a place in ascending order. */
const timeOf = ([month = '', , , placeMs]: readonly string[]): number =>
  Math.max(Number(placeMs), Date.parse(`${month}-01T00:00:00.000Z`));

/** One row more than `limit` shows that others follow. */
async function readRows(
  context: ListingContext,
  tenure: Tenure,
  bounds: Bounds,
  start: AuditLogPlace,
  limit: number,
): Promise<Read> {
  const { fits, newestFirst, sinceMs, untilMs, end, firstMonth, lastMonth } = bounds;
  const selective = fits !== undefined || sinceMs > 0 || untilMs < Number.POSITIVE_INFINITY;
  const enoughAtMs = context.clock.monotonicMs() + READING_MS_MAX;
  const found: PlacedRow[] = [];
  let { month, after } = start;
  let scannedToMs: number | undefined;
  let length = 0;
  for (let reads = 0; month >= firstMonth && month <= lastMonth && found.length <= limit; reads += 1) {
    const enough = reads === READS_MAX || (reads > 0 && context.clock.monotonicMs() >= enoughAtMs);
    if (enough) return { found, rest: { month, after }, scannedToMs };
    const rowsMax = Math.max(limit + 1 - found.length, selective ? ROWS_PER_READ_MIN : 0);
    const rows = await readAuditLog(context, tenure, bounds, { month, after }, rowsMax);
    for (const row of rows) {
      const { seq, index, atMs } = row;
      const over = newestFirst ? atMs < sinceMs - CLOCK_STEP_MS : seq > end || atMs >= untilMs + CLOCK_STEP_MS;
      if (over) return { found };
      if (atMs >= sinceMs && atMs < untilMs && (fits === undefined || fits(row))) {
        if (length >= PAGE_LENGTH_MAX) return { found, rest: { month, after } };
        found.push({ month, after: { seq, index }, row });
        if (found.length > limit) return { found };
        length += row.change.length;
        after = { seq, index };
      }
    }
    scannedToMs = rows.at(-1)?.atMs ?? scannedToMs;
    const last = endsEarly(rows, rowsMax) ? rows.at(-1) : undefined;
    if (last === undefined) month = monthBeside(month, newestFirst ? -1 : 1);
    after = last && { seq: last.seq, index: last.index };
  }
  return { found };
}

const textsOf = ({ month, after }: AuditLogPlace): readonly string[] =>
  after === undefined ? [month] : [month, String(after.seq), String(after.index)];

/** Every change of a month is after seq -1. */
const ascendingTexts = ({ month, after }: AuditLogPlace, placeMs: number, issuedMs: number): readonly string[] => {
  const { seq, index } = after ?? { seq: -1, index: -1 };
  return [month, ...[seq, index, placeMs, issuedMs].map(String)];
};

const placeFrom = ([month = '', seq, index]: readonly string[]): AuditLogPlace => ({
  month,
  after: seq === undefined ? undefined : { seq: Number(seq), index: Number(index) },
});
