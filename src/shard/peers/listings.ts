// Listings: ascending by bytes, continued by key, so that an item that exists throughout appears exactly once. A
// subject with a whole page is listed from memory, in the order that the page keeps. A larger subject is read from the
// state tables under a delta opened at the start of the read. The result page is then assembled in one synchronous step
// that examines a bounded number of changes. Nothing here sorts.
//
// A result page is bounded both in what it reads and in what it returns, since a subject may have millions of tombstone
// rows. If the read bound is reached first, the page has what was found so far, possibly nothing, and its cursor
// continues from there. Reading stops when no front waits for the result.

import type { Clock } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import { type CursorSecrets, createCursor, parseCursor } from '../../core/text/cursors.ts';
import { compareUtf8, type Grant, isRelation, type Relation, relationNumber, relationOf } from '../../core/tuples.ts';
import type { GrantRow, StateStore } from '../../store/store.ts';
import type { Tenure } from '../log/tenure.ts';
import { firstAfter, searchText } from '../memory/object-order.ts';
import { CHANGES_MAX, type SubjectDelta } from '../memory/subject-deltas.ts';
import type { SubjectPage } from '../memory/subject-page.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { PageQuery, ResultPage } from '../shard.ts';
import { yieldTurn } from '../store-calls.ts';

/** Rows per read in the search for live ones. */
export const ROWS_PER_READ_MIN = 256;
/** Live rows and tombstone rows read for one result page: a few tenths of a second unless the store is slow. */
export const ROWS_PER_PAGE_MAX = 10_000;
/** How often a listing starts over if its subject changed too much while it was read. */
const LISTING_TRIES = 3;

export interface ListingContext {
  readonly store: StateStore;
  readonly clock: Clock;
  readonly secrets: CursorSecrets;
}

/** The tenant of a listing. */
export interface Listing {
  readonly tenure: Tenure;
  readonly memory: TenantMemory;
  /** Call this after each read of the store: it throws if no front waits for the response any more. */
  readonly assertWanted: () => void;
}

export type Position = readonly string[];

/** Positions and scopes are lists of strings; JSON keeps their parts separate. */
export function positionOf(
  context: ListingContext,
  scope: readonly string[],
  cursor: string | undefined,
): Position | undefined {
  if (cursor === undefined) return undefined;
  const text = parseCursor(context.secrets, scope, cursor);
  if (text === undefined) {
    throw new GrantdError('invalid-cursor', '"cursor" was not issued for this tenant and this query.');
  }
  const position: unknown = JSON.parse(text);
  if (!Array.isArray(position)) throw new GrantdError('invalid-cursor', '"cursor" contains no position.');
  return position.map(String);
}

export function cursorAt(context: ListingContext, scope: readonly string[], position: Position): string {
  return createCursor(context.secrets, scope, JSON.stringify(position));
}

export const relationAt = (text: string | undefined): Relation => {
  if (text === undefined || !isRelation(text))
    throw new GrantdError('invalid-cursor', '"cursor" contains no position.');
  return text;
};

export interface RowPosition {
  readonly relation: Relation;
  readonly object: string;
}

const compareRows = (left: RowPosition, right: RowPosition): number =>
  compareUtf8(left.relation, right.relation) || compareUtf8(left.object, right.object);

export async function listObjects(
  context: ListingContext,
  listing: Listing,
  query: PageQuery & { subject: string; relation: Relation; namespace: string | undefined },
): Promise<ResultPage<string>> {
  const { memory } = listing;
  const { subject, relation, namespace, limit } = query;
  const scope = ['objects', memory.tenantId, subject, relation, namespace ?? ''];
  // No object equals the namespace and its colon, so the first object follows that prefix.
  const prefix = namespace === undefined ? '' : `${namespace}:`;
  const after = positionOf(context, scope, query.cursor)?.[0] ?? prefix;
  const page = await pageInMemory(memory, subject);
  const { rows, rest } =
    page === undefined
      ? await sparseRows(context, listing, {
          subject,
          relation,
          after: { relation, object: after },
          prefix,
          limit: limit + 1,
        }).then(({ rows: found, rest: next }) => ({ rows: found.map(({ object }) => object), rest: next }))
      : { rows: wholeObjects(page.objects(relationNumber(relation) ?? 0), after, prefix, limit + 1), rest: undefined };
  const items = rows.slice(0, limit);
  const next = rows.length > limit ? items.at(-1) : rest?.object;
  return { items, nextCursor: next === undefined ? undefined : cursorAt(context, scope, [next]) };
}

/** The whole page of a subject, if it is in memory or small; valid until the next await. */
async function pageInMemory({ pages }: TenantMemory, subject: string): Promise<SubjectPage | undefined> {
  if (pages.get(subject) === undefined) await pages.load(subject);
  const page = pages.get(subject);
  if (page === undefined || !page.whole) return undefined;
  page.referenced = true;
  return page;
}

function wholeObjects(sorted: readonly string[], after: string, prefix: string, limit: number): readonly string[] {
  const start = firstAfter(sorted, after);
  const objects = sorted.slice(start, start + limit);
  const end = prefix === '' ? -1 : objects.findIndex((object) => !object.startsWith(prefix));
  return end < 0 ? objects : objects.slice(0, end);
}

