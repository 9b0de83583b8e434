// The first counterparts of one relation of an entity without a whole page, ascending, for a page of a listing.
// Invariant: evaluated under the delta that was opened before the read, they are the current ones.

import type { GrantAttributes } from '../../core/grant-attributes.ts';
import type { Relation } from '../../core/tuples.ts';
import { CHANGES_MAX, type GrantDelta } from '../memory/grant-deltas.ts';
import { bytesOfText, type PagePlace, type PageRow } from '../memory/grant-page.ts';
import type { GrantPages } from '../memory/grant-pages.ts';
import { rowsUnder } from '../memory/grant-range.ts';

/** Which strings a page of a listing wants. */
export interface TextsQuery {
  /** Of the strings; empty: all. */
  readonly prefix: string;
  readonly after: string;
  readonly countMax: number;
}

/** Estimated bytes of a row, without the characters of its counterpart. */
const ROW_BYTES = 150;

type Keeps = (facts: GrantAttributes) => boolean;

export class FirstCounterparts {
  readonly #relation: Relation;
  readonly #query: TextsQuery;
  readonly #delta: GrantDelta;
  readonly #rows: PageRow[] = [];
  /** Estimated bytes. */
  bytes = 0;
  /** Where the read ended; undefined: with the last one that the query wants. */
  #end: PagePlace | undefined;

  private constructor(relation: Relation, query: TextsQuery, delta: GrantDelta) {
    this.#relation = relation;
    this.#query = query;
    this.#delta = delta;
  }

  /** `assertWanted`: throws if no front waits for the response any more. */
  static async read(
    pages: GrantPages,
    entity: string,
    relation: Relation,
    query: TextsQuery,
    keeps: Keeps,
    assertWanted: () => void,
  ): Promise<FirstCounterparts> {
    const first = new FirstCounterparts(relation, query, pages.openDelta(entity));
    const limit = Math.max(query.countMax, pages.limits.rowsPerRead);
    let after: PagePlace = { relation, counterpart: query.after };
    for (;;) {
      const { rows, next } = await pages.readRows({ entity, relation, after, limit });
      assertWanted();
      first.#rows.push(...rows);
      for (const { counterpart } of rows) first.bytes += ROW_BYTES + bytesOfText(counterpart);
      first.#end = next?.counterpart.startsWith(query.prefix) === true ? next : undefined;
      if (first.#end === undefined || first.current(keeps) !== undefined || first.#hasChanged) return first;
      after = first.#end;
    }
  }

  get #hasChanged(): boolean {
    return this.#delta.size > CHANGES_MAX;
  }

  /** Undefined: commits since the read have left too few, or are too many to examine in one step. */
  current(keeps: Keeps): readonly string[] | undefined {
    if (this.#hasChanged) return undefined;
    const { prefix, after, countMax } = this.#query;
    const range = { relation: this.#relation, after: { relation: this.#relation, counterpart: after }, prefix };
    const rows = rowsUnder(this.#rows, this.#delta.changes(), range, this.#end).filter(keeps);
    if (rows.length < countMax && this.#end !== undefined) return undefined;
    return rows.slice(0, countMax).map(({ counterpart }) => counterpart);
  }
}
