// The grants of a tenant for evaluation: the pages of both sides at the present moment. Each call says which of them
// count. The graph records what a run missed, and loads it before the next run. Invariants: within one step, all its
// answers are the state of that moment; across an await it keeps only tuples and ranges, which receive every commit;
// and every method that answers about grants records what it looks at, for answers that are kept (grant-reads.ts).

import { inParallel } from '../../core/async/in-parallel.ts';
import type { GrantAttributes, GrantTerms } from '../../core/grant-attributes.ts';
import { EVERY_SUBJECT, namespaceOf, RELATIONS, type Relation } from '../../core/tuples.ts';
import { type Adjacent, type Enumeration, type Step, TOO_MANY } from '../../rules/graph.ts';
import type { HotPages } from '../log/hot-pages.ts';
import { CHANGES_MAX } from '../memory/grant-deltas.ts';
import {
  type Counterparts,
  GROUP_MARK,
  type GrantPage,
  type GroupGrants,
  type PageRow,
  type TextsQuery,
} from '../memory/grant-page.ts';
import type { GrantPages, HeldTuples } from '../memory/grant-pages.ts';
import { FirstGrants, ROWS_PER_PAGE_MAX } from '../memory/grant-range.ts';
import type { GrantReads } from '../memory/grant-reads.ts';
import type { SubjectFilter } from '../memory/subject-filter.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import { watchedKey } from '../memory/watched-tuples.ts';
import { EnumeratedRange } from './enumerated-range.ts';

/** Entities that one round loads. More are found, and loaded, in the next. */
const MISSING_MAX = 1000;
/** Pages read at once; the gate before the store has its own bound. */
const LOADS_AT_ONCE = 32;
/** Tuples of subjects without a whole page that one call reads, and holds until it ends. */
const TUPLES_MAX = 2000;
/** Rows of a large object, read for its groups alone: a few seconds. */
const GROUP_ROWS_MAX = 1_000_000;
/** Loads of one call that are remembered. */
const LOADS_NOTED_MAX = 10_000;
/** Loads of the same that one call makes: so many, and on average so many of each. */
const RELOADS_MIN = 1000;
const RELOADS_PER_LOAD = 4;
/** Relations and namespaces of which a subject's objects are read one by one. */
const PARTS_MAX = 500;
const NOTHING: readonly Adjacent[] = [];
const BUILT_IN_RELATIONS = RELATIONS.map((_, index) => index + 1);

/** Ascending. */
export interface FirstTexts {
  readonly texts: readonly string[];
  /** The bound of what one page reads has ended them here; undefined: it has not. */
  readonly end: string | undefined;
}

export type Side = 'subject' | 'object';
/** Of the grants of one relation, those to groups, or those whose counterparts begin so. */
interface RangePart {
  readonly groups: boolean;
  readonly prefix: string;
}
const ALL: RangePart = { groups: false, prefix: '' };
const GROUPS: RangePart = { groups: true, prefix: '' };
/** Loads a part of an entity: its page, a whole page, one tuple, the grants of one relation. */
type Load = (assertWanted: () => void) => Promise<void>;
export type Keeps = (terms: GrantTerms) => boolean;

/** How far the grants of entities that are too large for whole pages are enumerated. */
export interface Reach {
  /** Grants of one relation that such an entity may have: all, or those to groups. 0: they are not enumerated. */
  readonly entityGrantsMax: number;
  /** What a call keeps of all such entities. */
  readonly bytesMax: number;
  /** Whether it is the larger of the two reaches that mark pages. */
  readonly isLarge: boolean;
}

/** The needs of loading. An evaluation without them uses only pages in memory. */
export interface GraphLoads {
  /** Resolves when the state tables contain every commit so far. */
  readonly applied: () => Promise<void>;
  /** Reserves memory for what a call keeps of large entities. Resolves to the function that releases it. */
  readonly reserve: () => Promise<() => void>;
}

