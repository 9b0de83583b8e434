// The trail of a tenant: every change, by its place in the log. It is read from the state tables, up to what was
// committed when the call began and no further: behind that, state may still have gaps, and whoever went on behind a gap
// would never see what fills it. A tenant that was deleted keeps its trail, so that it can be seen who deleted it.

import type { TenantId } from '../core/ids.ts';
import type { TrailRow } from '../store/store.ts';
import { monthOf } from './changes.ts';
import { cursorAt, type ListingContext, positionOf } from './listings.ts';
import type { TrailPage, TrailQuery } from './shard.ts';
import { readFromStore, storeDeadline } from './store-calls.ts';
import type { Tenure } from './tenure.ts';

/** Rows read at once where most may lie outside the range of time. */
const ROWS_PER_READ_MIN = 1000;
/** Reads in one call: months without a change and rows outside the range take some too. A page may end early by it. */
const READS_MAX = 50;
/**
 * By how much the time of a change may lie behind the time of its log entry, which never goes back: by as much as clocks
 * of owners differ, or were set back. It bounds how far beyond a range of time is looked.
 */
export const CLOCK_STEP_MS = 24 * 3_600_000;

interface Place {
  readonly month: string;
  /** Undefined: before the first of the month, in the order of the listing. */
  readonly after: { readonly seq: number; readonly index: number } | undefined;
}

interface Bounds {
  readonly newestFirst: boolean;
  readonly sinceMs: number;
  readonly untilMs: number;
  /** The last seq that counts. */
  readonly end: number;
  readonly firstMonth: string;
  readonly lastMonth: string;
}

interface Found extends Place {
  readonly row: TrailRow;
}

export async function listTrail(
  context: ListingContext,
  tenure: Tenure,
  tenant: { readonly tenantId: TenantId; readonly createdAtMs: number },
  query: TrailQuery,
): Promise<TrailPage> {
  const { tenantId, createdAtMs } = tenant;
  const { limit, newestFirst = false, sinceMs = 0, untilMs = Number.POSITIVE_INFINITY } = query;
  const scope = (order: string): readonly string[] => ['trail', tenantId, order, String(sinceMs), String(untilMs)];
  const order = newestFirst ? 'newest-first' : 'oldest-first';
  const position = positionOf(context, scope(order), query.cursor);
  const end = tenure.lastSeq;
  // Every change up to there has an earlier base, every later one none that is earlier.
  const endMs = tenure.nextBase / 1000;
  await tenure.applied();

  const firstMonth = monthOf(Math.min(Math.max(createdAtMs, sinceMs), endMs));
  const lastMonth = monthOf(Math.min(untilMs + CLOCK_STEP_MS, endMs));
  const bounds = { newestFirst, sinceMs, untilMs, end, firstMonth, lastMonth };
  const beyondEnd = { seq: end + 1, index: -1 };
  const start = newestFirst ? { month: lastMonth, after: beyondEnd } : { month: firstMonth, after: undefined };
  const { found, rest } = await readRows(context, tenantId, bounds, position ? placeFrom(position) : start, limit);

  const last = found[limit - 1];
  const next = found.length > limit && last !== undefined ? last : rest;
  // What is still to come begins behind the end, once everything before it was given.
  const known = newestFirst ? position === undefined : next === undefined;
  const resume =
    known && untilMs === Number.POSITIVE_INFINITY ? { month: monthOf(endMs), after: beyondEnd } : undefined;
  return {
    items: found.slice(0, limit).map(({ row }) => row),
    nextCursor: next && cursorAt(context, scope(order), textsOf(next)),
    resumeCursor: resume && cursorAt(context, scope('oldest-first'), textsOf(resume)),
  };
}

/** One row more than `limit` tells that others follow. `rest`: where to go on, had it to stop before the end. */
async function readRows(
  context: ListingContext,
  tenantId: TenantId,
  bounds: Bounds,
  start: Place,
  limit: number,
): Promise<{ readonly found: readonly Found[]; readonly rest: Place | undefined }> {
  const { newestFirst, sinceMs, untilMs, end, firstMonth, lastMonth } = bounds;
  const ranged = sinceMs > 0 || untilMs < Number.POSITIVE_INFINITY;
  const found: Found[] = [];
  let { month, after } = start;
  for (let reads = 0; month >= firstMonth && month <= lastMonth && found.length <= limit; reads += 1) {
    if (reads === READS_MAX) return { found, rest: { month, after } };
    const rowsMax = Math.max(limit + 1 - found.length, ranged ? ROWS_PER_READ_MIN : 0);
    const rows = await readFromStore(
      context.store.listTrail(
        {
          tenantId,
          month,
          newestFirst,
          limit: rowsMax,
          ...(after === undefined ? {} : { after }),
        },
        storeDeadline(context.clock),
      ),
    );
    for (const row of rows) {
      const { seq, index, atMs } = row;
      const over = newestFirst ? atMs < sinceMs - CLOCK_STEP_MS : seq > end || atMs >= untilMs + CLOCK_STEP_MS;
      if (over) return { found, rest: undefined };
      if (atMs >= sinceMs && atMs < untilMs) found.push({ month, after: { seq, index }, row });
    }
    const last = rows.length < rowsMax ? undefined : rows.at(-1);
    if (last === undefined) month = neighbour(month, newestFirst ? -1 : 1);
    after = last && { seq: last.seq, index: last.index };
  }
  return { found, rest: undefined };
}

const textsOf = ({ month, after }: Place): readonly string[] =>
  after === undefined ? [month] : [month, String(after.seq), String(after.index)];

const placeFrom = ([month = '', seq, index]: readonly string[]): Place => ({
  month,
  after: seq === undefined ? undefined : { seq: Number(seq), index: Number(index) },
});

function neighbour(month: string, step: 1 | -1): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return monthOf(Date.UTC(year, number - 1 + step));
}
