// Listings, with and without rules: ascending by bytes, continued by key, so an item that exists throughout appears
// exactly once. Without rules, an entity with a whole page is listed from memory, a larger one from the state tables
// (memory/grant-range.ts); with rules, evaluation/evaluate-listings.ts lists. A result page is bounded both in what it
// reads and in what it returns, since a subject may have millions of tombstone rows. At the read bound, the page has
// what was found so far, possibly nothing, and its cursor continues from there.

import type { Clock } from '../../core/async/clock.ts';
import { type CallContext, contextOf, contextScope } from '../../core/call-context.ts';
import { GrantdError } from '../../core/errors.ts';
import { type CursorSecrets, createCursor, parseCursor } from '../../core/text/cursors.ts';
import { type Grant, isRelation, isRelationName, type Relation } from '../../core/tuples.ts';
import { demandDeclared } from '../../rules/allowed-grants.ts';
import type { StateStore } from '../../store/store.ts';
import {
  type HeldPage,
  type ListingQuery as ListingPage,
  listHeldObjects,
  listHoldingSubjects,
} from '../evaluation/evaluate-listings.ts';
import type { CallTenant } from '../evaluation/rounds.ts';
import { ListingTime } from '../log/slot-time.ts';
import type { ServedTenure } from '../log/tenure.ts';
import type { GrantPage, PagePlace, PageRow } from '../memory/grant-page.ts';
import type { GrantPages } from '../memory/grant-pages.ts';
import { FirstGrants, type RangeQuery, ROWS_PER_PAGE_MAX } from '../memory/grant-range.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { GrantsQuery, HoldersPage, HoldersQuery, ObjectsQuery, PageQuery, ResultPage } from '../shard.ts';

/** How often a listing starts over if its subject changed too much while it was read. */
const LISTING_TRIES = 3;

export interface ListingContext {
  readonly store: StateStore;
  readonly clock: Clock;
  readonly secrets: CursorSecrets;
}

export interface Listing {
  readonly tenure: ServedTenure;
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
  if (text === undefined || !isRelationName(text))
    throw new GrantdError('invalid-cursor', '"cursor" contains no position.');
  return text;
};

// The names of listings in cursors are the same with rules and without: they may be written between two pages.

export function listObjects(
  context: ListingContext,
  listing: Listing,
  { subject, ...query }: ObjectsQuery,
): Promise<ResultPage<string>> {
  const name = query.direct === true ? 'direct-objects' : 'objects';
  return listHeld(context, listing, [name, subject], query, (ruled, page) => listHeldObjects(ruled, subject, page));
}

export function listHolders(
  context: ListingContext,
  listing: Listing,
  { object, includeSelf = false, ...query }: HoldersQuery,
): Promise<HoldersPage> {
  const name = query.direct === true ? 'direct-holders' : includeSelf ? 'holders-and-self' : 'holders';
  return listHeld(context, listing, [name, object], query, (ruled, page) =>
    listHoldingSubjects(ruled, object, { ...page, includeSelf }),
  );
}

type NamedQuery = Omit<ObjectsQuery, 'subject'>;

/** What a cursor of a listing by name is bound to. */
const scopeOf = (
  name: string,
  { memory }: Listing,
  entity: string,
  query: Pick<NamedQuery, 'relation' | 'namespace'> & CallContext,
): readonly string[] => [name, memory.tenantId, entity, query.relation, query.namespace ?? '', ...contextScope(query)];

async function listHeld(
  context: ListingContext,
  listing: Listing,
  [name, entity]: readonly [string, string],
  query: NamedQuery,
  list: (ruled: CallTenant, page: ListingPage) => Promise<HeldPage>,
): Promise<HoldersPage> {
  const { relation, namespace, direct = false, limit, cursor } = query;
  const scope = scopeOf(name, listing, entity, query);
  const prefix = namespace === undefined ? '' : `${namespace}:`;
  const after = positionOf(context, scope, cursor)?.[0] ?? '';
  const ruled = { ...listing, clock: context.clock };
  const asked = { name: relation, call: contextOf(query), direct, prefix, after, countMax: limit + 1 };
  const { texts, excluded, rest } = await list(ruled, asked);
  const page = texts.slice(0, limit);
  const next = texts.length > limit ? page.at(-1) : rest;
  const nextCursor = next === undefined ? undefined : cursorAt(context, scope, [next]);
  if (excluded.size === 0) return { items: page, nextCursor };
  const [items, without] = [page.filter((each) => !excluded.has(each)), page.filter((each) => excluded.has(each))];
  return { items, nextCursor, excluded: without };
}