export class PageGraph implements Disposable {
  readonly #memory: TenantMemory;
  readonly #uses: Pick<HotPages, 'sample'>;
  readonly #reach: Reach;
  readonly #loads: GraphLoads | undefined;
  readonly #subjects: SubjectFilter;
  /** Reads that cost about one each. */
  #missing: Map<string, Load> | undefined;
  /** Reads of many rows: started only once a run misses nothing else, since it may be decided without them. */
  #missingRows: Map<string, Load> | undefined;
  /** Created at the first use, as the maps above: most evaluations find everything in memory. */
  #tuples: Map<string, HeldTuples> | undefined;
  #ranges: Map<string, EnumeratedRange> | undefined;
  /** First grants of entities without a whole page, by entity, relation and page. */
  #first: Map<string, FirstGrants> | undefined;
  /** What was loaded for this call. Memory may have lost some of it since. */
  #loaded: Set<string> | undefined;
  #reloads = 0;
  #rangeBytes = 0;
  /** Rows of large entities are missing. */
  #missesRanges = false;
  #giveBack: (() => void) | undefined;
  #disposed = false;
  /** The last page of each side in this step: a search looks up the same subject, and the same object, in a row. */
  #subjectPage: GrantPage | undefined;
  #objectPage: GrantPage | undefined;

