// Listings: ascending by bytes, by key set, so that what is there throughout appears exactly once. A subject whose
// page is whole is listed from memory, in the order that the page keeps. One that is too large is read from the state tables
// under a delta opened at the start of the read, and the page is put together in one synchronous step, in which no more than
// a bounded number of changes is looked at. Everything that enumerates a tenant (subjects, export) first waits until
// state holds every commit that precedes the call. Nothing here sorts.

import type { Clock } from '../core/clock.ts';
import { type CursorSecrets, createCursor, parseCursor } from '../core/cursors.ts';
import { GrantdError } from '../core/errors.ts';
import { SUBJECT_BUCKETS } from '../core/slots.ts';
import { compareUtf8, type Grant, isRelation, type Relation, relationNumber, relationOf } from '../core/tuples.ts';
import type { GrantRow, StateStore } from '../store/store.ts';
import { firstAfter, searchText } from './object-order.ts';
import type { Page, PageQuery } from './shard.ts';
import { readFromStore, storeDeadline, yieldTurn } from './store-calls.ts';
import type { SubjectDelta } from './subject-deltas.ts';
import type { SubjectPage } from './subject-page.ts';
import type { TenantMemory } from './tenant-memory.ts';
import type { Tenure } from './tenure.ts';

/** Rows read at once while looking for live ones. */
const ROWS_PER_READ_MIN = 256;
/** Subjects whose grants an export reads at once, at most. It begins with one, so that large subjects are not read in vain. */
const SUBJECTS_AT_ONCE_MAX = 64;
/** Subjects put in order in one step: each is compared with one of every bucket. */
const SUBJECTS_PER_STEP = 100;
/** Changes to a subject since its listing began that are looked at in one step. */
const CHANGES_MAX = 500;
/** A listing whose subject has had more than that begins again, so often. */
const LISTING_TRIES = 3;

export interface ListingContext {
  readonly store: StateStore;
  readonly clock: Clock;
  readonly secrets: CursorSecrets;
}

type Position = readonly string[];

/** Positions and scopes are lists of strings; JSON keeps their parts apart. */
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
  if (!Array.isArray(position)) throw new GrantdError('invalid-cursor', '"cursor" holds no position.');
  return position.map(String);
}

export function cursorAt(context: ListingContext, scope: readonly string[], position: Position): string {
  return createCursor(context.secrets, scope, JSON.stringify(position));
}

const relationAt = (text: string | undefined): Relation => {
  if (text === undefined || !isRelation(text)) throw new GrantdError('invalid-cursor', '"cursor" holds no position.');
  return text;
};

interface RowPosition {
  readonly relation: Relation;
  readonly object: string;
}

const compareRows = (left: RowPosition, right: RowPosition): number =>
  compareUtf8(left.relation, right.relation) || compareUtf8(left.object, right.object);

export async function listObjects(
  context: ListingContext,
  tenure: Tenure,
  memory: TenantMemory,
  query: PageQuery & { subject: string; relation: Relation; namespace: string | undefined },
): Promise<Page<string>> {
  const { subject, relation, namespace, limit } = query;
  const scope = ['objects', memory.tenantId, subject, relation, namespace ?? ''];
  // No object equals its namespace and colon, so the first one follows it.
  const prefix = namespace === undefined ? '' : `${namespace}:`;
  const after = positionOf(context, scope, query.cursor)?.[0] ?? prefix;
  const page = await pageInMemory(memory, subject);
  const objects =
    page === undefined
      ? await sparseRows(context, tenure, memory, {
          subject,
          relation,
          after: { relation, object: after },
          prefix,
          limit: limit + 1,
        }).then((rows) => rows.map(({ object }) => object))
      : wholeObjects(page.objects(relationNumber(relation) ?? 0), after, prefix, limit + 1);
  const items = objects.slice(0, limit);
  const last = items.at(-1);
  const more = objects.length > limit && last !== undefined;
  return { items, nextCursor: more ? cursorAt(context, scope, [last]) : undefined };
}

