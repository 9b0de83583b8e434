// A graph of grants in memory that knows only the entities that were loaded.

import { EVERY_SUBJECT, relationNumber } from '../../../src/core/tuples.ts';
import { type Adjacent, type Enumeration, type Graph, type Step, TOO_MANY } from '../../../src/rules/graph.ts';
import type { NaiveGrant } from '../../kit/naive-rules.ts';

export class GrantGraph implements Graph {
  readonly grants: readonly NaiveGrant[];
  readonly #known: Set<string> | undefined;
  readonly #countMax: number;
  readonly #numberOf: (relation: string) => number | undefined;
  readonly missing = new Set<string>();

  /** `known`: only these entities; undefined: all. */
  constructor(
    grants: readonly NaiveGrant[],
    {
      known,
      countMax = 1000,
      numberOf = relationNumber,
    }: { known?: Set<string>; countMax?: number; numberOf?: (relation: string) => number | undefined } = {},
  ) {
    this.#numberOf = numberOf;
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

  #adjacent(
    relations: readonly number[] | undefined,
    end: (grant: NaiveGrant, relation: number) => string | undefined,
  ): Enumeration {
    const lists: Adjacent[] = [];
    const all = new Set(this.grants.map(({ relation }) => this.#numberOf(relation) ?? 0));
    for (const relation of relations ?? all) {
      const of = this.grants.filter((grant) => this.#numberOf(grant.relation) === relation);
      lists.push({ relation, texts: of.flatMap((grant) => end(grant, relation) ?? []) });
    }
    return lists.reduce((sum, { texts }) => sum + texts.length, 0) > this.#countMax ? TOO_MANY : lists;
  }

  relationOf(subject: string, relations: readonly number[], object: string): number | undefined {
    const isState = subject === EVERY_SUBJECT;
    if (!this.#knows(isState ? 'object' : 'subject', isState ? object : subject)) return undefined;
    return relations.find((relation) => this.has({ subject, relation, object })) ?? 0;
  }

  groupsOn(object: string, relations: readonly number[]): Enumeration {
    if (!this.#knows('object', object)) return undefined;
    return this.#adjacent(relations, (grant) =>
      grant.object === object && grant.subject.includes('#') ? grant.subject : undefined,
    );
  }

  subjectsOn(object: string, relations: readonly number[]): Enumeration {
    if (!this.#knows('object', object)) return undefined;
    return this.#adjacent(relations, (grant) => (grant.object === object ? grant.subject : undefined));
  }

  objectsOf(subject: string, relations: readonly number[] | undefined): Enumeration {
    if (!this.#knows('subject', subject)) return undefined;
    return this.#adjacent(relations, (grant) => (grant.subject === subject ? grant.object : undefined));
  }

  has({ subject, relation, object }: Step): boolean {
    return this.grants.some(
      (grant) => grant.subject === subject && grant.object === object && this.#numberOf(grant.relation) === relation,
    );
  }
}