  /** `uses`: is told which pages are used. */
  constructor(memory: TenantMemory, uses: Pick<HotPages, 'sample'>, reach: Reach, loads?: GraphLoads) {
    this.#memory = memory;
    this.#uses = uses;
    this.#reach = reach;
    this.#loads = loads;
    this.#subjects = memory.subjects;
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#giveBack?.();
    for (const tuples of this.#tuples?.values() ?? []) tuples[Symbol.dispose]();
  }

  /** Runs so far. */
  runs = 0;

  /** Takes what is read of the grants from now on; undefined: it is not recorded. */
  reads: GrantReads | undefined;

  /** Whether the present run missed what costs little to load. */
  get missesPages(): boolean {
    return this.#missing !== undefined;
  }

  /** A run begins. */
  startRun(): void {
    this.runs += 1;
    this.startStep();
    this.#missing = undefined;
    this.#missingRows = undefined;
    this.#missesRanges = false;
  }

  /** A step of the event loop begins: pages of an earlier one may have been replaced. */
  startStep(): void {
    this.#subjectPage = undefined;
    this.#objectPage = undefined;
  }

  /** Whether memory loses what is loaded for this call faster than it is used. */
  get isDisplaced(): boolean {
    return this.#reloads > RELOADS_MIN + RELOADS_PER_LOAD * (this.#loaded?.size ?? 0);
  }

  /** Loads what the run missed, as much of it as one round loads. */
  async load(assertWanted: () => void): Promise<void> {
    const missing = this.#missing ?? this.#missingRows;
    const loads = [...(missing?.values() ?? [])];
    for (const key of missing?.keys() ?? []) this.#noteLoad(key);
    if (this.#missing === undefined && this.#missesRanges) await this.reserve();
    await inParallel(loads, LOADS_AT_ONCE, (load) => {
      assertWanted();
      return load(assertWanted);
    });
  }

  #noteLoad(key: string): void {
    this.#loaded ??= new Set();
    if (this.#loaded.has(key)) this.#reloads += 1;
    else if (this.#loaded.size < LOADS_NOTED_MAX) this.#loaded.add(key);
  }

  /** Reserves memory for what the call keeps of large entities, once. */
  async reserve(): Promise<void> {
    this.#giveBack ??= await this.#loads?.reserve();
  }

  /** What `load` reads is needed by the next run. */
  miss(key: string, load: Load): undefined {
    this.#missing ??= new Map();
    if (this.#missing.size < MISSING_MAX) this.#missing.set(key, load);
    return undefined;
  }

  #missRows(key: string, load: Load): undefined {
    this.#missingRows ??= new Map();
    if (this.#missingRows.size < MISSING_MAX) this.#missingRows.set(key, load);
    return undefined;
  }

  #page(side: Side, entity: string): GrantPage | undefined {
    const last = side === 'subject' ? this.#subjectPage : this.#objectPage;
    if (last?.entity === entity) return last;
    const pages = this.#memory.pagesOf(side);
    const page = pages.get(entity);
    if (page === undefined) return this.miss(`${side} ${entity}`, async () => void (await pages.load(entity)));
    page.referenced = true;
    this.#uses.sample(this.#memory.tenantId, side, page.entity);
    if (side === 'subject') this.#subjectPage = page;
    else this.#objectPage = page;
    return page;
  }

  /** The facts of a grant of which the page, a sparse one, does not know whether it exists. */
  #heldFacts({ entity }: GrantPage, relation: number, counterpart: string): GrantAttributes | null | undefined {
    return this.#tuples?.get(watchedKey(entity, relation, counterpart))?.tuples[0]?.facts;
  }

  /**
   * See `Graph`; only the grants that count. States are read by their objects, unless a listing has just brought all of
   * them into memory: they have the same subject.
   */
  relationOf(
    keeps: Keeps,
    subject: string,
    relations: readonly number[],
    object: string,
  ): number | typeof TOO_MANY | undefined {
    this.reads?.tuple(subject, object);
    if (subject === EVERY_SUBJECT) {
      const hasAll = this.#memory.pages.get(subject)?.whole === true;
      if (hasAll) return this.#relationIn(keeps, 'subject', subject, relations, object);
      return this.#relationIn(keeps, 'object', object, relations, subject);
    }
    return this.#subjects.mayHave(subject) ? this.#relationIn(keeps, 'subject', subject, relations, object) : 0;
  }

  #relationIn(
    keeps: Keeps,
    side: Side,
    entity: string,
    relations: readonly number[],
    counterpart: string,
  ): number | typeof TOO_MANY | undefined {
    const page = this.#page(side, entity);
    if (page === undefined) return undefined;
    let otherwise: typeof TOO_MANY | 0 | undefined = 0;
    for (const relation of relations) {
      const known = page.contingent ? undefined : page.holds(relation, counterpart);
      if (known === true) return relation;
      if (known === false) continue;
      const found = page.termsOf(relation, counterpart);
      const terms = found === undefined ? this.#heldFacts(page, relation, counterpart) : found;
      if (terms === undefined) {
        const isFull = (this.#tuples?.size ?? 0) >= TUPLES_MAX;
        otherwise = isFull ? TOO_MANY : undefined;
        if (!isFull) this.#missTuple(side, entity, relation, counterpart);
      } else if (terms !== null && keeps(terms)) return relation;
    }
    return otherwise;
  }

  #missTuple(side: Side, entity: string, relation: number, counterpart: string): void {
    const key = watchedKey(entity, relation, counterpart);
    this.miss(key, async () => {
      const tuples = await this.#memory.pagesOf(side).hold(entity, relation, counterpart);
      this.#tuples ??= new Map();
      if (this.#disposed) tuples[Symbol.dispose]();
      else this.#tuples.set(key, tuples);
    });
  }

  groupsOn(keeps: Keeps, object: string, relations: readonly number[]): Enumeration {
    this.reads?.groups(object);
    const page = this.#wholePage('object', object);
    if (page === undefined) return undefined;
    if (page === TOO_MANY) return this.#groupsOnLarge(keeps, object, relations);
    const marked = this.#memory.objectPages.markedOf(page);
    if (marked.length === 0) return marked;
    const wanted = new Set(relations);
    return this.#current(
      keeps,
      page,
      marked.filter(({ relation }) => wanted.has(relation)),
    );
  }

  subjectsOn(keeps: Keeps, object: string, relations: readonly number[]): Enumeration {
    this.reads?.subjects(object, relations);
    return this.#counterparts(keeps, 'object', object, relations);
  }

  /** `namespaces`: only objects of these; undefined: all. */
  objectsOf(
    keeps: Keeps,
    subject: string,
    relations: readonly number[] | undefined,
    namespaces?: ReadonlySet<string>,
  ): Enumeration {
    this.reads?.objects(subject, relations);
    if (!this.#subjects.mayHave(subject)) return NOTHING;
    if (namespaces === undefined) return this.#counterparts(keeps, 'subject', subject, relations);
    const given = relations ?? this.#grantedRelations;
    if (given.length * namespaces.size > PARTS_MAX) return this.#counterparts(keeps, 'subject', subject, relations);
    return this.#objectsIn(keeps, subject, relations, namespaces);
  }

  #objectsIn(
    keeps: Keeps,
    subject: string,
    relations: readonly number[] | undefined,
    namespaces: ReadonlySet<string>,
  ): Enumeration {
    const { pages } = this.#memory;
    // As `#wholePage` has it: a page that did not stay in memory is read by its parts.
    const isLost = pages.get(subject) === undefined && this.#loaded?.has(`subject ${subject}`) === true;
    const page = isLost ? undefined : this.#page('subject', subject);
    if (page === undefined && !isLost) return undefined;
    if (page?.whole !== true) {
      const parts = (relations ?? this.#grantedRelations).flatMap((relation) =>
        Array.from(namespaces, (namespace) => ({ relation, prefix: `${namespace}:`, groups: false })),
      );
      return everyList(parts, ({ relation, ...part }) => this.#range(keeps, 'subject', subject, relation, part));
    }
    const lists = page.byRelation(relations).map(({ relation, texts }) => ({
      relation,
      texts: texts.filter((text) => namespaces.has(namespaceOf(text))),
    }));
    return this.#current(keeps, page, lists);
  }

  #counterparts(keeps: Keeps, side: Side, entity: string, relations: readonly number[] | undefined): Enumeration {
    const page = this.#wholePage(side, entity);
    if (page === undefined) return undefined;
    if (page !== TOO_MANY) return this.#current(keeps, page, page.byRelation(relations));
    return this.#rangesOf(keeps, side, entity, relations ?? this.#grantedRelations);
  }

  /** Those of which the tenant may have a grant now. */
  get #grantedRelations(): readonly number[] {
    const { grantCount, relations } = this.#memory;
    const own = grantCount.ownRelations;
    return own.length === 0 ? BUILT_IN_RELATIONS : [...BUILT_IN_RELATIONS, ...own.map((each) => relations.of(each))];
  }

