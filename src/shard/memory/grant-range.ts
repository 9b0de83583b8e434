// The reader of an entity's rows: grants of one entity, from the state tables or a page, corrected by what was
// committed since. Invariant: evaluated under the delta that was opened before they were read, they are the current
// ones, up to the place at which the read ended.

import { compareUtf8, type Relation } from '../../core/tuples.ts';
import { CHANGES_MAX, type EntityChanges, type GrantDelta, type TupleChange } from './grant-deltas.ts';
import type { PagePlace, PageRow } from './grant-page.ts';
import type { GrantPages } from './grant-pages.ts';
import type { RelationNumbers } from './relation-numbers.ts';
import { searchText } from './text-order.ts';
import { bytesOfText } from './tuple-text.ts';

/** Live rows and tombstone rows read for one page of a listing: a few tenths of a second unless the store is slow. */
export const ROWS_PER_PAGE_MAX = 10_000;
/** Estimated bytes of a row, without the characters of its counterpart. */
const ROW_BYTES = 150;

export interface RangeQuery {
  readonly entity: string;
  /** Only this relation. */
  readonly relation: Relation | undefined;
  /** Where the range starts; absent: with the entity's first grant. */
  readonly after?: PagePlace | undefined;
  /** Selects counterparts. Absent: all. */
  readonly prefix?: string;
}

const compareRows = (left: PagePlace, right: PagePlace): number =>
  compareUtf8(left.relation, right.relation) || compareUtf8(left.counterpart, right.counterpart);

/**
 * The rows that were read, corrected by later changes, up to the end of the read (`end` undefined: the end of the
 * entity). `relations`: of the tenant.
 */
function rowsUnder(
  relations: RelationNumbers,
  read: readonly PageRow[],
  changes: EntityChanges,
  query: RangeQuery,
  end: PagePlace | undefined,
): PageRow[] {
  const { prefix = '' } = query;
  const rows = read.filter(
    ({ relation, counterpart }) =>
      counterpart.startsWith(prefix) &&
      (changes.isEmpty || changes.find(relations.of(relation), counterpart) === undefined),
  );
  for (const { relation: number, counterpart, facts } of changes) {
    const relation = relations.nameOf(number);
    if (facts === null || !counterpart.startsWith(prefix)) continue;
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

/** A read of an entity's rows, slice by slice. */
export abstract class RangeRead {
  readonly query: RangeQuery;
  protected readonly pages: GrantPages;
  protected readonly delta: GrantDelta;
  /** Where the read has ended; undefined: the range has every row of its query. */
  end: PagePlace | undefined;
  /** Rows examined so far, tombstone rows included. */
  looked = 0;
  /** Estimated bytes of what is kept. */
  bytes = 0;

  /** Opens the delta. `from`: where to start to read. */
  constructor(pages: GrantPages, query: RangeQuery, from = query.after) {
    this.pages = pages;
    this.query = query;
    this.end = from;
    this.delta = pages.openDelta(query.entity);
  }

  /** Whether too much was committed since the range was opened to examine in one step. */
  get hasChanged(): boolean {
    return this.delta.size > CHANGES_MAX;
  }

  protected abstract keep(rows: readonly PageRow[]): void;

  /** Examines up to `limit` further rows. Returns the live ones. */
  async read(limit: number): Promise<readonly PageRow[]> {
    const { entity, relation, prefix = '' } = this.query;
    const { rows, next } = await this.pages.readRows({
      entity,
      ...(relation === undefined ? {} : { relation }),
      ...(this.end === undefined ? {} : { after: this.end }),
      limit,
    });
    this.looked += limit;
    this.end = next?.counterpart.startsWith(prefix) === true ? next : undefined;
    this.keep(rows);
    return rows;
  }
}

export interface FirstRead {
  readonly countMax: number;
  /** Rows that are examined at most, tombstone rows included. */
  readonly rowsMax: number;
  readonly keeps: (row: PageRow) => boolean;
  /** Evaluates what `keeps` has to know about the rows that were read. */
  readonly settle?: ((rows: readonly PageRow[]) => Promise<void>) | undefined;
  /** Throws if no front waits for the response any more. */
  readonly assertWanted: () => void;
}

export class FirstGrants extends RangeRead {
  readonly #rows: PageRow[] = [];
  /** The bound of rows has ended the read. */
  #isFull = false;

  protected override keep(rows: readonly PageRow[]): void {
    this.#rows.push(...rows);
    for (const { counterpart } of rows) this.bytes += ROW_BYTES + bytesOfText(counterpart);
  }

  /** Takes rows of a whole page instead of reading them. `end`: as of the range. */
  take(rows: readonly PageRow[], end: PagePlace | undefined): void {
    this.keep(rows);
    this.end = end;
  }

  /** Reads until `countMax` of them are there that `keeps` keeps, or until the range, or the bound of rows, ends. */
  async readFirst({ countMax, rowsMax, keeps, settle, assertWanted }: FirstRead): Promise<void> {
    const limit = Math.max(countMax, this.pages.limits.rowsPerRead);
    do {
      const rows = await this.read(limit);
      assertWanted();
      await settle?.(rows);
      this.#isFull = this.looked + limit > rowsMax;
    } while (!this.hasChanged && this.first(countMax, keeps) === undefined);
  }

  /**
   * The first `countMax` that `keeps` keeps; fewer if the range has no more, or if the bound of rows has ended the read
   * at `rest`. Undefined: commits since the read have left too few, or are too many to examine in one step.
   */
  first(
    countMax: number,
    keeps: FirstRead['keeps'],
  ): { readonly rows: readonly PageRow[]; readonly rest: PagePlace | undefined } | undefined {
    const rows = this.current()?.filter(keeps);
    if (rows === undefined) return undefined;
    if (rows.length >= countMax) return { rows: rows.slice(0, countMax), rest: undefined };
    return this.end === undefined || this.#isFull ? { rows, rest: this.end } : undefined;
  }

  /**
   * Those that exist now and after the changes in `drafted`, ascending. Undefined: too much was committed since the
   * read to examine in one step.
   */
  current(drafted: Iterable<TupleChange> = []): readonly PageRow[] | undefined {
    if (this.hasChanged) return undefined;
    return rowsUnder(this.pages.relations, this.#rows, this.delta.changes(drafted), this.query, this.end);
  }
}

/** The first grants of an entity, for a decision that is taken later. */
export class HeldRange extends FirstGrants {
  /** Grants that one decision takes. */
  readonly countMax: number;

  /** Reads from the place up to which no grant is left. */
  constructor(pages: GrantPages, query: Omit<RangeQuery, 'after'>, countMax: number) {
    super(pages, query, pages.sweptTo(query.entity, query.relation));
    this.countMax = countMax;
  }

  get entity(): string {
    return this.query.entity;
  }

  /** A decision revokes the first `count` of `current`. */
  swept(current: readonly PageRow[], count: number): void {
    const upTo = count === current.length ? this.end : current[count - 1];
    // A whole page has no tombstone rows to pass over.
    if (upTo === undefined || this.looked === 0) return;
    this.pages.sweep(this.entity, this.query.relation, { relation: upTo.relation, counterpart: upTo.counterpart });
  }
}
