// The grants of a tenant as evaluation sees them: the pages of both sides, at the present moment and at one time of the
// slot. It notes what a run missed, and loads it before the next run. Invariant: within one step, everything that it
// answers is the state of that moment; no answer is kept over an await, but of tuples and ranges that receive every
// commit.

import { inParallel } from '../../core/async/in-parallel.ts';
import type { GrantAttributes } from '../../core/grant-attributes.ts';
import { relationOf } from '../../core/tuples.ts';
import { type Adjacent, type Enumerated, type Graph, lowestIn, type Step, TOO_MANY } from '../../rules/graph.ts';
import { CHANGES_MAX } from '../memory/grant-deltas.ts';
import type { Counterparts, GrantPage, PagePlace, PageRow } from '../memory/grant-page.ts';
import type { GrantPages, HeldTuples } from '../memory/grant-pages.ts';
import { HeldRange } from '../memory/grant-range.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import { watchedKey } from '../memory/watched-tuples.ts';

/** Entities that one round loads. More are found, and loaded, in the next. */
const MISSING_MAX = 1000;
/** Of them at once; the gate before the store has its own bound. */
const LOADS_AT_ONCE = 32;
/** Tuples of subjects without a whole page that one call reads, and holds until it ends. */
const TUPLES_MAX = 2000;
/** Grants of one relation that are read of an entity too large for a whole page, which has about as many. */
export const ENTITY_GRANTS_MAX = 10_000;

type Side = 'subject' | 'object';
/** What a run needs of an entity: its page, a whole page, one tuple, the grants of one relation. */
type Load = () => Promise<void>;
type Keeps = (facts: GrantAttributes) => boolean;

export class PageGraph implements Graph, Disposable {
  readonly #memory: TenantMemory;
  /** Whether a grant counts at the time of the run. */
  #keeps: Keeps = () => false;
  /** Reads that cost about one each. */
  #missing: Map<string, Load> | undefined;
  /** Reads of many rows: only once a run misses nothing else, since without them it may be decided, too. */
  #missingRows: Map<string, Load> | undefined;
  /** Created at the first use, as the maps above: most evaluations find everything in memory. */
  #tuples: Map<string, HeldTuples> | undefined;
  #ranges: Map<string, HeldRange> | undefined;
  #disposed = false;
  /** The last page of each side in this step: a search asks about the same subject, and the same object, in a row. */
  #subjectPage: GrantPage | undefined;
  #objectPage: GrantPage | undefined;

  constructor(memory: TenantMemory) {
    this.#memory = memory;
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    for (const tuples of this.#tuples?.values() ?? []) tuples[Symbol.dispose]();
  }

  /** A run begins. */
  startRun(keeps: Keeps): void {
    this.#keeps = keeps;
    this.startStep();
    this.#missing = undefined;
    this.#missingRows = undefined;
  }

  /** A step of the event loop begins: pages of an earlier one may have been replaced. */
  startStep(): void {
    this.#subjectPage = undefined;
    this.#objectPage = undefined;
  }

  /** Loads what the run missed, as much of it as one round loads. */
  async load(assertWanted: () => void): Promise<void> {
    const loads = [...((this.#missing ?? this.#missingRows)?.values() ?? [])];
    await inParallel(loads, LOADS_AT_ONCE, (load) => {
      assertWanted();
      return load();
    });
  }

  #pagesOf(side: Side): GrantPages {
    return side === 'subject' ? this.#memory.pages : this.#memory.objectPages;
  }

  #miss(key: string, load: Load): undefined {
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
    const pages = this.#pagesOf(side);
    const page = pages.get(entity);
    if (page === undefined) return this.#miss(`${side} ${entity}`, async () => void (await pages.load(entity)));
    page.referenced = true;
    if (side === 'subject') this.#subjectPage = page;
    else this.#objectPage = page;
    return page;
  }

  #facts(page: GrantPage, relation: number, object: string): GrantAttributes | null | undefined {
    const facts = page.find(relation, object);
    return facts === undefined ? this.#tuples?.get(watchedKey(page.entity, relation, object))?.tuples[0]?.facts : facts;
  }

  relationsOf(subject: string, relations: number, object: string): number | typeof TOO_MANY | undefined {
    const page = this.#page('subject', subject);
    if (page === undefined) return undefined;
    let granted = 0;
    let unknown = false;
    for (let rest = relations; rest !== 0; rest &= rest - 1) {
      const relation = lowestIn(rest);
      const holds = page.holds(relation, object);
      if (holds === true) granted |= 1 << relation;
      if (holds !== undefined) continue;
      const facts = this.#facts(page, relation, object);
      if (facts === undefined) {
        if ((this.#tuples?.size ?? 0) >= TUPLES_MAX) return granted === 0 ? TOO_MANY : granted;
        unknown = true;
        this.#missTuple(subject, relation, object);
      } else if (facts !== null && this.#keeps(facts)) granted |= 1 << relation;
    }
    return unknown && granted === 0 ? undefined : granted;
  }

  #missTuple(subject: string, relation: number, object: string): void {
    const key = watchedKey(subject, relation, object);
    this.#miss(key, async () => {
      const tuples = await this.#memory.pages.hold(subject, relation, object);
      this.#tuples ??= new Map();
      if (this.#disposed) tuples[Symbol.dispose]();
      else this.#tuples.set(key, tuples);
    });
  }

  groupsOn(object: string, relations: number): Enumerated {
    const page = this.#wholePage('object', object);
    if (page === undefined || page === TOO_MANY) return page;
    const { marked } = page;
    if (marked.length === 0) return marked;
    return this.#current(
      page,
      marked.filter(({ relation }) => (relations & (1 << relation)) !== 0),
    );
  }

  subjectsOn(object: string, relations: number): Enumerated {
    return this.#counterparts('object', object, relations);
  }

  objectsOf(subject: string, relations: number): Enumerated {
    return this.#counterparts('subject', subject, relations);
  }

  #counterparts(side: Side, entity: string, relations: number): Enumerated {
    const page = this.#wholePage(side, entity);
    if (page === undefined) return undefined;
    if (page !== TOO_MANY) return this.#current(page, page.byRelation(relations));
    const lists: Adjacent[] = [];
    for (let rest = relations; rest !== 0; rest &= rest - 1) {
      const relation = lowestIn(rest);
      const list = this.#isCrowded(side, entity, relation) ? TOO_MANY : this.#range(side, entity, relation);
      if (list === undefined || list === TOO_MANY) return list;
      lists.push(list);
    }
    return lists;
  }

