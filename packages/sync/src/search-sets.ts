// What a document in a search engine has of who holds a name on it, and the query that goes with it. A field per atom
// of the join has the sets whose members hold it, followed upwards: subjects as they are granted, `^folder:x#viewer`
// for all who hold a name on a container, `=document:x#owner` for those whose own object it is. Invariant: without
// conditions the query finds exactly what the join says; what is undecided is found, and decided by a check.

import { namespaceOf } from '../../../src/core/tuples.ts';
import type { Formula, Join, JoinedFrom, JoinedNode } from '../../../src/rules/join.ts';
import { type JoinSet, OPEN } from './mirror.ts';
import type { MirrorDatabase } from './sql-mirror.ts';

/** Of a field. What has more is found by everybody. */
export const SETS_MAX = 10_000;
const EVERYONE = '^';
export const FIELD = 'grantd';

/** What must not hold has to be sure. */
const fieldOf = (atom: string, isSure: boolean): string => (isSure ? `${atom}_sure` : atom);

/** Its fields, each of a formula's atoms with whether it has to be sure. */
function* fieldsIn(formula: Formula, isSure = false): Generator<readonly [atom: string, isSure: boolean]> {
  if (typeof formula === 'string') return yield [formula, isSure];
  for (const each of 'any_of' in formula ? formula.any_of : formula.all_of) yield* fieldsIn(each, isSure);
  if ('all_of' in formula) for (const each of formula.none_of ?? []) yield* fieldsIn(each, !isSure);
}

/** In the language of OpenSearch and Elasticsearch, with `"$sets"` and `"$sure"` in place of terms. */
export function searchQuery({ id, join }: JoinSet['joins'][number]): object {
  const queryOf = (formula: Formula, isSure: boolean): object => {
    const all = (each: readonly Formula[], sure = isSure) => each.map((part) => queryOf(part, sure));
    if (typeof formula === 'string') {
      return { terms: { [`${FIELD}.${id}.${fieldOf(formula, isSure)}`]: isSure ? '$sure' : '$sets' } };
    }
    if ('all_of' in formula) {
      return { bool: { filter: all(formula.all_of), must_not: all(formula.none_of ?? [], !isSure) } };
    }
    if (formula.any_of.length === 0) return { match_none: {} };
    return { bool: { should: all(formula.any_of), minimum_should_match: 1 } };
  };
  return queryOf(join.formula, false);
}

export const searchFields = ({ formula }: Join): readonly string[] => [
  ...new Set([...fieldsIn(formula)].map(([atom, isSure]) => fieldOf(atom, isSure))),
];

interface StoredGrant {
  readonly subject: string;
  readonly conditional: boolean;
  readonly kind: number;
}

/** By object and relation, of as many as matter. */
export type StoredGrants = ReadonlyMap<string, ReadonlyMap<string, readonly StoredGrant[]>>;

/** Relations by which containers have what the joins look at. */
export const structureOf = ({ joins }: JoinSet): ReadonlySet<string> =>
  new Set(
    joins
      .flatMap(({ join }) => [...Object.values(join.atoms), ...join.nesting])
      .flatMap(({ from }: { readonly from: readonly JoinedFrom[] }) => from.map(({ relation }) => relation)),
  );

/** The present grants on the objects, and on all that is above them. */
export async function grantsAbove(
  database: MirrorDatabase,
  objects: readonly string[],
  structure: ReadonlySet<string>,
): Promise<StoredGrants> {
  const found = new Map<string, Map<string, StoredGrant[]>>();
  for (let level = new Set(objects); level.size > 0; ) {
    const above = new Set<string>();
    const rows = await database.run(
      `SELECT object, relation, subject, conditional, kind FROM (
  SELECT g.*, row_number() OVER (PARTITION BY g.object, g.relation) AS number
  FROM ${database.rows({ object: 'text' })} JOIN ${database.table('grants')} AS g ON g.object = c.object
  WHERE g.until = ${OPEN}) AS numbered WHERE number <= ${SETS_MAX + 1}`,
      JSON.stringify(Array.from(level, (object) => ({ object }))),
    );
    for (const object of level) found.set(object, new Map());
    for (const row of rows) {
      const [relation, subject] = [String(row.relation), String(row.subject)];
      const byRelation = found.get(String(row.object));
      const grants = byRelation?.get(relation) ?? [];
      grants.push({ subject, conditional: Number(row.conditional) === 1, kind: Number(row.kind) });
      byRelation?.set(relation, grants);
      if (structure.has(relation) && !found.has(subject)) above.add(subject);
    }
    level = above;
  }
  return found;
}

/** What is on objects, over stored grants. */
export class ObjectSets {
  readonly #join: Join;
  readonly #grants: StoredGrants;
  readonly #nested: ReadonlyMap<string, JoinedNode>;
  readonly #public: ReadonlySet<string>;

  constructor(join: Join, grants: StoredGrants) {
    this.#join = join;
    this.#grants = grants;
    this.#nested = new Map(join.nesting.map((node) => [`${node.namespace} ${node.name}`, node]));
    this.#public = new Set(join.public.map((namespace) => `${namespace}:*`));
  }

  /** By field. */
  of(object: string): Readonly<Record<string, readonly string[]>> {
    const fields = Array.from(fieldsIn(this.#join.formula), ([atom, isSure]) => {
      const node = this.#join.atoms[atom];
      return [fieldOf(atom, isSure), node === undefined ? [] : this.#setsFor(node, object, isSure)] as const;
    });
    return Object.fromEntries(fields);
  }

  #setsFor(atom: JoinedNode, object: string, isSure: boolean): readonly string[] {
    // All of the containers are not to be seen here: one of them has to suffice.
    if (isSure && atom.every === true) return [];
    const [sets, seen] = [new Set<string>(), new Set<string>()];
    let level = [{ node: atom, on: object }];
    // Beyond these levels nothing is sure.
    for (
      let left = isSure ? this.#join.depth_max + 2 : Number.POSITIVE_INFINITY;
      level.length > 0 && left > 0;
      left -= 1
    ) {
      const above: typeof level = [];
      for (const { node, on } of level) {
        const grantsOn = (relation: string): readonly StoredGrant[] => {
          const all = this.#grants.get(on)?.get(relation) ?? [];
          return isSure ? all.filter(({ conditional }) => !conditional) : all;
        };
        for (const name of node.own) sets.add(`=${on}#${name}`);
        if (node.held !== undefined) sets.add(`^${on}#${node.held}`);
        for (const relation of node.relations) for (const { subject } of grantsOn(relation)) sets.add(subject);
        for (const { relation, names } of node.from) {
          const grants = grantsOn(relation);
          for (const { subject } of grants.filter((grant) => this.#isEntity(grant))) {
            for (const name of names) {
              if (!seen.has(`${subject}#${name}`)) above.push({ node: this.#nodeOf(subject, name), on: subject });
              seen.add(`${subject}#${name}`);
            }
          }
        }
        if (Math.max(sets.size, seen.size) > SETS_MAX) return isSure ? [] : [EVERYONE];
      }
      level = above;
    }
    return [...sets];
  }

  #nodeOf(container: string, name: string): JoinedNode {
    const held = { relations: [], own: [], held: name, from: [] };
    return this.#nested.get(`${namespaceOf(container)} ${name}`) ?? held;
  }

  /** Neither a group nor everyone. */
  #isEntity({ subject, kind }: StoredGrant): boolean {
    return kind === 0 || (kind === 1 && !this.#join.groups) || (kind === 2 && !this.#public.has(subject));
  }
}
