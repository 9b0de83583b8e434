// A graph of grants in memory that knows only the entities that were loaded.

import { relationNumber } from '../../../src/core/tuples.ts';
import { type Adjacent, type Enumerated, type Graph, type Step, TOO_MANY } from '../../../src/rules/graph.ts';
import type { NaiveGrant } from '../../kit/naive-rules.ts';

export class GrantGraph implements Graph {
  readonly grants: readonly NaiveGrant[];
  readonly #known: Set<string> | undefined;
  readonly #countMax: number;
  readonly missing = new Set<string>();

  /** `known`: only these entities; undefined: all. */
  constructor(
    grants: readonly NaiveGrant[],
    { known, countMax = 1000 }: { known?: Set<string>; countMax?: number } = {},
  ) {
    this.grants = grants;
    this.#known = known;
    this.#countMax = countMax;
  }

  /** What was missed is known from now on. */
  load(): number {
    for (const entity of this.missing) this.#known?.add(entity);
    const { size } = this.missing;
    this.missing.clear();
    return size;
  }

  #knows(side: string, entity: string): boolean {
    const key = `${side} ${entity}`;
    if (this.#known === undefined || this.#known.has(key)) return true;
    this.missing.add(key);
    return false;
  }

  #adjacent(relations: number, ends: (number: number) => readonly string[]): Enumerated {
    const lists: Adjacent[] = [];
    for (let number = 1; number <= 9; number += 1) {
      if ((relations & (1 << number)) !== 0) lists.push({ relation: number, texts: ends(number) });
    }
    return lists.reduce((sum, { texts }) => sum + texts.length, 0) > this.#countMax ? TOO_MANY : lists;
  }

  relationsOf(subject: string, relations: number, object: string): number | undefined {
    if (!this.#knows('subject', subject)) return undefined;
    let found = 0;
    for (const grant of this.grants) {
      if (grant.subject === subject && grant.object === object) found |= 1 << (relationNumber(grant.relation) ?? 0);
    }
    return found & relations;
  }

  groupsOn(object: string, relations: number): Enumerated {
    if (!this.#knows('object', object)) return undefined;
    return this.#adjacent(relations, (number) =>
      this.grants
        .filter((grant) => grant.object === object && relationNumber(grant.relation) === number)
        .map(({ subject }) => subject)
        .filter((subject) => subject.includes('#')),
    );
  }

  subjectsOn(object: string, relations: number): Enumerated {
    if (!this.#knows('object', object)) return undefined;
    return this.#adjacent(relations, (number) =>
      this.grants
        .filter((grant) => grant.object === object && relationNumber(grant.relation) === number)
        .map(({ subject }) => subject),
    );
  }

  objectsOf(subject: string, relations: number): Enumerated {
    if (!this.#knows('subject', subject)) return undefined;
    return this.#adjacent(relations, (number) =>
      this.grants
        .filter((grant) => grant.subject === subject && relationNumber(grant.relation) === number)
        .map(({ object }) => object),
    );
  }

  has({ subject, relation, object }: Step): boolean {
    return this.grants.some(
      (grant) => grant.subject === subject && grant.object === object && relationNumber(grant.relation) === relation,
    );
  }
}
