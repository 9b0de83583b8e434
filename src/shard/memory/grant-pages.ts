// The pages of one tenant's entities on one side, its subjects or its objects: their loading, updates and eviction.
// Invariant: a page in memory reflects every commit so far, and the tuples of a call are current when it gets its
// reply. No caller relies on a page across an await; a call watches the tuples that it needs (watched-tuples.ts), so
// any page may be evicted at any time.
//
// The first read of an entity returns up to `rowsPerRead` rows. If that is all, the page is whole. Otherwise the page
// is sparse, and tuples are read one by one. After enough such reads the remaining rows are read too, in slices and in
// the background, up to the bounds of a whole page.
//
//   absent ──first read, complete──▶ whole ──grown beyond its bounds──▶ absent
//      └──── first read, partial ──▶ sparse ──many reads, then read to the end──▶ whole

import type { Clock } from '../../core/async/clock.ts';
import { inParallel } from '../../core/async/in-parallel.ts';
import { GrantdError } from '../../core/errors.ts';
import { attributesOf, type GrantAttributes } from '../../core/grant-attributes.ts';
import type { TenantId } from '../../core/ids.ts';
import { StringMap } from '../../core/structures/string-map.ts';
import type { Relation, TupleColumns } from '../../core/tuples.ts';
import type { StateReads } from '../../store/store.ts';
import { readFromStore, storeDeadline, yieldTurn } from '../store-calls.ts';
import { CHANGES_MAX, type GrantDelta, GrantDeltas } from './grant-deltas.ts';
import { type Counterparts, GrantPage, type PagePlace, type PageRow } from './grant-page.ts';
import type { PageLimits } from './limits.ts';
import type { MemoryBudget } from './memory-budget.ts';
import {
  ENTITIES_PER_READ,
  type FirstRows,
  type PageRows,
  type PageRowsQuery,
  type PageSide,
  READ_MS,
  ROW_BYTES,
  ROWS_AT_ONCE,
  ROWS_OF_EACH,
  RowReader,
  SLICE_MS,
} from './page-side.ts';
import type { RelationNumbers } from './relation-numbers.ts';
import { SweptRanges } from './swept-ranges.ts';
import { copyOf } from './tuple-text.ts';
import { takeFrom, type WatchedTuple, WatchedTuples, watchedBytes } from './watched-tuples.ts';

/** Reads of several entities at once, ahead of calls. */
const PRELOADED_READS = 8;
/** A point read and its waiting callers. */
const POINT_READ_BYTES = 16 * 1024;
/**
 * A whole page may exceed its bounds by this factor, so that a page near its bounds is not reloaded after a few
 * changes.
 */
const GROWTH_MAX = 1.25;
/** A listing from the store reads many rows. */
const READS_OF_LISTING = 8;
/** Tuples of one call that are looked up at once, so that the tenant's other calls get their share. */
const TUPLES_AT_ONCE = 32;
/** Tuples registered in one step. */
const TUPLES_PER_STEP = 250;

export interface GrantPagesDependencies {
  readonly store: StateReads;
  readonly clock: Clock;
  readonly budget: MemoryBudget;
  readonly pageLimits: PageLimits;
}

/** A filter over the entities of a side that have grants. */
export interface EntityFilter {
  /** Whether the entity is known to have no grant, given everything committed so far. */
  lacks(entity: string): boolean;
  /** An entity is read that may have grants. */
  countRead(): void;
}

interface WaitingLoad {
  readonly entity: string;
  readonly resolve: (page: GrantPage) => void;
  readonly reject: (error: unknown) => void;
}

const NO_ROWS: FirstRows = { rows: [], isAll: false };

/** The tuples of a call, each known and current until they are disposed of. */
export interface HeldTuples extends Disposable {
  readonly tuples: readonly WatchedTuple[];
}

