// Pages: the grants of one entity, a subject or an object, in memory; checks are answered from the pages of subjects. A
// *whole* page contains every live grant, so a grant that it lacks does not exist; it keeps grants in listing order. A
// *sparse* page belongs to an entity that is large or was not read to its end. It contains only the tuples that calls
// have requested, present or absent, and knows nothing about others. The *counterpart* is the other entity of a grant.

import { assert } from '../../core/assert.ts';
import {
  type GrantAttributes,
  type GrantTerms,
  isContingent,
  isPackedContingent,
  packAttributes,
  unpackAttributes,
  unpackTerms,
} from '../../core/grant-attributes.ts';
import type { Relation } from '../../core/tuples.ts';
import { Evictable } from './memory-budget.ts';
import type { RelationNumbers } from './relation-numbers.ts';
import {
  addTuples,
  bytesOf,
  counterpartsIn,
  deleteTuple,
  NO_TUPLES,
  relationsIn,
  setTuple,
  sizeOf,
  type Tuples,
  textOf,
  valueIn,
  visitFrom,
} from './tuple-table.ts';
import { bytesOfText, copyOf, counterpartAt, isShortAt, placeOf, relationAt, valueAt } from './tuple-text.ts';

/**
 * Estimated bytes, without characters: of a page with its place among the pages, and of what a sparse one has besides;
 * of a group that a sparse page keeps, and of one that a whole page has gathered. The benchmark `memory` compares them
 * with resident memory.
 */
const PAGE_BYTES = 260;
const SPARSE_BYTES = 90;
const GROUP_BYTES = 120;
const MARKED_BYTES = 40;

/** The place of a grant among those of its entity. */
export interface PagePlace {
  readonly relation: Relation;
  readonly counterpart: string;
}

export interface PageRow extends PagePlace, GrantAttributes {}

export interface Counterparts {
  readonly relation: number;
  /** Read them before the next change of the page. */
  readonly texts: readonly string[];
}

/** In the counterpart of a grant to a group. */
export const GROUP_MARK = '#';

/** Counterparts, each with its attributes if the grant is contingent. */
export type GroupGrants = ReadonlyMap<string, GrantAttributes | undefined>;

/** Groups that a sparse page keeps of one relation. */
const GROUPS_KEPT_MAX = 1000;

interface MarkedCounterparts {
  readonly lists: readonly Counterparts[];
  readonly bytes: number;
}

/** Shared by the many pages without groups. */
const NONE_MARKED: MarkedCounterparts = Object.freeze({ lists: [], bytes: 0 });

/** What only a sparse page has. */
interface SparseState {
  /** The entity was read, and was larger than whole pages are. */
  large: boolean;
  /** Marks that evaluation sets, at most two for each relation: the entity has too many such grants to enumerate. */
  crowded: Set<number> | undefined;
  /** Reads of the store that a whole page would have saved since this page began. */
  reads: number;
  /** The previous generation of known tuples. */
  previous: Tuples;
  /**
   * By relation: all counterparts with a `#`, once they were gathered; or a number of them that was found before a
   * bound ended the search.
   */
  groups: Map<number, Map<string, GrantAttributes | undefined> | number> | undefined;
  groupBytes: number;
  /** The grant that was last seen to exist. */
  witness: { readonly relation: number; readonly counterpart: string } | undefined;
}

const createSparseState = (): SparseState => ({
  large: false,
  crowded: undefined,
  reads: 0,
  previous: NO_TUPLES,
  groups: undefined,
  groupBytes: 0,
  witness: undefined,
});

/** The counterparts of one relation that a page of a listing needs. */
export interface TextsQuery {
  /** Selects the counterparts; empty: all. */
  readonly prefix: string;
  readonly after: string;
  readonly countMax: number;
}

export class GrantPage extends Evictable {
  readonly entity: string;
  readonly #onEvict: (page: GrantPage) => void;
  /** Undefined: the page is whole. */
  readonly sparse: SparseState | undefined;
  /** The facts of each grant. `null`, on sparse pages only: known to be absent. */
  #tuples: Tuples = NO_TUPLES;
  /** The counterparts that contain a `#`; undefined: not gathered since the last change of one. */
  #marked: MarkedCounterparts | undefined;
  /** Whether a grant of the page is, or was, contingent: only then do the moment and the context of a call matter. */
  #contingent = false;

  constructor(entity: string, whole: boolean, onEvict: (page: GrantPage) => void) {
    super();
    this.entity = entity;
    this.sparse = whole ? undefined : createSparseState();
    this.#onEvict = onEvict;
  }

  override evict(): void {
    this.#onEvict(this);
  }

  get whole(): boolean {
    return this.sparse === undefined;
  }