/** The whole page of a subject where it is in memory or small; good until the next await. */
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
  tenure: Tenure,
  memory: TenantMemory,
  query: PageQuery & { subject: string },
): Promise<Page<Grant>> {
  const { subject, limit } = query;
  const scope = ['grants', memory.tenantId, subject];
  const position = positionOf(context, scope, query.cursor);
  const after = position && { relation: relationAt(position[0]), object: position[1] ?? '' };
  const page = await pageInMemory(memory, subject);
  const rows =
    page === undefined
      ? await sparseRows(context, tenure, memory, { subject, relation: undefined, after, prefix: '', limit: limit + 1 })
      : page.grantsAfter(after, limit + 1);
  const items = rows.slice(0, limit).map((row) => ({ subject, ...row }));
  const last = items.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { items, nextCursor: more ? cursorAt(context, scope, [last.relation, last.object]) : undefined };
}

interface RowsQuery {
  readonly subject: string;
  readonly relation: Relation | undefined;
  readonly after: RowPosition | undefined;
  readonly prefix: string;
  readonly limit: number;
}

/** Up to `limit` live grants of a subject that has no whole page in memory. */
async function sparseRows(
  context: ListingContext,
  tenure: Tenure,
  memory: TenantMemory,
  query: RowsQuery,
): Promise<readonly GrantRow[]> {
  for (let tries = 0; tries < LISTING_TRIES; tries += 1) {
    const delta = memory.pages.openDelta(query.subject);
    // What waits for write-behind is in the state tables a moment later.
    if (delta.size > CHANGES_MAX) await tenure.applied();
    else {
      const rows = await rowsUnder(context, memory, delta, query);
      if (rows !== undefined) return rows;
    }
  }
  throw new GrantdError('overloaded', 'The grants of this subject change faster than they can be listed.');
}

/** Undefined where more was committed meanwhile than can be looked at in one step. */
async function rowsUnder(
  context: ListingContext,
  memory: TenantMemory,
  delta: SubjectDelta,
  query: RowsQuery,
): Promise<readonly GrantRow[] | undefined> {
  const { subject, relation, limit } = query;
  const read: GrantRow[] = [];
  let { after } = query;
  while (true) {
    const { grants, next } = await memory.pages.readRows({
      subject,
      ...(relation === undefined ? {} : { relation }),
      ...(after === undefined ? {} : { after }),
      limit: Math.max(limit, ROWS_PER_READ_MIN),
    });
    read.push(...grants);
    if (delta.size > CHANGES_MAX) return undefined;
    const past = grants.some(({ object }) => !object.startsWith(query.prefix));
    const ended = next === undefined || past;
    // Of what was read, no more than was changed since can be missing.
    if (ended || read.length >= limit) {
      const rows = underDelta(read, delta, query, past ? undefined : next);
      if (ended || rows.length >= limit) return rows.slice(0, limit);
    }
    after = next;
    await yieldTurn(context.clock);
  }
}

/** What was read, corrected by what was committed since, up to where was read (`end` undefined: to the end). */
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

/** Puts a row that is not there in its place. */
function insertRow(rows: GrantRow[], row: GrantRow): void {
  const low = lowest(rows.length, (index) => (rows[index]?.relation ?? '') >= row.relation);
  const high = lowest(rows.length, (index) => (rows[index]?.relation ?? '') > row.relation);
  const place = searchText((index) => rows[index]?.object ?? '', row.object, low, high);
  rows.splice(-1 - place, 0, row);
}

/** The first of `count` indices for which the condition holds, as it does for all that follow; `count`: none. */
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

interface Bucket {
  readonly bucket: number;
  /** Read and not given yet, ascending. */
  found: readonly string[];
  given: number;
  after: string | undefined;
  ended: boolean;
}

/** Subjects of a tenant after `after`, ascending over all buckets. */
async function subjectsAfter(
  context: ListingContext,
  memory: TenantMemory,
  after: string | undefined,
  limit: number,
): Promise<string[]> {
  const buckets: readonly Bucket[] = Array.from({ length: SUBJECT_BUCKETS }, (_, bucket) => ({
    bucket,
    found: [],
    given: 0,
    after,
    ended: false,
  }));
  // Subjects are spread evenly, so that few buckets are asked twice.
  const perBucket = Math.ceil((2 * limit) / SUBJECT_BUCKETS) + 1;
  const subjects: string[] = [];
  while (true) {
    const empty = buckets.filter(({ found, given, ended }) => given === found.length && !ended);
    await Promise.all(empty.map((bucket) => readBucket(context, memory, bucket, perBucket)));
    for (let step = 0; step < SUBJECTS_PER_STEP; step += 1) {
      const first = firstOf(buckets);
      if (first === undefined) return subjects;
      subjects.push(first.found[first.given] ?? '');
      first.given += 1;
      if (subjects.length === limit) return subjects;
      // What it holds next may come before anything that is there.
      if (first.given === first.found.length && !first.ended) break;
    }
    await yieldTurn(context.clock);
  }
}

