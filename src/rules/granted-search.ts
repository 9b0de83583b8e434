// The search from a subject: which names does it hold on which objects? It follows the grants of the subject, of the
// groups that it belongs to, and the inheritance of objects from entities. Each name on each object is found once,
// however many paths lead there. Breadth first: the first way to an object is a shortest one.

import { EVERY_SUBJECT } from '../core/tuples.ts';
import { bitOf, type CompiledRules, type NameSet } from './compiled-rules.ts';
import { type Adjacent, type Graph, SearchCost, type SearchLimits, Sources, type Step } from './graph.ts';

/** Names that the subject holds on an object, as one grant gives them. */
export interface HeldObject {
  readonly object: string;
  readonly names: NameSet;
  readonly depth: number;
  /** The grant that gives them; `relation` 0: the subject is the object itself, or a group of it. */
  readonly subject: string;
  readonly relation: number;
  /** What the subject of that grant rests on; undefined: it is the subject of the search. */
  readonly after: HeldObject | undefined;
  /** Other names on the same object, found earlier. */
  readonly earlier: HeldObject | undefined;
  /** These names and the earlier ones. */
  readonly all: NameSet;
}

type Way = Pick<HeldObject, 'depth' | 'subject' | 'relation' | 'after'>;

/** Grants to examine. */
interface Source extends Adjacent {
  readonly subject: string;
  readonly depth: number;
  readonly after: HeldObject | undefined;
  /** The names on the subject that its objects inherit; undefined: the relation itself is granted. */
  readonly names: NameSet | undefined;
}

/** Groups whose grants are looked for in the time of a grant that is examined. */
const GROUPS_PER_GRANT = 4;
const NO_STATES: readonly number[] = [];

export class GrantedSearch {
  readonly cost: SearchCost;
  readonly #rules: CompiledRules;
  readonly #graph: Pick<Graph, 'objectsOf'>;
  /** By object: the last find. */
  readonly #held = new Map<string, HeldObject>();
  /** Subjects whose grants have been followed, without the groups of what is held. */
  readonly #followed = new Set<string>();
  readonly #queue: HeldObject[] = [];
  #next = 0;
  readonly #sources = new Sources<Source>();
  /** The subjects that the search starts from, until its first step. */
  #starts: readonly string[];
  /** The states that it starts from, too. */
  #states: readonly number[];

  /**
   * `states`: whose objects it finds like those of the subject. Without them it finds nothing that states alone give
   * (`CompiledRules.isOpen`).
   */
  constructor(
    rules: CompiledRules,
    graph: Pick<Graph, 'objectsOf'>,
    limits: SearchLimits,
    subject: string,
    states: readonly number[] = NO_STATES,
  ) {
    this.#rules = rules;
    this.#graph = graph;
    this.cost = new SearchCost(limits);
    this.#starts = rules.subjectsOf(subject);
    this.#states = states;
    const own = rules.ownOf(subject);
    const before = rules.spent;
    if (own !== undefined) {
      const names = rules.held(own.object, own.names);
      this.#find(own.object, names, { depth: 0, subject, relation: 0, after: undefined });
    }
    this.cost.charge(rules.spent - before);
  }

  get hasNext(): boolean {
    return this.#starts.length + this.#states.length > 0 || !this.#sources.isEmpty || this.#next < this.#queue.length;
  }

  /** Whether all that the subject holds has been found. */
  get isComplete(): boolean {
    return !this.hasNext && !this.cost.misses && this.cost.exceeded === undefined;
  }

  get held(): ReadonlyMap<string, HeldObject> {
    return this.#held;
  }

  /** All names found to be held on the object. */
  namesOn(object: string): NameSet {
    return this.#held.get(object)?.all ?? 0n;
  }

