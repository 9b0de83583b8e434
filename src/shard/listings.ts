// Listings: ascending by bytes, by key set, so that what is there throughout appears exactly once. A subject whose
// page is whole is listed from memory. One that is too large is read from the state tables under a delta opened at the
// start of the read, and the page is put together in one synchronous step. Everything that enumerates a tenant (subjects,
// export) first waits until state holds every commit that precedes the call.

import type { Clock } from '../core/clock.ts';
import { type CursorSecrets, createCursor, parseCursor } from '../core/cursors.ts';
import { GrantdError } from '../core/errors.ts';
import { SUBJECT_BUCKETS } from '../core/slots.ts';
import { compareUtf8, type Grant, isRelation, type Relation, relationNumber, relationOf } from '../core/tuples.ts';
import type { GrantRow, StateStore } from '../store/store.ts';
import type { Page, PageQuery } from './shard.ts';
import { readFromStore, storeDeadline } from './store-calls.ts';
import type { SubjectDelta } from './subject-deltas.ts';
import { firstAfter } from './subject-page.ts';
import type { TenantMemory } from './tenant-memory.ts';
import type { Tenure } from './tenure.ts';

/** Rows read at once while looking for live ones. */
const ROWS_PER_READ_MIN = 256;
/** Subjects whose grants an export reads at once, at most. It begins with one, so that large subjects are not read in vain. */
const SUBJECTS_AT_ONCE_MAX = 64;

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

const compareRows = (left: GrantRow, right: GrantRow): number =>
  compareUtf8(left.relation, right.relation) || compareUtf8(left.object, right.object);

export async function listObjects(
  context: ListingContext,
  memory: TenantMemory,
  query: PageQuery & { subject: string; relation: Relation; namespace: string | undefined },
): Promise<Page<string>> {
  const { subject, relation, namespace, limit } = query;
  const scope = ['objects', memory.tenantId, subject, relation, namespace ?? ''];
  // No object equals its namespace and colon, so the first one follows it.
  const prefix = namespace === undefined ? '' : `${namespace}:`;
  const after = positionOf(context, scope, query.cursor)?.[0] ?? prefix;
  const page = await memory.pinPage(subject);
  try {
    const objects = page.whole
      ? wholeObjects(page.objects(relationNumber(relation) ?? 0), after, prefix, limit + 1)
      : (
          await sparseRows(context, memory, {
            subject,
            relation,
            after: { relation, object: after },
            prefix,
            limit: limit + 1,
          })
        ).map(({ object }) => object);
    const items = objects.slice(0, limit);
    const last = items.at(-1);
    const more = objects.length > limit && last !== undefined;
    return { items, nextCursor: more ? cursorAt(context, scope, [last]) : undefined };
  } finally {
    memory.unpinPage(page);
  }
}

function wholeObjects(sorted: readonly string[], after: string, prefix: string, limit: number): readonly string[] {
  const start = firstAfter(sorted, after);
  const objects = sorted.slice(start, start + limit);
  const end = prefix === '' ? -1 : objects.findIndex((object) => !object.startsWith(prefix));
  return end < 0 ? objects : objects.slice(0, end);
}

export async function listSubjectGrants(
  context: ListingContext,
  memory: TenantMemory,
  query: PageQuery & { subject: string },
): Promise<Page<Grant>> {
  const { subject, limit } = query;
  const scope = ['grants', memory.tenantId, subject];
  const position = positionOf(context, scope, query.cursor);
  const after = position && { relation: relationAt(position[0]), object: position[1] ?? '' };
  const page = await memory.pinPage(subject);
  try {
    const rows = page.whole
      ? page.grants().filter((row) => after === undefined || compareRows(row, { ...row, ...after }) > 0)
      : await sparseRows(context, memory, { subject, relation: undefined, after, prefix: '', limit: limit + 1 });
    const items = rows.slice(0, limit).map((row) => ({ subject, ...row }));
    const last = items.at(-1);
    const more = rows.length > limit && last !== undefined;
    return { items, nextCursor: more ? cursorAt(context, scope, [last.relation, last.object]) : undefined };
  } finally {
    memory.unpinPage(page);
  }
}

