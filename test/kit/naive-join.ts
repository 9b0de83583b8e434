// What a join means, over mirrored grants and the sets of a subject, three-valued: slow, and short enough to be read as
// the definition. The statements for databases are compared with it, and it with what rules mean.

import type { Formula, Join, JoinedNode } from '../../src/rules/join.ts';
import type { NaiveGrant, Truth } from './naive-rules.ts';

/** What the service answers for a subject. */
export interface NaiveSets {
  readonly subjects: readonly string[];
  readonly held: readonly string[];
  readonly perhaps: readonly string[];
  readonly own: string;
}

/** The terms that an application puts for `"$sure"` and `"$sets"` into the query of a search engine. */
export function searchTerms({ subjects, held, perhaps, own }: NaiveSets) {
  const sure = [...subjects, ...held.map((each) => `^${each}`), `=${own}`];
  return { sure, sets: ['^', ...sure, ...perhaps.flatMap((each) => [each, `^${each}`])] };
}

const namespaceOf = (text: string): string => text.slice(0, text.indexOf(':'));
const isGroup = (text: string): boolean => /^[^:]*:.+#[A-Za-z][A-Za-z0-9_.-]{0,63}$/u.test(text);

const not = (truth: Truth): Truth => (truth === 'undefined' ? truth : !truth);
const any = (truths: readonly Truth[]): Truth =>
  truths.includes(true) || (truths.includes('undefined') ? 'undefined' : false);
const all = (truths: readonly Truth[]): Truth => not(any(truths.map(not)));

/** Only the grants that the join mirrors. What has a condition is undefined. */
export class NaiveJoin {
  readonly #join: Join;
  readonly #sets: NaiveSets;
  readonly #grantsOn: ReadonlyMap<string, readonly NaiveGrant[]>;
  /** Of nested names, as `name entity`. */
  readonly #nested = new Map<string, Truth>();

  constructor(join: Join, grants: readonly NaiveGrant[], sets: NaiveSets) {
    this.#join = join;
    this.#sets = sets;
    const mirrored = new Set(
      join.mirror.flatMap(({ namespace, relations }) => relations.map((each) => `${namespace} ${each}`)),
    );
    const rows = grants.filter(({ relation, object }) => mirrored.has(`${namespaceOf(object)} ${relation}`));
    this.#grantsOn = Map.groupBy(rows, ({ object }) => object);
    const entities = new Set([...grants.map(({ object }) => object), ...grants.map(({ subject }) => subject)]);
    for (let changes = 1; changes > 0; ) {
      changes = 0;
      for (const node of join.nesting) {
        for (const entity of entities) {
          if (namespaceOf(entity) !== node.namespace) continue;
          const key = `${node.name} ${entity}`;
          const truth = this.#node(node, entity);
          if (truth !== (this.#nested.get(key) ?? false)) changes += 1;
          this.#nested.set(key, truth);
        }
      }
    }
  }

  truthOf(object: string): Truth {
    return this.#formula(this.#join.formula, object);
  }

  #formula(formula: Formula, object: string): Truth {
    if (typeof formula === 'string') {
      const atom = this.#join.atoms[formula];
      return atom === undefined ? false : this.#node(atom, object);
    }
    if ('any_of' in formula) return any(formula.any_of.map((each) => this.#formula(each, object)));
    const { all_of: wanted, none_of: excluded = [] } = formula;
    return all([
      ...wanted.map((each) => this.#formula(each, object)),
      ...excluded.map((each) => not(this.#formula(each, object))),
    ]);
  }

  #node({ relations, own, held, from, every }: JoinedNode, object: string): Truth {
    const grants = this.#grantsOn.get(object) ?? [];
    const truthOf = ({ condition }: NaiveGrant): Truth => (condition === undefined ? true : 'undefined');
    const follows = from.flatMap(({ relation, names }) =>
      grants
        .filter((grant) => grant.relation === relation && this.#isEntity(grant.subject))
        .map((grant) => ({ grant, holds: any(names.map((name) => this.#nestedOn(grant.subject, name))) })),
    );
    if (every) {
      const some = any(follows.map(({ grant, holds }) => all([truthOf(grant), holds])));
      return all([some, ...follows.map(({ grant, holds }) => any([holds, not(truthOf(grant))]))]);
    }
    const granted = grants.filter(({ relation }) => relations.includes(relation));
    return any([
      own.some((name) => this.#sets.own === `${object}#${name}`),
      held === undefined ? false : this.#heldOn(object, held),
      ...granted.map((grant) => all([truthOf(grant), this.#isIn(grant.subject)])),
      ...follows.map(({ grant, holds }) => all([truthOf(grant), holds])),
    ]);
  }

  #isIn(subject: string): Truth {
    if (this.#sets.subjects.includes(subject)) return true;
    return this.#sets.perhaps.includes(subject) && (isGroup(subject) ? this.#join.groups : true) ? 'undefined' : false;
  }

  #heldOn(object: string, name: string): Truth {
    const text = `${object}#${name}`;
    if (this.#sets.held.includes(text)) return true;
    return this.#sets.perhaps.includes(text) ? 'undefined' : false;
  }

  #isEntity(subject: string): boolean {
    const namespace = namespaceOf(subject);
    if (subject === '*' || (this.#join.groups && isGroup(subject))) return false;
    return !(subject === `${namespace}:*` && this.#join.public.includes(namespace));
  }

  #nestedOn(entity: string, name: string): Truth {
    const known = this.#join.nesting.some((node) => node.namespace === namespaceOf(entity) && node.name === name);
    return known ? (this.#nested.get(`${name} ${entity}`) ?? false) : this.#heldOn(entity, name);
  }
}
