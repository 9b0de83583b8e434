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
  textOfTerms,
  unpackAttributes,
  unpackTerms,
} from '../../core/grant-attributes.ts';
import { type Relation, sortUtf8 } from '../../core/tuples.ts';
import { Evictable } from './memory-budget.ts';
import type { RelationNumbers } from './relation-numbers.ts';
import { firstAfter, TextOrder } from './text-order.ts';
import { TupleTable } from './tuple-table.ts';

/**
 * Estimated bytes: of a page with its maps; of a grant, without the characters of its counterpart (map entry, id); of
 * its place in listing order. The benchmark `memory` compares them with resident memory.
 */
const PAGE_BYTES = 550;
const GRANT_BYTES = 120;
/** Additional bytes of a contingent grant, without the characters of its terms: a string of its own. */
const CONTINGENT_BYTES = 32;
const ORDER_BYTES = 12;

/** Up to this many grants of a whole page are sorted at each listing. */
const UNORDERED_MAX = 16;

const WIDE = /[\u0100-\uffff]/;

/** What V8 needs for a string: two bytes per unit as soon as one unit needs two. */
export const bytesOfText = (text: string): number => (WIDE.test(text) ? 2 * text.length : text.length);

/** The place of a grant among those of its entity. */
export interface PagePlace {
  readonly relation: Relation;
  readonly counterpart: string;
}

export interface PageRow extends PagePlace, GrantAttributes {}

const contingentBytes = (facts: GrantAttributes | null): number =>
  facts !== null && isContingent(facts) ? CONTINGENT_BYTES + Buffer.byteLength(textOfTerms(facts)) : 0;

const NO_COUNTERPARTS: readonly string[] = [];

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

export class GrantPage extends Evictable {
  readonly entity: string;
  readonly whole: boolean;
  /** Sparse pages only: the entity was read, and was larger than whole pages are. */
  large = false;
  /** Marks that evaluation sets, at most two for each relation: the entity has too many such grants to enumerate. */
  crowded: Set<number> | undefined;
  /** Reads of the store that a whole page would have saved since this sparse page began. */
  reads = 0;
  readonly #onEvict: (page: GrantPage) => void;
  /** The facts of each grant. `null`, on sparse pages only: known to be absent. */
  #table = new TupleTable();
  /** Sparse pages only: the previous generation of known tuples. */
  #previous: TupleTable | undefined;
  /** By relation; only for a whole page with more than a few grants. */
  #orders: Map<number, TextOrder> | undefined;
  readonly #baseBytes: number;
  #tableBytes = 0;
  #previousBytes = 0;
  /** By relation: the counterparts that contain a `#`; undefined: not gathered since the last change of one. */
  #marked: Counterparts[] | undefined;
  /** Whether a grant of the page is, or was, contingent: only then do the moment and the context of a call matter. */
  #contingent = false;
  /**
   * Sparse pages only, by relation: all counterparts with a `#`, once they were gathered; or a number of them that was
   * found before a bound ended the search.
   */
  #groups: Map<number, Map<string, GrantAttributes | undefined> | number> | undefined;
  #groupBytes = 0;
  /** Sparse pages only: the grant that was last seen to exist. */
  #witness: { readonly relation: number; readonly counterpart: string } | undefined;

  constructor(entity: string, whole: boolean, onEvict: (page: GrantPage) => void) {
    super();
    this.entity = entity;
    this.whole = whole;
    this.#onEvict = onEvict;
    this.#baseBytes = PAGE_BYTES + bytesOfText(entity);
  }

  override evict(): void {
    this.#onEvict(this);
  }

  /** Bytes of the current content. */
  get estimate(): number {
    const ordered = this.#orders === undefined ? 0 : ORDER_BYTES * this.#table.size;
    return this.#baseBytes + this.#tableBytes + this.#previousBytes + this.#groupBytes + ordered;
  }

