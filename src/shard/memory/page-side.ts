// The two sides from which grants are read: by subject and by object. Pages of both sides get rows of the same form,
// whichever table of the store they come from.

import type { Clock } from '../../core/async/clock.ts';
import { type Turns, turnOf } from '../../core/async/turns.ts';
import { attributesOf, type GrantAttributes } from '../../core/grant-attributes.ts';
import type { TenantId } from '../../core/ids.ts';
import type { Relation } from '../../core/tuples.ts';
import type { DeadlineMs, GrantRow, ObjectGrantRow, StateReads } from '../../store/store.ts';
import { readFromStore, storeDeadline } from '../store-calls.ts';
import type { GrantPage, PagePlace, PageRow } from './grant-page.ts';
import type { RelationNumbers } from './relation-numbers.ts';

export interface PageRowsQuery {
  readonly entity: string;
  /** Only this relation. */
  readonly relation?: Relation;
  readonly after?: PagePlace;
  /** Rows to examine, tombstone rows included. */
  readonly limit: number;
}

export interface PageRows {
  /** The live ones, ascending by the bytes of (relation, counterpart). */
  readonly rows: readonly PageRow[];
  /** Where to continue; undefined: at the end. */
  readonly next: PagePlace | undefined;
}

export interface RowsOfEachQuery {
  readonly entities: readonly string[];
  /** Rows to examine of each, tombstone rows included. */
  readonly limit: number;
}

export interface FirstRows {
  readonly rows: readonly PageRow[];
  readonly isAll: boolean;
}

export interface PageSide {
  readonly name: 'subject' | 'object';
  listRows(store: StateReads, tenantId: TenantId, query: PageRowsQuery, deadline: DeadlineMs): Promise<PageRows>;
  /** The first rows of several entities, in their order. */
  listRowsOfEach(
    store: StateReads,
    tenantId: TenantId,
    query: RowsOfEachQuery,
    deadline: DeadlineMs,
  ): Promise<readonly FirstRows[]>;
  readTuple(
    store: StateReads,
    tenantId: TenantId,
    tuple: { readonly entity: string; readonly relation: Relation; readonly counterpart: string },
    deadline: DeadlineMs,
  ): Promise<GrantAttributes | undefined>;
}

const pageRowOf = (row: GrantRow): PageRow => ({
  relation: row.relation,
  counterpart: row.object,
  ...attributesOf(row),
});

const pageRowOfObject = (row: ObjectGrantRow): PageRow => ({
  relation: row.relation,
  counterpart: row.subject,
  ...attributesOf(row),
});

export const SUBJECT_SIDE: PageSide = {
  name: 'subject',
  async listRows(store, tenantId, { entity, after, ...range }, deadline) {
    const from = after && { after: { relation: after.relation, object: after.counterpart } };
    const { grants, next } = await store.listGrants({ tenantId, subject: entity, ...range, ...from }, deadline);
    return {
      rows: grants.map(pageRowOf),
      next: next && { relation: next.relation, counterpart: next.object },
    };
  },
  async listRowsOfEach(store, tenantId, { entities, limit }, deadline) {
    const listed = await store.listGrantsOfEach({ tenantId, subjects: entities, limit }, deadline);
    return listed.map(({ grants, isAll }) => ({ rows: grants.map(pageRowOf), isAll }));
  },
  readTuple: (store, tenantId, { entity, relation, counterpart }, deadline) =>
    store.readGrant(tenantId, entity, relation, counterpart, deadline),
};

export const OBJECT_SIDE: PageSide = {
  name: 'object',
  async listRows(store, tenantId, { entity, after, ...range }, deadline) {
    const from = after && { after: { relation: after.relation, subject: after.counterpart } };
    const { grants, next } = await store.listObjectGrants({ tenantId, object: entity, ...range, ...from }, deadline);
    return {
      rows: grants.map(pageRowOfObject),
      next: next && { relation: next.relation, counterpart: next.subject },
    };
  },
  async listRowsOfEach(store, tenantId, { entities, limit }, deadline) {
    const listed = await store.listObjectGrantsOfEach({ tenantId, objects: entities, limit }, deadline);
    return listed.map(({ grants, isAll }) => ({ rows: grants.map(pageRowOfObject), isAll }));
  },
  readTuple: (store, tenantId, { entity, relation, counterpart }, deadline) =>
    store.readGrant(tenantId, counterpart, relation, entity, deadline),
};

// ---- reads of the store ----

/** Estimated bytes of a row while it is read: the longest take slightly more, most take much less. */
export const ROW_BYTES = 1024;
/** Entities of one read, and rows of each: most have fewer, and the others are then read one by one. */
export const ENTITIES_PER_READ = 32;
export const ROWS_OF_EACH = 32;
/** Rows processed at once; with more rows, each slice waits for its own turn. */
export const ROWS_AT_ONCE = 32;
/** Approximate cost to the process of a read, of each of its rows, and of processing one slice. */
export const READ_MS = 0.2;
const ROW_MS = 0.01;
export const SLICE_MS = 0.3;
/** Weight of the last read in the estimate for the tenant's next read. */
const LAST_READ_WEIGHT = 0.25;

export interface RowReaderDependencies {
  readonly store: StateReads;
  readonly clock: Clock;
  readonly budget: { readonly turns: Turns };
}

/**
 * Reads rows of one tenant on one side from the store and fills pages with them. A read starts, and each slice of its
 * rows is processed, in a turn of the tenant.
 */
export class RowReader {
  readonly #tenantId: TenantId;
  readonly #side: PageSide;
  readonly #relations: RelationNumbers;
  readonly #dependencies: RowReaderDependencies;
  /** Expected rows of a read: most entities have few, and a tenant with large ones mostly has several. */
  #rowsExpected = 0;

  constructor(tenantId: TenantId, side: PageSide, relations: RelationNumbers, dependencies: RowReaderDependencies) {
    this.#tenantId = tenantId;
    this.#side = side;
    this.#relations = relations;
    this.#dependencies = dependencies;
  }

  /** Resolves in a turn of this tenant, for work that costs about `costMs`. */
  turn(costMs: number): Promise<void> {
    return turnOf(this.#dependencies.budget.turns, this.#tenantId, costMs);
  }

  async list(query: PageRowsQuery): Promise<PageRows> {
    const { store, clock } = this.#dependencies;
    await this.turn(READ_MS + ROW_MS * Math.min(query.limit, this.#rowsExpected));
    const read = await readFromStore(this.#side.listRows(store, this.#tenantId, query, storeDeadline(clock)));
    this.#rowsExpected += LAST_READ_WEIGHT * (read.rows.length - this.#rowsExpected);
    return read;
  }

  /** In a turn already: see `turn`. */
  async listOfEach(query: RowsOfEachQuery): Promise<readonly FirstRows[]> {
    const { store, clock } = this.#dependencies;
    return readFromStore(this.#side.listRowsOfEach(store, this.#tenantId, query, storeDeadline(clock)));
  }

  /** Results of many reads may arrive together; they are processed in turns, so that other work gets its share. */
  async takeIn({ rows }: PageRows): Promise<void> {
    if (rows.length > ROWS_AT_ONCE) await this.turn(SLICE_MS);
  }

  /** Fills a page that is not visible yet. */
  async fill(page: GrantPage, rows: readonly PageRow[]): Promise<void> {
    for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
      if (rows.length > ROWS_AT_ONCE) await this.turn(SLICE_MS);
      page.add(rows.slice(start, start + ROWS_AT_ONCE), this.#relations);
    }
  }
}