export async function listSubjectGrants(
  context: ListingContext,
  listing: Listing,
  query: PageQuery & { subject: string },
): Promise<ResultPage<Grant>> {
  const { memory } = listing;
  const { subject, limit } = query;
  const scope = ['grants', memory.tenantId, subject];
  const position = positionOf(context, scope, query.cursor);
  const after = position && { relation: relationAt(position[0]), object: position[1] ?? '' };
  const page = await pageInMemory(memory, subject);
  const { rows, rest } =
    page === undefined
      ? await sparseRows(context, listing, { subject, relation: undefined, after, prefix: '', limit: limit + 1 })
      : { rows: page.grantsAfter(after, limit + 1), rest: undefined };
  const items = rows.slice(0, limit).map((row) => ({ subject, ...row }));
  const next = rows.length > limit ? items.at(-1) : rest;
  return { items, nextCursor: next && cursorAt(context, scope, [next.relation, next.object]) };
}

interface RowsQuery {
  readonly subject: string;
  readonly relation: Relation | undefined;
  readonly after: RowPosition | undefined;
  readonly prefix: string;
  readonly limit: number;
}

interface FoundRows {
  readonly rows: readonly GrantRow[];
  /** Where reading continues, if it stopped early; undefined: at the end, or at the limit. */
  readonly rest: RowPosition | undefined;
}

/** Up to `limit` live grants of a subject without a whole page in memory. */
async function sparseRows(context: ListingContext, listing: Listing, query: RowsQuery): Promise<FoundRows> {
  const { tenure, memory } = listing;
  for (let tries = 0; tries < LISTING_TRIES; tries += 1) {
    const delta = memory.pages.openDelta(query.subject);
    // Changes that wait for write-behind are in the state tables a moment later.
    if (delta.size > CHANGES_MAX) await tenure.applied();
    else {
      const rows = await rowsUnder(context, listing, delta, query);
      if (rows !== undefined) return rows;
    }
  }
  throw new GrantdError('overloaded', 'The grants of this subject change faster than they can be listed.');
}

/** Undefined if too much was committed during the read to examine in one step. */
async function rowsUnder(
  context: ListingContext,
  { memory, assertWanted }: Listing,
  delta: SubjectDelta,
  query: RowsQuery,
): Promise<FoundRows | undefined> {
  const { subject, relation, limit } = query;
  const rowsPerRead = Math.max(limit, ROWS_PER_READ_MIN);
  const read: GrantRow[] = [];
  let { after } = query;
  for (let looked = rowsPerRead; ; looked += rowsPerRead) {
    const { grants, next } = await memory.pages.readRows({
      subject,
      ...(relation === undefined ? {} : { relation }),
      ...(after === undefined ? {} : { after }),
      limit: rowsPerRead,
    });
    assertWanted();
    read.push(...grants);
    if (delta.size > CHANGES_MAX) return undefined;
    const past = grants.some(({ object }) => !object.startsWith(query.prefix));
    const end = past || next?.object.startsWith(query.prefix) !== true ? undefined : next;
    const full = looked + rowsPerRead > ROWS_PER_PAGE_MAX;
    // Later changes can have removed at most as many of the read rows as the delta has changes.
    if (end === undefined || full || read.length >= limit) {
      const rows = underDelta(read, delta, query, end);
      if (rows.length >= limit) return { rows: rows.slice(0, limit), rest: undefined };
      if (end === undefined || full) return { rows, rest: end };
    }
    after = next;
    await yieldTurn(context.clock);
  }
}

/**
 * The rows that were read, corrected by later commits, up to the end of the read (`end` undefined: the end of the
 * subject).
 */
function underDelta(
  read: readonly GrantRow[],
  delta: SubjectDelta,
  query: RowsQuery,
  end: RowPosition | undefined,
): GrantRow[] {
  const changes = delta.changes();
  const rows = read.filter(
    ({ relation, object }) =>
      object.startsWith(query.prefix) && changes.find(relationNumber(relation) ?? 0, object) === undefined,
  );
  for (const { relation: number, object, facts } of changes) {
    const relation = relationOf(number);
    if (facts === null || relation === undefined || !object.startsWith(query.prefix)) continue;
    if (query.relation !== undefined && query.relation !== relation) continue;
    const row = { relation, object, ...facts };
    if (query.after !== undefined && compareRows(row, query.after) <= 0) continue;
    if (end === undefined || compareRows(row, end) <= 0) insertRow(rows, row);
  }
  return rows;
}

/** Inserts a row that is not in the list yet. */
function insertRow(rows: GrantRow[], row: GrantRow): void {
  const low = lowest(rows.length, (index) => (rows[index]?.relation ?? '') >= row.relation);
  const high = lowest(rows.length, (index) => (rows[index]?.relation ?? '') > row.relation);
  const place = searchText((index) => rows[index]?.object ?? '', row.object, low, high);
  rows.splice(-1 - place, 0, row);
}

/** The first of `count` indices that meets the condition, as all later ones do; `count`: none. */
function lowest(count: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Items after a position in an ascending list: for tables small enough to be held completely. */
export function pageOf<Item>(
  context: ListingContext,
  scope: readonly string[],
  query: PageQuery,
  ascending: readonly Item[],
  idOf: (item: Item) => string,
): ResultPage<Item> {
  const after = positionOf(context, scope, query.cursor)?.[0];
  const start = after === undefined ? 0 : ascending.findIndex((item) => idOf(item) > after);
  const items = start < 0 ? [] : ascending.slice(start, start + query.limit);
  const last = items.at(-1);
  const more = last !== undefined && start + items.length < ascending.length;
  return { items, nextCursor: more ? cursorAt(context, scope, [idOf(last)]) : undefined };
}