  /** Live grants of a whole page; known tuples of a sparse one, some counted twice. */
  get tuples(): number {
    return this.#table.size + (this.#previous?.size ?? 0);
  }

  /** Whether the entity is known to have a grant now. */
  get holdsSome(): boolean {
    if (this.whole) return this.#table.size > 0;
    if (this.#witness === undefined) return false;
    return (this.find(this.#witness.relation, this.#witness.counterpart) ?? null) !== null;
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
    const packed = this.#table.get(relation, counterpart);
    if (packed !== undefined) return packed;
    return this.whole ? null : this.#previous?.get(relation, counterpart);
  }

  /** Whether the page has the grant, and it is one of those that `keeps` keeps. */
  counts(relation: number, counterpart: string, keeps: (terms: GrantTerms) => boolean): boolean {
    const terms = this.termsOf(relation, counterpart);
    return terms !== undefined && terms !== null && keeps(terms);
  }

  /** Whether the grant exists; `undefined` if this (sparse) page does not know, or the grant is contingent. */
  holds(relation: number, counterpart: string): boolean | undefined {
    if (!this.#contingent) {
      const has = this.#table.has(relation, counterpart);
      if (has !== undefined) return has;
      return this.whole ? false : this.#previous?.has(relation, counterpart);
    }
    const packed = this.#packed(relation, counterpart);
    if (packed === null || packed === undefined) return packed === null ? false : undefined;
    return isPackedContingent(packed) ? undefined : true;
  }

  /** Sets the current facts of a tuple. Costs one search and one move, however many grants there are. */
  set(relation: number, counterpart: string, facts: GrantAttributes | null): void {
    const bytes = GRANT_BYTES + bytesOfText(counterpart);
    if (this.#marked !== undefined && counterpart.includes(GROUP_MARK)) this.#marked = undefined;
    if (this.#contingent) {
      const former = this.#table.get(relation, counterpart) ?? null;
      this.#tableBytes -= contingentBytes(former === null ? null : unpackAttributes(former));
    }
    if (!this.whole && facts !== null) this.#witness = { relation, counterpart };
    if (this.#groups !== undefined && counterpart.includes(GROUP_MARK)) this.#setGroup(relation, counterpart, facts);
    if (facts !== null && isContingent(facts)) this.#contingent = true;
    if (facts === null && this.whole) {
      if (!this.#table.delete(relation, counterpart)) return;
      this.#tableBytes -= bytes;
      this.#orders?.get(relation)?.delete(counterpart);
      return;
    }
    const packed = facts === null ? null : packAttributes(facts);
    if (this.#contingent) this.#tableBytes += contingentBytes(facts);
    if (this.#table.set(relation, counterpart, packed)) {
      this.#tableBytes += bytes;
      if (this.#orders !== undefined) this.#orderOf(this.#orders, relation).add(counterpart);
      else if (this.whole && this.#table.size > UNORDERED_MAX) this.#orders = this.#createOrders();
    }
  }

  #setGroup(relation: number, counterpart: string, facts: GrantAttributes | null): void {
    const groups = this.#groups?.get(relation);
    if (groups === undefined || typeof groups === 'number') return;
    const bytes = GRANT_BYTES + bytesOfText(counterpart);
    if (groups.delete(counterpart)) this.#groupBytes -= bytes;
    if (facts === null) return;
    groups.set(counterpart, isContingent(facts) ? facts : undefined);
    this.#groupBytes += bytes;
    if (groups.size > GROUPS_KEPT_MAX) this.#dropGroups(relation);
  }

  #dropGroups(relation: number): void {
    const groups = this.#groups?.get(relation);
    this.#groups?.delete(relation);
    if (groups === undefined || typeof groups === 'number') return;
    for (const counterpart of groups.keys()) this.#groupBytes -= GRANT_BYTES + bytesOfText(counterpart);
  }

  /**
   * Keeps the counterparts of a relation with a `#` in a sparse page: all of them as they are now, or how many were
   * found before a bound ended the search. A few groups stay, and follow every later change.
   */
  keepGroups(relation: number, groups: Map<string, GrantAttributes | undefined> | number): void {
    assert(!this.whole, 'a whole page has its groups among its grants');
    this.#dropGroups(relation);
    if (typeof groups !== 'number') {
      if (groups.size > GROUPS_KEPT_MAX) return;
      for (const counterpart of groups.keys()) this.#groupBytes += GRANT_BYTES + bytesOfText(counterpart);
    }
    this.#groups ??= new Map();
    this.#groups.set(relation, groups);
  }

  /** The argument of the last `keepGroups`; undefined: unknown. */
  groupsOf(relation: number): GroupGrants | number | undefined {
    return this.#groups?.get(relation);
  }

  #createOrders(): Map<number, TextOrder> {
    const orders = new Map<number, TextOrder>();
    for (const { relation, counterpart } of this.#table.tuples()) this.#orderOf(orders, relation).add(counterpart);
    return orders;
  }

  #orderOf(orders: Map<number, TextOrder>, relation: number): TextOrder {
    let order = orders.get(relation);
    if (order === undefined) {
      order = new TextOrder();
      orders.set(relation, order);
    }
    return order;
  }

  /**
   * Keeps a sparse page within `tuplesMax`: once the current generation has half of that, the page drops the previous
   * one. Tuples in demand soon become known again, and forgetting costs nothing.
   */
  age(tuplesMax: number): void {
    assert(!this.whole, 'only a sparse page forgets');
    if (2 * this.#table.size < tuplesMax) return;
    this.#previous = this.#table;
    this.#previousBytes = this.#tableBytes;
    this.#table = new TupleTable();
    this.#tableBytes = 0;
  }

  /** The counterparts of a whole page under a relation, ascending by bytes. Read them before the next change. */
  counterparts(relation: number): readonly string[] {
    assert(this.whole, 'only a whole page can be listed');
    if (this.#orders !== undefined) return this.#orders.get(relation)?.texts ?? NO_COUNTERPARTS;
    return sortUtf8(this.#table.counterparts(relation));
  }

  /** The counterparts of some relations (undefined: of all) on a whole page, in no order, without empty lists. */
  byRelation(relations?: readonly number[]): readonly Counterparts[] {
    assert(this.whole, 'only a whole page can be listed');
    const orders = this.#orders;
    if (orders === undefined) return this.#table.byRelation(relations);
    const lists: Counterparts[] = [];
    for (const [relation, { texts }] of orders) {
      if (relations?.includes(relation) !== false) lists.push({ relation, texts });
    }
    return lists;
  }

  /** Counterparts with a `#` in a whole page, of all relations. Gathered once between two changes. */
  get marked(): readonly Counterparts[] {
    if (this.#marked === undefined) {
      const lists = this.byRelation().map(({ relation, texts }) => ({
        relation,
        texts: texts.filter((text) => text.includes(GROUP_MARK)),
      }));
      this.#marked = lists.filter(({ texts }) => texts.length > 0);
    }
    return this.#marked;
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
    const found: PageRow[] = [];
    for (const relation of Array.from(this.#table.relations, (number) => relations.nameOf(number)).sort()) {
      if ((only !== undefined && relation !== only) || (after !== undefined && relation < after.relation)) continue;
      const number = relations.of(relation);
      const counterparts = this.counterparts(number);
      const start = after?.relation === relation ? firstAfter(counterparts, after.counterpart) : 0;
      for (let index = start; index < counterparts.length && found.length < limit; index += 1) {
        const counterpart = counterparts[index] ?? '';
        const facts = this.find(number, counterpart);
        if (facts && (!this.#contingent || keeps(facts))) found.push({ relation, counterpart, ...facts });
      }
      if (found.length >= limit) break;
    }
    return found;
  }
}
