// Grants of one entity as they were read from the state tables or a page, corrected by what was committed since.
// Invariant: evaluated under the delta that was opened before they were read, they are the current ones, up to the
// place at which the read ended.

import { compareUtf8, type Relation } from '../../core/tuples.ts';
import { CHANGES_MAX, type EntityChanges, type GrantDelta, type TupleChange } from './grant-deltas.ts';
import type { PagePlace, PageRow } from './grant-page.ts';
import type { RelationNumbers } from './relation-numbers.ts';
import { searchText } from './text-order.ts';

export interface RangeQuery {
  /** Only this relation. */
  readonly relation: Relation | undefined;
  /** Where the range starts; undefined: with the entity's first grant. */
  readonly after: PagePlace | undefined;
  /** Of the counterparts. */
  readonly prefix: string;
}

const compareRows = (left: PagePlace, right: PagePlace): number =>
  compareUtf8(left.relation, right.relation) || compareUtf8(left.counterpart, right.counterpart);

/**
 * The rows that were read, corrected by later changes, up to the end of the read (`end` undefined: the end of the
 * entity). `relations`: of the tenant.
 */
export function rowsUnder(
  relations: RelationNumbers,
  read: readonly PageRow[],
  changes: EntityChanges,
  query: RangeQuery,
  end: PagePlace | undefined,
): PageRow[] {
  const rows = read.filter(
    ({ relation, counterpart }) =>
      counterpart.startsWith(query.prefix) && changes.find(relations.of(relation), counterpart) === undefined,
  );
  for (const { relation: number, counterpart, facts } of changes) {
    const relation = relations.nameOf(number);
    if (facts === null || !counterpart.startsWith(query.prefix)) continue;
    if (query.relation !== undefined && query.relation !== relation) continue;
    const row = { relation, counterpart, ...facts };
    if (query.after !== undefined && compareRows(row, query.after) <= 0) continue;
    if (end === undefined || compareRows(row, end) <= 0) insertRow(rows, row);
  }
  return rows;
}

/** Inserts a row that is not in the list yet. */
function insertRow(rows: PageRow[], row: PageRow): void {
  const low = lowest(rows.length, (index) => (rows[index]?.relation ?? '') >= row.relation);
  const high = lowest(rows.length, (index) => (rows[index]?.relation ?? '') > row.relation);
  const place = searchText((index) => rows[index]?.counterpart ?? '', row.counterpart, low, high);
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

export interface RangeOf {
  readonly entity: string;
  /** Only this relation. */
  readonly relation: Relation | undefined;
  readonly countMax: number;
}

/** The first grants of an entity, for a decision that is taken later. */
export class HeldRange {
  readonly entity: string;
  readonly #relations: RelationNumbers;
  readonly #query: RangeQuery;
  readonly #rows: readonly PageRow[];
  readonly #delta: GrantDelta;
  readonly #onSwept: (upTo: PagePlace) => void;
  /** Where the read ended; undefined: the range has every grant of the entity. */
  readonly end: PagePlace | undefined;
  /** Grants that one decision takes. */
  readonly countMax: number;

  /** `onSwept`: a decision leaves no grant of the range up to this place. */
  constructor(
    relations: RelationNumbers,
    { entity, relation, countMax }: RangeOf,
    read: { readonly rows: readonly PageRow[]; readonly end: PagePlace | undefined; readonly delta: GrantDelta },
    onSwept: (upTo: PagePlace) => void = () => {},
  ) {
    this.entity = entity;
    this.#relations = relations;
    this.countMax = countMax;
    this.#query = { relation, after: undefined, prefix: '' };
    this.#rows = read.rows;
    this.#delta = read.delta;
    this.#onSwept = onSwept;
    this.end = read.end;
  }

  /**
   * Those that exist now and after the changes in `drafted`, ascending. Undefined: too much was committed since the
   * read to examine in one step.
   */
  current(drafted: Iterable<TupleChange> = []): readonly PageRow[] | undefined {
    if (this.#delta.size > CHANGES_MAX) return undefined;
    return rowsUnder(this.#relations, this.#rows, this.#delta.changes(drafted), this.#query, this.end);
  }

  /** A decision revokes the first `count` of `current`. */
  swept(current: readonly PageRow[], count: number): void {
    const upTo = count === current.length ? this.end : current[count - 1];
    if (upTo !== undefined) this.#onSwept({ relation: upTo.relation, counterpart: upTo.counterpart });
  }
}

// ---- swept ranges ----

/** Entities of a tenant; beyond, the one that was swept first is forgotten. */
const ENTITIES_MAX = 64;

/**
 * The progress of filtered revocations on large entities. Their tombstone rows remain for a while; without this, each
 * call would read those of all calls before it. Invariant: up to the recorded place of an entity, no matching grant
 * exists; a new grant of the entity deletes its record. A record may be dropped at any time.
 */
export class SweptRanges {
  /** By entity and relation; `undefined`: all relations. */
  readonly #places = new Map<string, Map<Relation | undefined, PagePlace>>();

  get(entity: string, relation: Relation | undefined): PagePlace | undefined {
    return this.#places.get(entity)?.get(relation);
  }

  set(entity: string, relation: Relation | undefined, upTo: PagePlace): void {
    const places = this.#places.get(entity) ?? new Map<Relation | undefined, PagePlace>();
    places.set(relation, upTo);
    this.#places.set(entity, places);
    const [oldest] = this.#places.size > ENTITIES_MAX ? this.#places.keys() : [];
    if (oldest !== undefined) this.#places.delete(oldest);
  }

  delete(entity: string): void {
    this.#places.delete(entity);
  }
}
