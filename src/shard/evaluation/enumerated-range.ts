// Counterparts of one relation of an entity without a whole page, read from the state tables: all of them, or the first
// ones for a page of a listing. Invariant: evaluated under the delta that was opened before the read, they are current.

import { attributesOf, type GrantAttributes, isContingent } from '../../core/grant-attributes.ts';
import type { Relation } from '../../core/tuples.ts';
import { CHANGES_MAX, type GrantDelta } from '../memory/grant-deltas.ts';
import { bytesOfText, type PagePlace, type PageRow } from '../memory/grant-page.ts';
import type { GrantPages } from '../memory/grant-pages.ts';
import { rowsUnder } from '../memory/grant-range.ts';
import type { RelationNumbers } from '../memory/relation-numbers.ts';

/** Estimated bytes of a string in a list, without its characters. */
const TEXT_BYTES = 40;

export class EnumeratedRange {
  readonly #relation: number;
  readonly #delta: GrantDelta;
  readonly #fits: (counterpart: string) => boolean;
  readonly #texts: string[] = [];
  /** The attributes of those whose grants are contingent. */
  readonly #contingent = new Map<string, GrantAttributes>();
  /** Estimated bytes. */
  bytes = 0;
  /** A bound ended the read: there are more. */
  isPart = false;

  /** `delta`: opened before the first read. `fits`: only these counterparts. */
  constructor(relation: number, delta: GrantDelta, fits: (counterpart: string) => boolean) {
    this.#relation = relation;
    this.#delta = delta;
    this.#fits = fits;
  }

  /** As they were read. */
  get size(): number {
    return this.#texts.length;
  }

  add(rows: readonly PageRow[]): void {
    for (const row of rows) {
      const { counterpart } = row;
      if (!this.#fits(counterpart)) continue;
      this.#texts.push(counterpart);
      if (isContingent(row)) this.#contingent.set(counterpart, attributesOf(row));
      this.bytes += TEXT_BYTES + bytesOfText(counterpart);
    }
  }

  /**
   * Those that exist now and that `keeps` keeps, in no order. Undefined: too much was committed since the read to
   * examine in one step.
   */
  current(keeps: (facts: GrantAttributes) => boolean): readonly string[] | undefined {
    const changed = this.#changed();
    if (changed === undefined) return undefined;
    if (changed.size === 0 && this.#contingent.size === 0) return this.#texts;
    const current = this.#texts.filter((text) => {
      if (changed.has(text)) return false;
      const facts = this.#contingent.get(text);
      return facts === undefined || keeps(facts);
    });
    for (const [text, facts] of changed) if (facts !== null && keeps(facts)) current.push(text);
    return current;
  }

  /** Those that exist now, each with its attributes if its grant is contingent. Undefined as above. */
  now(): Map<string, GrantAttributes | undefined> | undefined {
    const changed = this.#changed();
    if (changed === undefined) return undefined;
    const now = new Map(this.#texts.map((text) => [text, this.#contingent.get(text)]));
    for (const [text, facts] of changed) {
      if (facts === null) now.delete(text);
      else now.set(text, isContingent(facts) ? facts : undefined);
    }
    return now;
  }

  #changed(): ReadonlyMap<string, GrantAttributes | null> | undefined {
    if (this.#delta.size > CHANGES_MAX) return undefined;
    const changed = new Map<string, GrantAttributes | null>();
    for (const { relation, counterpart, facts } of this.#delta.changes()) {
      if (relation === this.#relation && this.#fits(counterpart)) changed.set(counterpart, facts);
    }
    return changed;
  }
}

/** The strings that a page of a listing needs. */
export interface TextsQuery {
  /** Of the strings; empty: all. */
  readonly prefix: string;
  readonly after: string;
  readonly countMax: number;
}

/** Estimated bytes of a row, without the characters of its counterpart. */
const ROW_BYTES = 150;

type Keeps = (facts: GrantAttributes) => boolean;

interface FirstRead {
  readonly keeps: Keeps;
  /** Of the rows that were read, what `keeps` has yet to find out. */
  readonly settle: ((rows: readonly PageRow[]) => Promise<void>) | undefined;
  /** Throws if no front waits for the response any more. */
  readonly assertWanted: () => void;
}

export class FirstCounterparts {
  readonly #relation: Relation;
  readonly #query: TextsQuery;
  readonly #relations: RelationNumbers;
  readonly #delta: GrantDelta;
  readonly #rows: PageRow[] = [];
  /** Estimated bytes. */
  bytes = 0;
  /** Where the read ended; undefined: with the last one that the query wants. */
  #end: PagePlace | undefined;

  private constructor(relation: Relation, query: TextsQuery, relations: RelationNumbers, delta: GrantDelta) {
    this.#relation = relation;
    this.#query = query;
    this.#relations = relations;
    this.#delta = delta;
  }

  static async read(
    pages: GrantPages,
    entity: string,
    relation: Relation,
    query: TextsQuery,
    { keeps, settle, assertWanted }: FirstRead,
  ): Promise<FirstCounterparts> {
    const first = new FirstCounterparts(relation, query, pages.relations, pages.openDelta(entity));
    const limit = Math.max(query.countMax, pages.limits.rowsPerRead);
    let after: PagePlace = { relation, counterpart: query.after };
    for (;;) {
      const { rows, next } = await pages.readRows({ entity, relation, after, limit });
      assertWanted();
      first.#rows.push(...rows);
      for (const { counterpart } of rows) first.bytes += ROW_BYTES + bytesOfText(counterpart);
      await settle?.(rows);
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
    const rows = rowsUnder(this.#relations, this.#rows, this.#delta.changes(), range, this.#end).filter(keeps);
    if (rows.length < countMax && this.#end !== undefined) return undefined;
    return rows.slice(0, countMax).map(({ counterpart }) => counterpart);
  }
}