async function readBucket(context: ListingContext, memory: TenantMemory, of: Bucket, limit: number): Promise<void> {
  const { store, clock } = context;
  const { tenantId } = memory;
  const { bucket, after } = of;
  of.found = await readFromStore(
    store.listSubjects({ tenantId, bucket, limit, ...(after === undefined ? {} : { after }) }, storeDeadline(clock)),
  );
  of.given = 0;
  of.after = of.found.at(-1);
  of.ended = of.found.length < limit;
}

/** The one whose next subject comes first; undefined: there is no more. */
function firstOf(buckets: readonly Bucket[]): Bucket | undefined {
  let first: Bucket | undefined;
  for (const bucket of buckets) {
    const subject = bucket.found[bucket.given];
    if (subject === undefined) continue;
    if (first === undefined || compareUtf8(subject, first.found[first.given] ?? '') < 0) first = bucket;
  }
  return first;
}

export async function listSubjects(
  context: ListingContext,
  tenure: Tenure,
  memory: TenantMemory,
  query: PageQuery,
): Promise<Page<string>> {
  const scope = ['subjects', memory.tenantId];
  const after = positionOf(context, scope, query.cursor)?.[0];
  await tenure.applied();
  const subjects = await subjectsAfter(context, memory, after, query.limit + 1);
  const items = subjects.slice(0, query.limit);
  const last = items.at(-1);
  const more = subjects.length > query.limit && last !== undefined;
  return { items, nextCursor: more ? cursorAt(context, scope, [last]) : undefined };
}

/** Every live grant of a tenant, ascending by (subject, relation, object). */
export async function exportGrants(
  context: ListingContext,
  tenure: Tenure,
  memory: TenantMemory,
  query: PageQuery,
): Promise<Page<Grant>> {
  const scope = ['export', memory.tenantId];
  const position = positionOf(context, scope, query.cursor);
  await tenure.applied();
  const items: Grant[] = [];
  let subject = position?.[0];
  if (subject !== undefined && position !== undefined && position.length > 1) {
    const after = { relation: relationAt(position[1]), object: position[2] ?? '' };
    items.push(...(await liveGrants(memory, subject, after, query.limit + 1)));
  }
  for (let atOnce = 1; items.length <= query.limit; atOnce = Math.min(4 * atOnce, SUBJECTS_AT_ONCE_MAX)) {
    const subjects = await subjectsAfter(context, memory, subject, atOnce);
    const limit = query.limit + 1 - items.length;
    const grants = await Promise.all(subjects.map((each) => liveGrants(memory, each, undefined, limit)));
    items.push(...grants.flat());
    subject = subjects.at(-1);
    if (subjects.length < atOnce || subject === undefined) break;
  }
  const page = items.slice(0, query.limit);
  const last = page.at(-1);
  const more = items.length > query.limit && last !== undefined;
  return {
    items: page,
    nextCursor: more ? cursorAt(context, scope, [last.subject, last.relation, last.object]) : undefined,
  };
}

async function liveGrants(
  memory: TenantMemory,
  subject: string,
  start: RowPosition | undefined,
  limit: number,
): Promise<Grant[]> {
  const found: Grant[] = [];
  let after = start;
  while (true) {
    const { grants, next } = await memory.pages.readRows({
      subject,
      ...(after === undefined ? {} : { after }),
      limit: ROWS_PER_READ_MIN,
    });
    for (const grant of grants) found.push({ subject, ...grant });
    if (found.length >= limit || next === undefined) return found.slice(0, limit);
    after = next;
  }
}

/** Items of an ascending list after a position: for tables small enough to be held whole. */
export function pageOf<Item>(
  context: ListingContext,
  scope: readonly string[],
  query: PageQuery,
  ascending: readonly Item[],
  idOf: (item: Item) => string,
): Page<Item> {
  const after = positionOf(context, scope, query.cursor)?.[0];
  const start = after === undefined ? 0 : ascending.findIndex((item) => idOf(item) > after);
  const items = start < 0 ? [] : ascending.slice(start, start + query.limit);
  const last = items.at(-1);
  const more = last !== undefined && start + items.length < ascending.length;
  return { items, nextCursor: more ? cursorAt(context, scope, [idOf(last)]) : undefined };
}