export async function listGrants(
  context: ListingContext,
  listing: Listing,
  { of, ...query }: GrantsQuery,
): Promise<ResultPage<Grant>> {
  const { memory } = listing;
  using _rules = await pinDeclared(memory, relationsOf(query));
  if ('subject' in of) {
    const { subject } = of;
    const anchor = { name: 'grants', pages: memory.pages, entity: subject };
    const { items, nextCursor } = await listRows(context, listing, anchor, query);
    return { items: items.map(({ counterpart, ...row }) => ({ subject, object: counterpart, ...row })), nextCursor };
  }
  const { object } = of;
  const anchor = { name: 'grants-on', pages: memory.objectPages, entity: object };
  const { items, nextCursor } = await listRows(context, listing, anchor, query);
  return { items: items.map(({ counterpart, ...row }) => ({ subject: counterpart, object, ...row })), nextCursor };
}

/**
 * The rules, pinned, if one of the relations is an own one. Throws `invalid-relation` if the tenant does not declare it
 * now.
 */
export async function pinDeclared(
  { rules }: TenantMemory,
  relations: readonly Relation[],
): Promise<Disposable | undefined> {
  const own = relations.filter((relation) => !isRelation(relation));
  if (own.length === 0) return undefined;
  using pin = new DisposableStack();
  pin.use(await rules.pin());
  for (const relation of own) demandDeclared(relation, () => rules.pinned);
  return pin.move();
}

export const relationsOf = ({ relation }: { readonly relation: Relation | undefined }): readonly Relation[] =>
  relation === undefined ? [] : [relation];

/** The entity whose grants are listed. */
interface Anchor {
  /** The name of the listing in its cursors. */
  readonly name: string;
  readonly pages: GrantPages;
  readonly entity: string;
}

/**
 * Runs a part of a listing that is evaluated at one time of the slot. If it meets a grant that has expired since the
 * last entry of the log, it waits until the log says so, and runs again.
 */
export async function atOneTime<Result>(
  { tenure, assertWanted }: Listing,
  run: (time: ListingTime) => Promise<Result>,
): Promise<Result> {
  const { slotTime } = tenure;
  const time = new ListingTime(slotTime, slotTime.nowMs);
  const result = await run(time);
  if (!time.waits) return result;
  await tenure.advance();
  assertWanted();
  return run(new ListingTime(slotTime, slotTime.loggedMs));
}

/** The whole page of an entity, if it is in memory or small; valid until the next await. */
export async function pageInMemory(pages: GrantPages, entity: string): Promise<GrantPage | undefined> {
  if (pages.get(entity) === undefined) await pages.load(entity);
  const page = pages.get(entity);
  if (page === undefined || !page.whole) return undefined;
  page.referenced = true;
  return page;
}

interface FoundRows {
  readonly rows: readonly PageRow[];
  /** Where the listing continues, if the bound of rows has ended the read. */
  readonly rest: PagePlace | undefined;
}

async function listRows(
  context: ListingContext,
  listing: Listing,
  { name, pages, entity }: Anchor,
  { relation, limit, cursor }: Omit<GrantsQuery, 'of'>,
): Promise<ResultPage<PageRow>> {
  const scope = [name, listing.memory.tenantId, entity, ...(relation === undefined ? [] : [relation])];
  const position = positionOf(context, scope, cursor);
  const after = position && { relation: relationAt(position[0]), counterpart: position[1] ?? '' };
  const { rows, rest } = await atOneTime(listing, async ({ keeps }): Promise<FoundRows> => {
    const page = await pageInMemory(pages, entity);
    if (page !== undefined)
      return { rows: page.grantsAfter(pages.relations, after, limit + 1, relation, keeps), rest: undefined };
    return sparseRows(listing, pages, { entity, relation, after }, limit + 1, keeps);
  });
  const items = rows.slice(0, limit);
  const next = rows.length > limit ? items.at(-1) : rest;
  return { items, nextCursor: next && cursorAt(context, scope, [next.relation, next.counterpart]) };
}

/** Up to `countMax` live grants of an entity without a whole page in memory. */
async function sparseRows(
  { tenure, assertWanted }: Listing,
  pages: GrantPages,
  query: RangeQuery,
  countMax: number,
  keeps: ListingTime['keeps'],
): Promise<FoundRows> {
  for (let tries = 0; tries < LISTING_TRIES; tries += 1) {
    const range = new FirstGrants(pages, query);
    // Changes that wait for write-behind are in the state tables a moment later.
    if (range.hasChanged) await tenure.applied();
    else {
      await range.readFirst({ countMax, rowsMax: ROWS_PER_PAGE_MAX, keeps, assertWanted });
      const found = range.first(countMax, keeps);
      if (found !== undefined) return found;
    }
  }
  throw new GrantdError('overloaded', 'These grants change faster than they can be listed.');
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