  /** Bytes of the current content. */
  get estimate(): number {
    let bytes = PAGE_BYTES + bytesOfText(this.entity) + bytesOf(this.#tuples);
    if (this.sparse !== undefined) bytes += SPARSE_BYTES + bytesOf(this.sparse.previous) + this.sparse.groupBytes;
    return bytes + (this.#marked?.bytes ?? 0);
  }

  /** Live grants of a whole page; known tuples of a sparse one, some counted twice. */
  get tuples(): number {
    return sizeOf(this.#tuples) + (this.sparse === undefined ? 0 : sizeOf(this.sparse.previous));
  }

  /** Whether the entity is known to have a grant now. */
  get holdsSome(): boolean {
    if (this.sparse === undefined) return this.#tuples !== NO_TUPLES;
    const { witness } = this.sparse;
    return witness !== undefined && (this.find(witness.relation, witness.counterpart) ?? null) !== null;
  }

  /** Whether grants of the page may be contingent: `holds` then leaves those to the caller. */
  get contingent(): boolean {
    return this.#contingent;
  }

  /** The grant, whether it counts or not; `null` if there is none; `undefined` if this (sparse) page does not know. */
  find(relation: number, counterpart: string): GrantAttributes | null | undefined {
    const packed = this.#packed(relation, counterpart);
    return packed === null || packed === undefined ? packed : unpackAttributes(packed);
  }

  /** The terms of what `find` returns. */
  termsOf(relation: number, counterpart: string): GrantTerms | null | undefined {
    const packed = this.#packed(relation, counterpart);
    return packed === null || packed === undefined ? packed : unpackTerms(packed);
  }

  #packed(relation: number, counterpart: string): string | null | undefined {
    const packed = valueIn(this.#tuples, relation, counterpart);
    if (packed !== undefined) return packed;
    return this.sparse === undefined ? null : valueIn(this.sparse.previous, relation, counterpart);
  }

  /** Whether the page has the grant, and it is one of those that `keeps` keeps. */
  counts(relation: number, counterpart: string, keeps: (terms: GrantTerms) => boolean): boolean {
    const terms = this.termsOf(relation, counterpart);
    return terms !== undefined && terms !== null && keeps(terms);
  }

  /** Whether the grant exists; `undefined` if this (sparse) page does not know, or the grant is contingent. */
  holds(relation: number, counterpart: string): boolean | undefined {
    const found = holdsIn(this.#tuples, relation, counterpart);
    if (found !== null) return found;
    if (this.sparse === undefined) return false;
    return holdsIn(this.sparse.previous, relation, counterpart) ?? undefined;
  }

  /** Sets the current facts of a tuple. Costs one search and one short copy, however many grants there are. */
  set(relation: number, counterpart: string, facts: GrantAttributes | null): void {
    if (counterpart.includes(GROUP_MARK)) {
      this.#marked = undefined;
      if (this.sparse?.groups !== undefined) this.#setGroup(this.sparse, relation, counterpart, facts);
    }
    if (facts === null && this.sparse === undefined) {
      this.#tuples = deleteTuple(this.#tuples, relation, counterpart);
      return;
    }
    if (facts !== null) {
      if (this.sparse !== undefined) this.sparse.witness = { relation, counterpart };
      if (isContingent(facts)) this.#contingent = true;
    }
    this.#tuples = setTuple(this.#tuples, relation, counterpart, facts === null ? null : packAttributes(facts));
  }

  /** Adds grants that the page does not have yet, as the store lists them. `relations`: of the tenant. */
  add(rows: readonly PageRow[], relations: RelationNumbers): void {
    assert(this.whole, 'a sparse page gets tuples one by one');
    this.#marked = undefined;
    this.#contingent ||= rows.some(isContingent);
    const packed = rows.map((row) => ({
      relation: relations.of(row.relation),
      counterpart: row.counterpart,
      value: packAttributes(row),
    }));
    this.#tuples = addTuples(this.#tuples, packed);
  }

  #setGroup(state: SparseState, relation: number, counterpart: string, facts: GrantAttributes | null): void {
    const groups = state.groups?.get(relation);
    if (groups === undefined || typeof groups === 'number') return;
    const bytes = GROUP_BYTES + bytesOfText(counterpart);
    if (groups.delete(counterpart)) state.groupBytes -= bytes;
    if (facts === null) return;
    groups.set(counterpart, isContingent(facts) ? facts : undefined);
    state.groupBytes += bytes;
    if (groups.size > GROUPS_KEPT_MAX) this.#dropGroups(state, relation);
  }

  #dropGroups(state: SparseState, relation: number): void {
    const groups = state.groups?.get(relation);
    state.groups?.delete(relation);
    if (groups === undefined || typeof groups === 'number') return;
    for (const counterpart of groups.keys()) state.groupBytes -= GROUP_BYTES + bytesOfText(counterpart);
  }

  /**
   * Keeps the counterparts of a relation with a `#` in a sparse page: all of them as they are now, or how many were
   * found before a bound ended the search. A few groups stay, and follow every later change.
   */
  keepGroups(relation: number, groups: Map<string, GrantAttributes | undefined> | number): void {
    const { sparse } = this;
    assert(sparse !== undefined, 'a whole page has its groups among its grants');
    this.#dropGroups(sparse, relation);
    if (typeof groups !== 'number') {
      if (groups.size > GROUPS_KEPT_MAX) return;
      for (const counterpart of groups.keys()) sparse.groupBytes += GROUP_BYTES + bytesOfText(counterpart);
    }
    sparse.groups ??= new Map();
    sparse.groups.set(relation, groups);
  }

  /** The argument of the last `keepGroups`; undefined: unknown. */
  groupsOf(relation: number): GroupGrants | number | undefined {
    return this.sparse?.groups?.get(relation);
  }

  /**
   * Keeps a sparse page within `tuplesMax`: once the current generation has half of that, the page drops the previous
   * one. Tuples in demand soon become known again, and forgetting costs nothing.
   */
  age(tuplesMax: number): void {
    assert(this.sparse !== undefined, 'only a sparse page forgets');
    if (2 * sizeOf(this.#tuples) < tuplesMax) return;
    this.sparse.previous = this.#tuples;
    this.#tuples = NO_TUPLES;
  }

  /**
   * The counterparts of some relations (undefined: of all) on a whole page, each list ascending by bytes, without empty
   * lists. They are slices of the page's memory: copy what is kept.
   */
  byRelation(relations?: readonly number[]): readonly Counterparts[] {
    assert(this.whole, 'only a whole page can be listed');
    const lists: Counterparts[] = [];
    for (const relation of relations ?? relationsIn(this.#tuples)) {
      const texts = counterpartsIn(this.#tuples, relation);
      if (texts.length > 0) lists.push({ relation, texts });
    }
    return lists;
  }

  /** What `gatherMarked` returned; undefined: not gathered since a change. */
  get marked(): readonly Counterparts[] | undefined {
    return this.#marked?.lists;
  }

  /** The counterparts with a `#` in a whole page, of all relations. The page keeps them until one of them changes. */
  gatherMarked(): readonly Counterparts[] {
    const lists: Counterparts[] = [];
    let bytes = 0;
    for (const { relation, texts: all } of this.byRelation()) {
      const texts = all.filter((text) => text.includes(GROUP_MARK)).map(copyOf);
      for (const text of texts) bytes += MARKED_BYTES + bytesOfText(text);
      if (texts.length > 0) lists.push({ relation, texts });
    }
    this.#marked = lists.length > 0 ? { lists, bytes } : NONE_MARKED;
    return this.#marked.lists;
  }

  /** The first counterparts of one relation on a whole page. A page without contingent grants does not call `keeps`. */
  firstCounterparts(
    relation: number,
    { prefix, after, countMax }: TextsQuery,
    keeps: (terms: GrantTerms) => boolean,
  ): readonly string[] {
    assert(this.whole, 'only a whole page can be listed');
    const found: string[] = [];
    visitFrom(this.#tuples, relation, after, (text, place) => {
      if (found.length >= countMax || relationAt(text, place) !== relation) return false;
      const counterpart = counterpartAt(text, place);
      if (counterpart === after) return true;
      if (!counterpart.startsWith(prefix)) return false;
      if (!this.#contingent || keeps(unpackTerms(valueAt(text, place) ?? ''))) found.push(counterpart);
      return true;
    });
    return found;
  }

  /**
   * Up to `limit` grants of a whole page after a tuple, ascending by the bytes of (relation, counterpart). `keeps`
   * filters them; a page without contingent grants does not call it. `relations`: of the tenant.
   */
  grantsAfter(
    relations: RelationNumbers,
    after: PagePlace | undefined,
    limit: number,
    only: Relation | undefined,
    keeps: (facts: GrantAttributes) => boolean,
  ): readonly PageRow[] {
    assert(this.whole, 'only a whole page can be listed');
    const found: PageRow[] = [];
    for (const relation of relationsIn(this.#tuples)
      .map((number) => relations.nameOf(number))
      .sort()) {
      if ((only !== undefined && relation !== only) || (after !== undefined && relation < after.relation)) continue;
      const number = relations.of(relation);
      const from = after?.relation === relation ? after.counterpart : '';
      visitFrom(this.#tuples, number, from, (text, place) => {
        if (found.length >= limit || relationAt(text, place) !== number) return false;
        const counterpart = counterpartAt(text, place);
        if (counterpart === from) return true;
        const facts = unpackAttributes(valueAt(text, place) ?? '');
        if (!this.#contingent || keeps(facts)) found.push({ relation, counterpart, ...facts });
        return true;
      });
      if (found.length >= limit) break;
    }
    return found;
  }
}

/** Whether the grant exists; `undefined`: it is contingent; `null`: the tuple is missing. */
function holdsIn(tuples: Tuples, relation: number, counterpart: string): boolean | undefined | null {
  const text = textOf(tuples, relation, counterpart);
  const place = placeOf(text, relation, counterpart);
  if (place < 0) return null;
  const isShort = isShortAt(text, place);
  if (isShort === true) return true;
  return isShort === null ? false : isPackedContingent(valueAt(text, place) ?? '') ? undefined : true;
}