  /** The subjects on whose grants the search rests; of an object whose groups are, the object and a `#`. */
  *followed(): Generator<string> {
    yield* this.#followed;
    if (this.#rules.groups) for (const object of this.#held.keys()) yield `${object}#`;
  }

  /** Whether the search rests on grants of the subject, or will. */
  follows(subject: string): boolean {
    if (this.#followed.has(subject)) return true;
    const group = this.#rules.membershipOf(subject);
    return group !== undefined && (this.namesOn(group.object) & group.names) !== 0n;
  }

  /**
   * Continues for one step, in the order of depth. Calls `onFind` for each new find; the step ends when it returns
   * true.
   */
  step(onFind: (find: HeldObject) => boolean): void {
    const before = this.#rules.spent;
    this.#step(onFind);
    this.cost.charge(this.#rules.spent - before);
  }

  #step(onFind: (find: HeldObject) => boolean): void {
    if (!this.#sources.isEmpty) {
      this.#sources.look(this.cost, (source, object) => {
        const found = this.#findObject(source, object);
        return found !== undefined && onFind(found);
      });
    } else if (this.#starts.length + this.#states.length > 0) {
      const [starts, states] = [this.#starts, this.#states];
      [this.#starts, this.#states] = [[], []];
      const way = { depth: 0, after: undefined, names: undefined };
      for (const subject of starts) {
        this.#followed.add(subject);
        this.#follow(subject, undefined, way);
      }
      if (states.length > 0) {
        this.#followed.add(EVERY_SUBJECT);
        this.#follow(EVERY_SUBJECT, states, way);
      }
    } else {
      const find = this.#queue[this.#next];
      this.#next += 1;
      if (find !== undefined) this.#expand(find);
    }
  }

  #expand(find: HeldObject): void {
    const { object, names } = find;
    const depth = find.depth + 1;
    if (this.#rules.groups) {
      const groups = this.#rules.groupNamesIn(names);
      this.cost.charge(groups.length / GROUPS_PER_GRANT);
      for (const name of groups) {
        this.#follow(`${object}#${name}`, undefined, { depth, after: find, names: undefined });
      }
    }
    const relations = this.#rules.childRelations(names);
    if (relations.length > 0 && this.#rules.isEntity(object)) {
      this.#followed.add(object);
      this.#follow(object, relations, { depth, after: find, names });
    }
  }

  #follow(
    subject: string,
    relations: readonly number[] | undefined,
    way: Pick<Source, 'depth' | 'after' | 'names'>,
  ): void {
    if (this.cost.isSpent) return;
    for (const { relation, texts } of this.cost.enumerate(this.#graph.objectsOf(subject, relations))) {
      this.#sources.add({ relation, texts, subject, ...way });
    }
  }

  #findObject({ subject, relation, depth, after, names }: Source, object: string): HeldObject | undefined {
    const given =
      names === undefined ? this.#rules.held(object, bitOf(relation)) : this.#rules.inherited(object, relation, names);
    return this.#find(object, given, { depth, subject, relation, after });
  }

  #find(object: string, names: NameSet, way: Way): HeldObject | undefined {
    const earlier = this.#held.get(object);
    const known = earlier?.all ?? 0n;
    // A gate may open for what several grants give together.
    const held = this.#rules.gated && known !== 0n ? this.#rules.held(object, names | known) : names;
    const fresh = held & ~known;
    if (fresh === 0n || !this.cost.visit(way.depth, object)) return undefined;
    const { depth, subject, relation, after } = way;
    const find = { object, names: fresh, depth, subject, relation, after, earlier, all: fresh | known };
    this.#held.set(object, find);
    this.#queue.push(find);
    return find;
  }
}

/** The grants from the subject of the search to a find, in the order of the chain. */
export function stepsTo(find: HeldObject): Step[] {
  const steps: Step[] = [];
  for (let at: HeldObject | undefined = find; at !== undefined; at = at.after) {
    if (at.relation !== 0) steps.push({ subject: at.subject, relation: at.relation, object: at.object });
  }
  return steps.reverse();
}
