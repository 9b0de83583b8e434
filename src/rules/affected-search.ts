// The search for what grants may matter to: the names on objects that a subject might hold, or not hold, because of
// them, whatever gates need. Invariant: once it is complete, no other name on any object depends on them. A bound
// leaves it incomplete.

import { bitOf, type CompiledRules, type NameSet } from './compiled-rules.ts';
import { type Adjacent, type Graph, SearchCost, type SearchLimits, Sources, type Step } from './graph.ts';

/** Grants to examine. */
interface Source extends Adjacent {
  /** The names on their subject that were affected; undefined: the subject is a group of such a name. */
  readonly names: NameSet | undefined;
}

export class AffectedSearch {
  readonly cost: SearchCost;
  readonly #rules: CompiledRules;
  readonly #graph: Graph;
  /** Nearest first. */
  readonly #names = new Map<string, NameSet>();
  readonly #queue: { readonly object: string; readonly names: NameSet }[] = [];
  #next = 0;
  readonly #sources = new Sources<Source>();

  constructor(rules: CompiledRules, graph: Graph, limits: SearchLimits) {
    this.#rules = rules;
    this.#graph = graph;
    this.cost = new SearchCost(limits);
  }

  /** Begins with a grant, of which the search is to find what rests on it. */
  start({ relation, object }: Pick<Step, 'relation' | 'object'>): void {
    this.#reach(object, this.#rules.affected(object, bitOf(relation)));
    this.#reach(object, this.#rules.affectedThrough(object, relation, this.#rules.followedAlong(relation)));
  }

  get hasNext(): boolean {
    return !this.#sources.isEmpty || this.#next < this.#queue.length;
  }

  /** By object. */
  get names(): ReadonlyMap<string, NameSet> {
    return this.#names;
  }

  step(): void {
    const rules = this.#rules;
    if (!this.#sources.isEmpty) {
      this.#sources.look(this.cost, ({ relation, names }, object) => {
        const affected =
          names === undefined
            ? rules.affected(object, bitOf(relation))
            : rules.affectedThrough(object, relation, names);
        this.#reach(object, affected);
        return false;
      });
      return;
    }
    const found = this.#queue[this.#next];
    this.#next += 1;
    if (found === undefined || this.cost.isSpent) return;
    const { object, names } = found;
    if (rules.groups)
      for (const name of rules.groupNamesIn(names)) this.#follow(`${object}#${name}`, undefined, undefined);
    const relations = rules.childRelations(names);
    if (relations.length > 0 && rules.isEntity(object)) this.#follow(object, relations, names);
  }

  #follow(subject: string, relations: readonly number[] | undefined, names: NameSet | undefined): void {
    for (const list of this.cost.enumerate(this.#graph.objectsOf(subject, relations))) {
      this.#sources.add({ ...list, names });
    }
  }

  #reach(object: string, names: NameSet): void {
    const known = this.#names.get(object) ?? 0n;
    const fresh = names & ~known;
    if (fresh === 0n || !this.cost.visit(0, object)) return;
    this.#names.set(object, known | fresh);
    this.#queue.push({ object, names: fresh });
  }
}