  /** A page with every grant of the entity; `TOO_MANY`: it has more than a page has room for. */
  #wholePage(side: Side, entity: string): GrantPage | typeof TOO_MANY | undefined {
    const page = this.#page(side, entity);
    if (page === undefined || page.whole) return page;
    if (page.large) return TOO_MANY;
    return this.#missRows(`${side} ${entity}`, () => this.#pagesOf(side).loadWhole(entity));
  }

  /** Without those that do not count at the time of the run. */
  #current(page: GrantPage, lists: readonly Counterparts[]): readonly Adjacent[] {
    if (!page.expiring) return lists;
    return lists.map(({ relation, texts }) => ({
      relation,
      texts: texts.filter((text) => page.counts(relation, text, this.#keeps)),
    }));
  }

  #isCrowded(side: Side, entity: string, relation: number): boolean {
    return ((this.#pagesOf(side).get(entity)?.crowded ?? 0) & (1 << relation)) !== 0;
  }

  /** The grants of one relation of an entity without a whole page. */
  #range(side: Side, entity: string, relation: number): Adjacent | typeof TOO_MANY | undefined {
    const key = `${side} ${watchedKey(entity, relation, '')}`;
    const range = this.#ranges?.get(key);
    const rows = range?.current();
    if (range === undefined || rows === undefined)
      return this.#missRows(key, () => this.#readRange(key, side, entity, relation));
    if (range.end !== undefined) return TOO_MANY;
    return { relation, texts: rows.filter(this.#keeps).map(({ counterpart }) => counterpart) };
  }

  async #readRange(key: string, side: Side, entity: string, number: number): Promise<void> {
    const pages = this.#pagesOf(side);
    const relation = relationOf(number);
    const delta = pages.openDelta(entity);
    if (relation === undefined || delta.size > CHANGES_MAX) return;
    const rows: PageRow[] = [];
    const { rowsPerListing } = pages.limits;
    let end: PagePlace | undefined;
    for (let looked = 0; looked < ENTITY_GRANTS_MAX; looked += rowsPerListing) {
      const query = { entity, relation, limit: rowsPerListing, ...(end === undefined ? {} : { after: end }) };
      const part = await pages.readRows(query);
      rows.push(...part.rows);
      end = part.next;
      if (end === undefined) break;
    }
    const page = pages.get(entity);
    if (page !== undefined && end !== undefined) page.crowded |= 1 << number;
    this.#ranges ??= new Map();
    this.#ranges.set(key, new HeldRange({ entity, relation, countMax: ENTITY_GRANTS_MAX }, { rows, end, delta }));
  }

  /** All subjects of one relation on an object, ascending, whatever their time; undefined: there is no whole page. */
  sortedSubjects(object: string, relation: number): readonly string[] | undefined {
    const page = this.#memory.objectPages.get(object);
    return page?.whole === true ? page.counterparts(relation) : undefined;
  }

  /** Whether a grant of `sortedSubjects` counts at the time of the run. */
  counts(object: string, relation: number, subject: string): boolean {
    const page = this.#memory.objectPages.get(object);
    return page?.expiring !== true || page.counts(relation, subject, this.#keeps);
  }

  /** The attributes of a grant that a run has met. */
  attributesOf({ subject, relation, object }: Step): GrantAttributes | undefined {
    const page = this.#memory.pages.get(subject);
    const facts = page && this.#facts(page, relation, object);
    if (facts) return facts;
    return (
      this.#memory.objectPages.get(object)?.find(relation, subject) ??
      this.#rowOf('subject', subject, relation, object) ??
      this.#rowOf('object', object, relation, subject)
    );
  }

  #rowOf(side: Side, entity: string, relation: number, counterpart: string): GrantAttributes | undefined {
    const rows = this.#ranges?.get(`${side} ${watchedKey(entity, relation, '')}`)?.current();
    return rows?.find((row) => row.counterpart === counterpart);
  }
}