  /** Too many changes to examine in one step may wait for write-behind: they are in the state tables a moment later. */
  async #settle(pages: GrantPages, entity: string): Promise<void> {
    if (pages.openDelta(entity).size > CHANGES_MAX) await this.#loads?.applied();
  }

  #groupsOnLarge(keeps: Keeps, object: string, relations: readonly number[]): Enumeration {
    return everyList(relations, (relation) => this.#groupsOfLarge(keeps, object, relation));
  }

  #groupsOfLarge(keeps: Keeps, object: string, relation: number): Adjacent | typeof TOO_MANY | undefined {
    const kept = this.#memory.objectPages.get(object)?.groupsOf(relation);
    if (typeof kept === 'object') return this.#keptGroups(keeps, relation, kept);
    const exceeds = kept !== undefined && kept >= this.#reach.entityGrantsMax;
    return exceeds ? TOO_MANY : this.#range(keeps, 'object', object, relation, GROUPS);
  }

  #keptGroups(keeps: Keeps, relation: number, groups: GroupGrants): Adjacent {
    const texts: string[] = [];
    for (const [text, facts] of groups) if (facts === undefined || keeps(facts)) texts.push(text);
    return { relation, texts };
  }

  #rangesOf(keeps: Keeps, side: Side, entity: string, relations: readonly number[]): Enumeration {
    return everyList(relations, (relation) => {
      const isCrowded = this.#memory.pagesOf(side).get(entity)?.sparse?.crowded?.has(this.#markOf(relation)) === true;
      return isCrowded ? TOO_MANY : this.#range(keeps, side, entity, relation, ALL);
    });
  }

  /** The mark of a page for a relation and the reach. */
  #markOf(relation: number): number {
    return 2 * relation + (this.#reach.isLarge ? 1 : 0);
  }

  /**
   * A page with every grant of the entity; `TOO_MANY`: it has more than a page has room for, or the page was read for
   * this call and did not stay in memory until the next run. Ranges, which belong to the call, do.
   */
  #wholePage(side: Side, entity: string): GrantPage | typeof TOO_MANY | undefined {
    if (this.#loaded !== undefined && this.#hasLost(side, entity)) return TOO_MANY;
    const page = this.#page(side, entity);
    if (page === undefined || page.whole) return page;
    if (page.sparse?.large === true) return TOO_MANY;
    return this.#missRows(`whole ${side} ${entity}`, async () => {
      const pages = this.#memory.pagesOf(side);
      await this.#settle(pages, entity);
      await pages.loadWhole(entity);
    });
  }

  #hasLost(side: Side, entity: string): boolean {
    const isThere = this.#memory.pagesOf(side).get(entity)?.whole === true;
    return !isThere && this.#loaded?.has(`whole ${side} ${entity}`) === true;
  }

  #current(keeps: Keeps, page: GrantPage, lists: readonly Counterparts[]): readonly Adjacent[] {
    if (!page.contingent) return lists;
    return lists.map(({ relation, texts }) => ({
      relation,
      texts: texts.filter((text) => page.counts(relation, text, keeps)),
    }));
  }

  /** The grants of one relation of an entity without a whole page. */
  #range(
    keeps: Keeps,
    side: Side,
    entity: string,
    relation: number,
    part: RangePart,
  ): Adjacent | typeof TOO_MANY | undefined {
    if (this.#reach.entityGrantsMax === 0) return TOO_MANY;
    const key = `${part.groups ? 'groups' : side} ${watchedKey(entity, relation, part.prefix)}`;
    const range = this.#ranges?.get(key);
    if (range === undefined && this.#rangeBytes >= this.#reach.bytesMax) return TOO_MANY;
    const texts = range?.current(keeps);
    if (range === undefined || texts === undefined) {
      this.#missesRanges = true;
      return this.#missRows(key, (assertWanted) => this.#readRange(key, side, entity, relation, part, assertWanted));
    }
    return range.isPart ? TOO_MANY : { relation, texts };
  }

  async #readRange(
    key: string,
    side: Side,
    entity: string,
    number: number,
    { groups, prefix }: RangePart,
    assertWanted: () => void,
  ): Promise<void> {
    const { entityGrantsMax, bytesMax } = this.#reach;
    const former = this.#ranges?.get(key);
    // Other reads of the round have taken the memory: the next run takes the range for too large.
    if (former === undefined && this.#rangeBytes >= bytesMax) return;
    const pages = this.#memory.pagesOf(side);
    const relation = this.#memory.relations.nameOf(number);
    await this.#settle(pages, entity);
    const fits = (text: string): boolean => text.startsWith(prefix) && (!groups || text.includes(GROUP_MARK));
    const range = new EnumeratedRange(pages, entity, relation, fits, prefix);
    const { rowsPerListing } = pages.limits;
    const rowsMax = groups ? GROUP_ROWS_MAX : entityGrantsMax;
    let counted = 0;
    do {
      await range.read(rowsPerListing);
      assertWanted();
      range.isPart = range.end !== undefined;
      this.#rangeBytes += range.bytes - counted;
      counted = range.bytes;
    } while (range.isPart && range.looked < rowsMax && range.size < entityGrantsMax && this.#rangeBytes < bytesMax);
    this.#rangeBytes -= former?.bytes ?? 0;
    this.#ranges ??= new Map();
    this.#ranges.set(key, range);
    const page = pages.get(entity);
    // A part says nothing about the rest.
    if (page?.sparse === undefined || prefix !== '') return;
    if (!groups) {
      if (range.isPart && this.#rangeBytes < bytesMax) {
        page.sparse.crowded ??= new Set();
        page.sparse.crowded.add(this.#markOf(number));
      }
      return;
    }
    // From here on, the page itself follows the grants to groups.
    const found = range.looked >= GROUP_ROWS_MAX ? Number.POSITIVE_INFINITY : range.size;
    const known = range.isPart ? found : range.now();
    // A range that only the memory of this call has cut off says nothing about the entity.
    if (known === undefined || (typeof known === 'number' && known < entityGrantsMax)) return;
    page.keepGroups(number, known);
    pages.changed(page);
  }

  /**
   * The first counterparts of one relation of an entity, up to the number that the page needs. `settle`: of the rows
   * that were read, what `keeps` has yet to find out.
   */
  firstCounterparts(
    keeps: Keeps,
    side: Side,
    entity: string,
    number: number,
    query: TextsQuery,
    settle: ((rows: readonly PageRow[]) => Promise<void>) | undefined,
  ): FirstTexts | typeof TOO_MANY | undefined {
    this.reads?.[side === 'subject' ? 'objects' : 'subjects'](entity, [number]);
    const pages = this.#memory.pagesOf(side);
    const { countMax } = query;
    const page = pages.get(entity);
    if (page?.whole === true) {
      page.referenced = true;
      this.#uses.sample(this.#memory.tenantId, side, page.entity);
      return { texts: page.firstCounterparts(number, query, keeps), end: undefined };
    }
    const key = `${side} ${watchedKey(entity, number, '')} ${countMax} ${query.after}`;
    const range = this.#first?.get(key);
    if (range === undefined && this.#rangeBytes >= this.#reach.bytesMax) return TOO_MANY;
    const found = range?.first(countMax, keeps);
    if (found !== undefined)
      return { texts: found.rows.map(({ counterpart }) => counterpart), end: found.rest?.counterpart };
    return this.#missRows(`first ${key}`, async (assertWanted) => {
      if (pages.get(entity) === undefined) await pages.load(entity);
      // Where memory is short, the page may be gone again.
      if (pages.get(entity)?.whole === true) return;
      await this.#settle(pages, entity);
      const { prefix, after } = query;
      const relation = this.#memory.relations.nameOf(number);
      const first = new FirstGrants(pages, { entity, relation, after: { relation, counterpart: after }, prefix });
      await first.readFirst({ countMax, rowsMax: ROWS_PER_PAGE_MAX, keeps, settle, assertWanted });
      this.#rangeBytes += first.bytes - (range?.bytes ?? 0);
      this.#first ??= new Map();
      this.#first.set(key, first);
    });
  }

  /** The name of a relation that a run has met. */
  nameOf(relation: number): Relation {
    return this.#memory.relations.nameOf(relation);
  }

  /** The attributes of a grant that a run has met. */
  attributesOf({ subject, relation, object }: Step): GrantAttributes | undefined {
    const [onSubject, onObject] = [this.#memory.pages.get(subject), this.#memory.objectPages.get(object)];
    const factsIn = (page: GrantPage | undefined, counterpart: string): GrantAttributes | null | undefined =>
      page && (page.find(relation, counterpart) ?? this.#heldFacts(page, relation, counterpart));
    return factsIn(onSubject, object) ?? factsIn(onObject, subject) ?? undefined;
  }
}

/** Looks at every one, so that one round loads whatever is missing of all of them. */
function everyList<Item>(
  items: readonly Item[],
  listOf: (item: Item) => Adjacent | typeof TOO_MANY | undefined,
): Enumeration {
  const lists: Adjacent[] = [];
  for (const item of items) {
    const list = listOf(item);
    if (list === TOO_MANY) return list;
    if (list !== undefined) lists.push(list);
  }
  return lists.length < items.length ? undefined : lists;
}
