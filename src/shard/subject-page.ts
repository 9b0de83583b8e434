// Subject pages: the grants of one subject in memory, the form in which checks are answered. A *whole* page holds every
// live grant, so what it does not hold does not exist. A *sparse* page, for a subject with more than subjectRowsMax
// rows, holds the tuples that were asked for, present or absent; about any other it knows nothing.

import { assert } from '../core/assert.ts';
import { timeOfId } from '../core/ids.ts';
import { compareUtf8, RELATIONS, relationNumber } from '../core/tuples.ts';
import type { GrantRow } from '../store/store.ts';
import { Evictable } from './memory-budget.ts';
import { TupleTable } from './tuple-table.ts';

/** What a grant is besides its tuple. */
export interface GrantFacts {
  readonly grantId: string;
  readonly createdAtMs: number;
}

/**
 * A grant's facts as one string: the id alone where its time is the grant's, which it is for every grant made here. In
 * objects of their own they would take half of a page's memory.
 */
const packFacts = ({ grantId, createdAtMs }: GrantFacts): string =>
  timeOfId(grantId) === createdAtMs ? grantId : `${grantId} ${createdAtMs}`;

function unpackFacts(packed: string): GrantFacts {
  const space = packed.indexOf(' ');
  if (space < 0) return { grantId: packed, createdAtMs: timeOfId(packed) ?? 0 };
  return { grantId: packed.slice(0, space), createdAtMs: Number(packed.slice(space + 1)) };
}

/** Live and gone rows of a subject up to which its page is held whole: about 2 MiB, read in some 20 ms. */
export const SUBJECT_ROWS_MAX_DEFAULT = 10_000;

/**
 * Estimated bytes: of a page with its maps, and of a grant besides the characters of its object (map entry, id).
 * Held against resident memory by the benchmark `memory`.
 */
const PAGE_BYTES = 550;
const GRANT_BYTES = 120;

export class SubjectPage extends Evictable {
  readonly subject: string;
  readonly whole: boolean;
  readonly #onEvict: (page: SubjectPage) => void;
  /** The facts of each grant. `null`, on sparse pages only: known to be absent. */
  readonly #table = new TupleTable();
  /** Objects of a relation in the order of their bytes, made when first listed and dropped by the next change. */
  #sorted: Map<number, readonly string[]> | undefined;
  #estimate: number;

  constructor(subject: string, whole: boolean, onEvict: (page: SubjectPage) => void) {
    super();
    this.subject = subject;
    this.whole = whole;
    this.#onEvict = onEvict;
    this.#estimate = PAGE_BYTES + subject.length;
  }

  override evict(): void {
    this.#onEvict(this);
  }

  /** Bytes by the present content. */
  get estimate(): number {
    return this.#estimate;
  }

  /** Live grants of a whole page; of a sparse one, tuples known. */
  get tuples(): number {
    return this.#table.size;
  }

  /** The grant, `null` where there is none, `undefined` where this (sparse) page does not know. */
  find(relation: number, object: string): GrantFacts | null | undefined {
    const packed = this.#table.get(relation, object);
    if (packed === undefined) return this.whole ? null : undefined;
    return packed === null ? null : unpackFacts(packed);
  }

  /** Whether there is the grant; `undefined` where this (sparse) page does not know. */
  holds(relation: number, object: string): boolean | undefined {
    const packed = this.#table.get(relation, object);
    if (packed === undefined) return this.whole ? false : undefined;
    return packed !== null;
  }

  /** Sets what holds for a tuple from now on. */
  set(relation: number, object: string, facts: GrantFacts | null): void {
    this.#sorted?.delete(relation);
    if (facts === null && this.whole) {
      if (this.#table.delete(relation, object)) this.#count(-1, object);
    } else if (this.#table.set(relation, object, facts === null ? null : packFacts(facts))) {
      this.#count(1, object);
    }
  }

  #count(change: 1 | -1, object: string): void {
    this.#estimate += change * (GRANT_BYTES + object.length);
  }

  /**
   * Where a sparse page holds more than `tuplesMax`, forgets tuples until it holds half of that: seldom, and of old and new
   * ones alike, so that what is asked for now is known soon. To be called while it is not pinned.
   */
  trim(tuplesMax: number): void {
    assert(!this.whole && this.pins === 0, 'only a sparse page that nobody relies on forgets');
    if (this.#table.size <= tuplesMax) return;
    const kept = Math.floor(tuplesMax / 2);
    const tuples = [...this.#table.tuples()];
    for (const [index, { relation, object }] of tuples.entries()) {
      const keep = Math.floor(((index + 1) * kept) / tuples.length) > Math.floor((index * kept) / tuples.length);
      if (!keep && this.#table.delete(relation, object)) this.#count(-1, object);
    }
  }

  /** Objects of a whole page under a relation, ascending by bytes. */
  objects(relation: number): readonly string[] {
    assert(this.whole, 'only a whole page can be listed');
    let sorted = this.#sorted?.get(relation);
    if (sorted === undefined) {
      sorted = this.#table.objects(relation).sort(compareUtf8);
      this.#sorted ??= new Map();
      this.#sorted.set(relation, sorted);
    }
    return sorted;
  }

  /** Every live grant of a whole page, ascending by the bytes of (relation, object). */
  grants(): GrantRow[] {
    return [...RELATIONS].sort().flatMap((relation) => {
      const number = relationNumber(relation) ?? 0;
      return this.objects(number).flatMap((object) => {
        const facts = this.find(number, object);
        return facts ? [{ relation, object, ...facts }] : [];
      });
    });
  }
}

/** The position of the first object greater than `after` in an ascending list. */
export function firstAfter(sorted: readonly string[], after: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareUtf8(sorted[middle] ?? '', after) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