export class GrantPages {
  readonly #tenantId: TenantId;
  readonly #side: PageSide;
  readonly #dependencies: GrantPagesDependencies;
  readonly relations: RelationNumbers;
  readonly #reader: RowReader;
  readonly #filter: EntityFilter | undefined;
  #pages = new StringMap<GrantPage>();
  readonly #deltas = new GrantDeltas();
  readonly #watched = new WatchedTuples();
  /** Created at the first use. */
  #swept: SweptRanges | undefined;
  /** Reads of entities, and reads to their end, that calls wait for. Each map is created at its first use. */
  #loads: Map<string, Promise<GrantPage>> | undefined;
  #wholeLoads: Map<string, Promise<void>> | undefined;
  /** Entities that are read ahead of calls, created at its first use: see `loadTogether`. */
  #ahead: Map<string, Promise<unknown>> | undefined;
  /** Loads that begin in the next turn of the tenant. */
  #queue: WaitingLoad[] | undefined;
  #dropped = false;
  /** One function for all pages: there may be millions. */
  readonly #forget = (page: GrantPage): void => {
    this.#pages.delete(page.entity);
  };

  constructor(
    tenantId: TenantId,
    side: PageSide,
    relations: RelationNumbers,
    dependencies: GrantPagesDependencies,
    filter?: EntityFilter,
  ) {
    this.#filter = filter;
    this.#tenantId = tenantId;
    this.#side = side;
    this.relations = relations;
    this.#dependencies = dependencies;
    this.#reader = new RowReader(tenantId, side, relations, dependencies);
  }

  get limits(): PageLimits {
    return this.#dependencies.pageLimits;
  }

  // ---- content in memory ----

  /** Current as of now: valid until the next await. */
  get(entity: string): GrantPage | undefined {
    return this.#pages.get(entity);
  }

  getMany(entities: readonly string[]): (GrantPage | undefined)[] {
    return this.#pages.getMany(entities);
  }

  get size(): number {
    return this.#pages.size;
  }

  /** The entities of pages in memory, and whether each was used of late. */
  *entities(): Generator<{ readonly entity: string; readonly isRecent: boolean }> {
    for (const { entity, referenced } of this.#pages.values()) yield { entity, isRecent: referenced };
  }

  /** The counterparts with a `#` in a whole page, of all relations. Read them before the next change of the page. */
  markedOf(page: GrantPage): readonly Counterparts[] {
    if (page.marked !== undefined) return page.marked;
    const marked = page.gatherMarked();
    if (marked.length > 0) this.#dependencies.budget.resize(page, page.estimate);
    return marked;
  }

  /** Whether the entity is known to have a grant, given everything committed so far. */
  holdsSome(entity: string): boolean {
    return this.#pages.get(entity)?.holdsSome === true;
  }

  // ---- calls ----

  /** Loads one tuple and keeps it current until it is disposed of. */
  async hold(entity: string, relation: number, counterpart: string): Promise<HeldTuples> {
    using held = new DisposableStack();
    const tuple = held.adopt(this.#watch(entity, relation, counterpart), (watched) => this.#watched.unwatch(watched));
    await this.#learn(tuple);
    return Object.assign(held.move(), { tuples: [tuple] });
  }

  /**
   * The same for many tuples, in their order. Rejects with `overloaded` if calls of this tenant already hold too many.
   */
  async holdAll({ subjects, relations, objects }: TupleColumns): Promise<HeldTuples> {
    const { budget, clock } = this.#dependencies;
    const bytes = subjects.reduce((sum, entity, index) => sum + watchedBytes(entity, objects[index] ?? ''), 0);
    using held = new DisposableStack();
    held.defer(await budget.calls.enter(this.#tenantId, bytes, clock));
    const tuples: WatchedTuple[] = [];
    held.defer(() => {
      for (const tuple of tuples) this.#watched.unwatch(tuple);
    });
    for (const [index, entity] of subjects.entries()) {
      tuples.push(this.#watch(entity, relations[index] ?? 0, objects[index] ?? ''));
      if (tuples.length % TUPLES_PER_STEP === 0) await yieldTurn(clock);
    }
    await inParallel(
      tuples.filter(({ facts }) => facts === undefined),
      TUPLES_AT_ONCE,
      (tuple) => this.#learn(tuple),
    );
    return Object.assign(held.move(), { tuples });
  }

  /** From here on the tuple receives every commit. */
  #watch(entity: string, relation: number, counterpart: string): WatchedTuple {
    const tuple = this.#watched.watch(entity, relation, counterpart);
    const page = this.#pages.get(entity);
    if (page !== undefined) {
      page.referenced = true;
      takeFrom(page, tuple);
    }
    if (tuple.facts !== undefined) return tuple;
    tuple.facts = this.#deltas.find(entity, relation, counterpart)?.facts;
    if (page !== undefined) this.#remember(page, tuple);
    return tuple;
  }

  /** Stores what is known of a tuple in its sparse page. */
  #remember(page: GrantPage, { relation, counterpart, facts }: WatchedTuple): void {
    if (facts === undefined || page.find(relation, counterpart) !== undefined) return;
    page.set(relation, copyOf(counterpart), facts);
    this.changed(page);
  }

  /** The result of a read counts unless a newer commit arrived in the meantime. */
  async #learn(tuple: WatchedTuple): Promise<void> {
    if (tuple.facts === undefined) takeFrom(this.#pages.get(tuple.entity) ?? (await this.load(tuple.entity)), tuple);
    if (tuple.facts !== undefined) return;
    tuple.read ??= this.#readTuple(tuple);
    await tuple.read;
  }

  // ---- reads of the store ----

  /**
   * Loads the page of an entity that is not in memory. Concurrent callers share one read. The page may already be
   * evicted again when the promise resolves.
   */
  load(entity: string): Promise<GrantPage> {
    this.#loads ??= new Map();
    const loads = this.#loads;
    let load = loads.get(entity);
    if (load === undefined) {
      const ahead = this.#ahead?.get(entity);
      if (ahead !== undefined) return ahead.then(() => this.#pages.get(entity) ?? this.load(entity));
      const kept = copyOf(entity);
      if (this.#filter?.lacks(entity) === true) {
        const page = new GrantPage(kept, true, this.#forget);
        this.#install(page);
        return Promise.resolve(page);
      }
      this.#filter?.countRead();
      load = this.#enqueue(kept).catch((error: unknown) => {
        loads.delete(kept);
        throw error;
      });
      loads.set(kept, load);
    }
    return load;
  }

  /**
   * Loads those of the entities whose rows one read of several entities has room for, ahead of calls, which wait for
   * that read. Resolves to the entities that it has loaded; rejects as a read does.
   */
  async loadTogether(entities: readonly string[]): Promise<readonly string[]> {
    this.#ahead ??= new Map();
    const ahead = this.#ahead;
    const isRead = (entity: string) =>
      this.#pages.has(entity) || this.#loads?.has(entity) === true || ahead.has(entity);
    const loaded: string[] = [];
    for (let rest = entities; rest.length > 0; rest = rest.slice(this.#readTogetherMax)) {
      const absent = rest.slice(0, this.#readTogetherMax).filter((entity) => !isRead(entity));
      if (absent.length === 0) continue;
      const reading = this.#readEach(absent, ({ entity }) => void loaded.push(entity));
      const settled = reading.catch(() => {});
      for (const entity of absent) ahead.set(entity, settled);
      try {
        await reading;
      } finally {
        for (const entity of absent) ahead.delete(entity);
      }
    }
    return loaded;
  }

  /** Takes a page that was read before the log was replayed from there. */
  take(entity: string, rows: readonly PageRow[]): void {
    if (rows.length > this.limits.rowsMax || this.#pages.has(entity)) return;
    this.#install(this.#pageOf(entity, rows));
  }

  /** With all of its rows. */
  #pageOf(entity: string, rows: readonly PageRow[]): GrantPage {
    const page = new GrantPage(entity, true, this.#forget);
    page.add(rows, this.relations);
    return page;
  }

  /** Loads the pages of entities that are not in memory, in few reads, while there is room. */
  async preload(entities: readonly string[]): Promise<void> {
    const { budget } = this.#dependencies;
    const step = ENTITIES_PER_READ * PRELOADED_READS;
    for (let start = 0; start < entities.length && !budget.isNearlyFull; start += step) {
      const absent = entities.slice(start, start + step).filter((entity) => !this.#pages.has(entity));
      await Promise.all(absent.map((entity) => this.load(entity)));
    }
  }

  /**
   * Reads an entity to its end, so that its page is whole unless it is larger than whole pages are
   * (`SparseState.large`). Concurrent callers share one read. The page may already be evicted again when the promise
   * resolves.
   */
  loadWhole(entity: string): Promise<void> {
    this.#wholeLoads ??= new Map();
    const loads = this.#wholeLoads;
    let load = loads.get(entity);
    if (load === undefined) {
      const kept = copyOf(entity);
      load = this.#loadWhole(kept).finally(() => loads.delete(kept));
      loads.set(kept, load);
    }
    return load;
  }

  async #loadWhole(entity: string): Promise<void> {
    const { budget, clock, pageLimits } = this.#dependencies;
    const page = this.#pages.get(entity) ?? (await this.load(entity));
    if (page.whole || page.sparse?.large === true) return;
    await budget.loads.run(this.#tenantId, pageLimits.bytesMax, clock, async () => {
      if (this.#pages.get(entity) === page) await this.#readWhole(page);
    });
  }

  /** Open this before a read that is to be evaluated under it. */
  openDelta(entity: string): GrantDelta {
    return this.#deltas.open(entity);
  }

  /**
   * Up to here, no committed grant of the entity matches, except those in an open delta. For reads that are evaluated
   * at the turn of a write, since a revocation up to here may still be in flight.
   */
  sweptTo(entity: string, relation: Relation | undefined): PagePlace | undefined {
    return this.#swept?.get(entity, relation);
  }

  /** A decision of this moment leaves no grant that matches up to this place. */
  sweep(entity: string, relation: Relation | undefined, upTo: PagePlace): void {
    this.#swept ??= new SweptRanges();
    this.#swept.set(copyOf(entity), relation, { ...upTo, counterpart: copyOf(upTo.counterpart) });
  }

  /** Reads rows of an entity for a listing; its page is not whole. */
  async readRows(query: PageRowsQuery): Promise<PageRows> {
    const { budget, clock, pageLimits } = this.#dependencies;
    const page = this.#pages.get(query.entity);
    if (page !== undefined) this.#countReads(page, READS_OF_LISTING);
    const limit = Math.min(query.limit, pageLimits.rowsPerListing);
    return budget.loads.run(this.#tenantId, ROW_BYTES * limit, clock, async () => {
      const read = await this.#reader.list({ ...query, limit });
      await this.#reader.takeIn(read);
      return read;
    });
  }

  /** What is asked for until the tenant has its turn is read together. */
  #enqueue(entity: string): Promise<GrantPage> {
    return new Promise((resolve, reject) => {
      this.#queue ??= [];
      this.#queue.push({ entity, resolve, reject });
      if (this.#queue.length === 1) void this.#readQueue();
    });
  }

  async #readQueue(): Promise<void> {
    const countMax = this.#readTogetherMax;
    await this.#reader.turn(0);
    const queue = this.#queue ?? [];
    this.#queue = undefined;
    for (let start = 0; start < queue.length; start += countMax) {
      const waiting = queue.slice(start, start + countMax);
      const [first] = waiting;
      if (first !== undefined && waiting.length === 1) this.#load(first.entity).then(first.resolve, first.reject);
      else {
        this.#loadEach(waiting).catch((error: unknown) => {
          for (const { reject } of waiting) reject(error);
        });
      }
    }
  }

  async #loadEach(waiting: readonly WaitingLoad[]): Promise<void> {
    const entities = waiting.map(({ entity }) => entity);
    const larger = await this.#readEach(entities, (page, index) => waiting[index]?.resolve(page));
    for (const index of larger) {
      const each = waiting[index];
      if (each !== undefined) this.#load(each.entity).then(each.resolve, each.reject);
    }
  }

  /** Rows of each entity in a read of several. */
  get #rowsOfEach(): number {
    const { rowsPerRead, rowsMax } = this.limits;
    return Math.min(ROWS_OF_EACH, rowsPerRead, rowsMax);
  }

  /** Entities of one read. */
  get #readTogetherMax(): number {
    const { callBytesMax } = this.#dependencies.budget.loads;
    return Math.min(ENTITIES_PER_READ, Math.max(1, Math.floor(callBytesMax / (ROW_BYTES * this.#rowsOfEach))));
  }

  /**
   * Reads several entities at once. `take`: gets each page, once it is installed. Resolves to the indexes of those that
   * have more rows, or have changed too much meanwhile.
   */
  async #readEach(
    entities: readonly string[],
    take: (page: GrantPage, index: number) => void,
  ): Promise<readonly number[]> {
    const { clock, budget } = this.#dependencies;
    const limit = this.#rowsOfEach;
    return budget.loads.run(this.#tenantId, ROW_BYTES * limit * entities.length, clock, async () => {
      await this.#reader.turn(READ_MS * entities.length);
      const deltas = entities.map((entity) => this.#deltas.open(entity));
      const read = await this.#reader.listOfEach({ entities, limit });
      const others: number[] = [];
      let processed = 0;
      for (const [index, entity] of entities.entries()) {
        const [{ rows, isAll } = NO_ROWS, delta] = [read[index], deltas[index]];
        processed += rows.length + 1;
        if (processed > ROWS_AT_ONCE) {
          await this.#reader.turn(SLICE_MS);
          processed = 0;
        }
        if (!isAll || delta === undefined || delta.size > CHANGES_MAX) others.push(index);
        else {
          const page = this.#pageOf(entity, rows);
          putOver(page, delta);
          this.#loads?.delete(entity);
          this.#install(page);
          take(page, index);
        }
      }
      return others;
    });
  }

  async #load(entity: string): Promise<GrantPage> {
    const { clock, budget, pageLimits } = this.#dependencies;
    const limit = Math.min(pageLimits.rowsPerRead, pageLimits.rowsMax);
    return budget.loads.run(this.#tenantId, ROW_BYTES * limit, clock, async () => {
      const delta = this.#deltas.open(entity);
      const { rows, next } = await this.#reader.list({ entity, limit });
      let page = new GrantPage(entity, next === undefined, this.#forget);
      if (page.whole) {
        await this.#reader.fill(page, rows);
        const fits = delta.size <= CHANGES_MAX && rows.length + delta.size <= pageLimits.rowsMax;
        if (fits) putOver(page, delta);
        else page = new GrantPage(entity, false, this.#forget);
      }
      // From here on, callers find the page or start a new load.
      this.#loads?.delete(entity);
      this.#install(page);
      return page;
    });
  }

  async #readTuple(tuple: WatchedTuple): Promise<void> {
    const { store, clock, budget } = this.#dependencies;
    const { entity, relation, counterpart } = tuple;
    const name = this.relations.nameOf(relation);
    try {
      await budget.loads.run(this.#tenantId, POINT_READ_BYTES, clock, async () => {
        if (tuple.facts !== undefined) return;
        await this.#reader.turn(READ_MS);
        if (tuple.facts !== undefined) return;
        const asked = { entity, relation: name, counterpart };
        const row = await readFromStore(this.#side.readTuple(store, this.#tenantId, asked, storeDeadline(clock)));
        if (tuple.facts !== undefined) return;
        tuple.facts = row === undefined ? null : attributesOf(row);
        const page = this.#pages.get(entity);
        if (page === undefined) return;
        this.#remember(page, tuple);
        this.#countReads(page, 1);
      });
    } finally {
      tuple.read = undefined;
    }
  }

  // ---- sparse pages in frequent use ----

  #countReads(page: GrantPage, reads: number): void {
    const { budget, pageLimits } = this.#dependencies;
    const { sparse } = page;
    if (sparse === undefined || pageLimits.rowsMax <= pageLimits.rowsPerRead) return;
    sparse.reads += reads;
    if (sparse.reads < pageLimits.readsBeforeWhole) return;
    // No call waits for this read, so it takes only capacity that is free.
    const leave = budget.loads.tryEnter(this.#tenantId, pageLimits.bytesMax);
    if (leave === undefined) return;
    // Blocks further attempts until this one is settled; for good if the entity is too large.
    sparse.reads = Number.NEGATIVE_INFINITY;
    void this.#readWhole(page)
      .catch(() => {
        // Retried after the same number of further reads.
        sparse.reads = 0;
      })
      .finally(leave);
  }

  /** Reads an entity to its end, in slices, and replaces the sparse page by the whole one. */
  async #readWhole(former: GrantPage): Promise<void> {
    const { budget, pageLimits } = this.#dependencies;
    const { entity } = former;
    const { rowsMax, bytesMax, rowsPerRead: limit } = pageLimits;
    const delta = this.#deltas.open(entity);
    const page = new GrantPage(entity, true, this.#forget);
    let after: PagePlace | undefined;
    for (let rows = 0; rows < rowsMax; rows += limit) {
      const part = await this.#reader.list({ entity, limit, ...(after === undefined ? {} : { after }) });
      await this.#reader.fill(page, part.rows);
      if (this.#pages.get(entity) !== former) return;
      after = part.next;
      if (after === undefined || page.estimate > bytesMax) break;
    }
    if (after !== undefined || page.estimate > bytesMax) {
      if (former.sparse !== undefined) former.sparse.large = true;
      return;
    }
    if (delta.size > CHANGES_MAX)
      throw new GrantdError('overloaded', 'These grants change faster than they can be read.');
    putOver(page, delta);
    budget.remove(former);
    this.#install(page);
  }

  // ---- commits ----

  /** A commit: every later response reflects it. */
  commit(entity: string, relation: number, counterpart: string, facts: GrantAttributes | null, seq: number): void {
    this.#deltas.commit(entity, { relation, counterpart, facts }, seq);
    this.#watched.commit(entity, relation, counterpart, facts);
    if (facts !== null) this.#swept?.delete(entity);
    const page = this.#pages.get(entity);
    if (page === undefined) return;
    page.set(relation, counterpart, facts);
    this.changed(page);
  }

  /** The state tables now contain every commit up to `seq`. */
  confirm(seq: number): void {
    this.#deltas.confirm(seq);
  }

  /** The tenure has ended: its pages are not used again, and results of pending reads are discarded. */
  drop(): void {
    const { budget, clock } = this.#dependencies;
    this.#dropped = true;
    const pages = this.#pages;
    this.#pages = new StringMap();
    void budget.removeAll(pages.values(), clock);
  }

  #install(page: GrantPage): void {
    if (this.#dropped) return;
    this.#pages.set(page.entity, page);
    this.#dependencies.budget.add(page, page.estimate);
  }

  /** The page holds more, or less. */
  changed(page: GrantPage): void {
    const { budget, pageLimits } = this.#dependencies;
    const { rowsMax, bytesMax } = pageLimits;
    if (!page.whole) page.age(rowsMax);
    else if (page.tuples > GROWTH_MAX * rowsMax || page.estimate > GROWTH_MAX * bytesMax) {
      this.#pages.delete(page.entity);
      budget.remove(page);
      return;
    }
    budget.resize(page, page.estimate);
  }
}

/** Applies what was committed since the reads of a page began. */
function putOver(page: GrantPage, delta: GrantDelta): void {
  for (const { relation, counterpart, facts } of delta.changes()) page.set(relation, counterpart, facts);
}