interface RowsQuery {
  readonly subject: string;
  readonly relation: Relation | undefined;
  readonly after: { readonly relation: Relation; readonly object: string } | undefined;
  readonly prefix: string;
  readonly limit: number;
}

/** Up to `limit` live grants of a subject that is too large for a whole page. */
async function sparseRows(
  context: ListingContext,
  memory: TenantMemory,
  query: RowsQuery,
): Promise<readonly GrantRow[]> {
  const delta = memory.openDelta(query.subject);
  try {
    const read: GrantRow[] = [];
    let after = query.after;
    while (true) {
      const { grants, next } = await readFromStore(
        context.store.listGrants(
          {
            tenantId: memory.tenantId,
            subject: query.subject,
            ...(query.relation === undefined ? {} : { relation: query.relation }),
            ...(after === undefined ? {} : { after }),
            limit: Math.max(query.limit, ROWS_PER_READ_MIN),
          },
          storeDeadline(context.clock),
        ),
      );
      read.push(...grants);
      const past = grants.some(({ object }) => !object.startsWith(query.prefix));
      const rows = underDelta(read, delta, query, past ? undefined : next);
      if (rows.length >= query.limit || next === undefined || past) return rows.slice(0, query.limit);
      after = next;
    }
  } finally {
    memory.closeDelta(delta);
  }
}

/** What was read, corrected by what was committed since, up to where was read (`end` undefined: to the end). */
function underDelta(
  read: readonly GrantRow[],
  delta: SubjectDelta,
  query: RowsQuery,
  end: { readonly relation: Relation; readonly object: string } | undefined,
): GrantRow[] {
  const rows = read.filter((row) => delta.find(relationNumber(row.relation) ?? 0, row.object) === undefined);
  for (const { relation: number, object, facts } of delta.changes()) {
    const relation = relationOf(number);
    if (facts === null || relation === undefined) continue;
    const row = { relation, object, ...facts };
    const wanted = query.relation === undefined || query.relation === relation;
    const behind = query.after === undefined || compareRows(row, { ...row, ...query.after }) > 0;
    const within = end === undefined || compareRows(row, { ...row, ...end }) <= 0;
    if (wanted && behind && within) rows.push(row);
  }
  return rows.filter(({ object }) => object.startsWith(query.prefix)).sort(compareRows);
}

/** Subjects of a tenant after `after`, ascending over all buckets. */
async function subjectsAfter(
  context: ListingContext,
  memory: TenantMemory,
  after: string | undefined,
  limit: number,
): Promise<string[]> {
  const { tenantId } = memory;
  const buckets = await Promise.all(
    Array.from({ length: SUBJECT_BUCKETS }, (_, bucket) =>
      readFromStore(
        context.store.listSubjects(
          { tenantId, bucket, limit, ...(after === undefined ? {} : { after }) },
          storeDeadline(context.clock),
        ),
      ),
    ),
  );
  return buckets.flat().sort(compareUtf8).slice(0, limit);
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
    items.push(...(await liveGrants(context, memory, subject, after, query.limit + 1)));
  }
  for (let atOnce = 1; items.length <= query.limit; atOnce = Math.min(4 * atOnce, SUBJECTS_AT_ONCE_MAX)) {
    const subjects = await subjectsAfter(context, memory, subject, atOnce);
    const limit = query.limit + 1 - items.length;
    const grants = await Promise.all(subjects.map((each) => liveGrants(context, memory, each, undefined, limit)));
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
  context: ListingContext,
  memory: TenantMemory,
  subject: string,
  start: { readonly relation: Relation; readonly object: string } | undefined,
  limit: number,
): Promise<Grant[]> {
  const found: Grant[] = [];
  let after = start;
  while (true) {
    const { grants, next } = await readFromStore(
      context.store.listGrants(
        {
          tenantId: memory.tenantId,
          subject,
          ...(after === undefined ? {} : { after }),
          limit: Math.max(limit, ROWS_PER_READ_MIN),
        },
        storeDeadline(context.clock),
      ),
    );
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
