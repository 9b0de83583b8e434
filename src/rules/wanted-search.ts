// The search from an object: which names on which objects suffice for the wanted one? It visits the groups that have
// grants on an object, and the entities that an object inherits from, each once for each name, however many paths lead
// there. Breadth first: the first way to an object is a shortest one.

import { EVERY_SUBJECT } from '../core/tuples.ts';
import type { CompiledRules, NameSet, Requirement } from './compiled-rules.ts';
import {
  type Adjacent,
  type Graph,
  SearchCost,
  type SearchLimits,
  Sources,
  type Step,
  type TotalCost,
} from './graph.ts';

/** Names that suffice on an object, as one visit found them. */
export interface WantedObject {
  readonly object: string;
  readonly wanted: Requirement;
  readonly depth: number;
  /** The grant through which the names held here give the names wanted on the object of `towards`. */
  readonly subject: string;
  readonly relation: number;
  readonly towards: WantedObject | undefined;
  /** An earlier visit of the same object, for other names. */
  readonly earlier: WantedObject | undefined;
  /** The names of this visit and the earlier ones. */
  readonly all: NameSet;
}

type Way = Pick<WantedObject, 'depth' | 'subject' | 'relation' | 'towards'>;

/** Grants to examine. */
interface Source extends Adjacent {
  readonly visit: WantedObject;
  /** The names that are wanted on their subjects; undefined: the subjects are groups. */
  readonly names: NameSet | undefined;
}

const always = (): boolean => true;

/** Relations, gates and relations to parents that are looked at in the time of a grant that is examined. */
const RELATIONS_PER_GRANT = 32;
const GATES_PER_GRANT = 16;
const PARENTS_PER_GRANT = 4;

/** The grant that suffices on the object, to one of the subjects or of a state of it, as far as it is known. */
export function grantOn(
  { object, wanted }: WantedObject,
  subjects: readonly string[],
  graph: Graph,
  cost: SearchCost,
): Step | undefined {
  const { relations, states } = wanted;
  for (const subject of relations.length === 0 ? NOBODY : subjects) {
    const relation = cost.known(graph.relationOf(subject, relations, object)) ?? 0;
    if (relation !== 0) return { subject, relation, object };
  }
  const state = states.length === 0 ? 0 : (cost.known(graph.relationOf(EVERY_SUBJECT, states, object)) ?? 0);
  return state === 0 ? undefined : { subject: EVERY_SUBJECT, relation: state, object };
}

const NOBODY: readonly string[] = [];

export class WantedSearch {
  readonly cost: SearchCost;
  readonly #rules: CompiledRules;
  readonly #graph: Graph;
  readonly #atMost: boolean;
  readonly #mayHold: (object: string, names: NameSet) => boolean;
  /** By object: the last visit. */
  readonly #visited = new Map<string, WantedObject>();
  readonly #queue: WantedObject[] = [];
  #next = 0;
  readonly #sources = new Sources<Source>();

  /**
   * `total`: what other searches share with this one. `mayHold`: only objects of which it returns true for the names
   * are visited. `atMost`: goes through gates.
   */
  constructor(
    rules: CompiledRules,
    graph: Graph,
    limits: SearchLimits,
    total?: TotalCost,
    mayHold: (object: string, names: NameSet) => boolean = always,
    atMost = false,
  ) {
    this.#atMost = atMost;
    this.#rules = rules;
    this.#graph = graph;
    this.#mayHold = mayHold;
    this.cost = new SearchCost(limits, total);
  }

  /** Undefined: a bound forbids it. */
  start(object: string, names: NameSet, depth = 0): WantedObject | undefined {
    return this.#visit(object, names, { depth, subject: '', relation: 0, towards: undefined });
  }

  get hasNext(): boolean {
    return !this.#sources.isEmpty || this.#next < this.#queue.length;
  }

  /** Whether all that suffices has been visited. */
  get isComplete(): boolean {
    return !this.hasNext && !this.cost.misses && this.cost.exceeded === undefined;
  }

  get visited(): ReadonlyMap<string, WantedObject> {
    return this.#visited;
  }

  /**
   * Continues for one step, in the order of depth. Calls `onVisit` for each new visit; the step ends when it returns
   * true.
   */
  step(onVisit: (visit: WantedObject) => boolean): void {
    if (!this.#sources.isEmpty) {
      this.#sources.look(this.cost, (source, subject) => {
        const found = this.#visitSubject(source, subject);
        return found !== undefined && onVisit(found);
      });
      return;
    }
    const visit = this.#queue[this.#next];
    this.#next += 1;
    if (visit === undefined || this.cost.isSpent) return;
    const { object, wanted } = visit;
    const open = (names: NameSet | undefined, lists: readonly Adjacent[]): void => {
      for (const { relation, texts } of lists) this.#sources.add({ relation, texts, visit, names });
    };
    if (this.#rules.groups && wanted.relations.length > 0) {
      open(undefined, this.cost.enumerate(this.#graph.groupsOn(object, wanted.relations)));
    }
    for (const { relation, names } of wanted.parents) {
      open(names, this.cost.enumerate(this.#graph.subjectsOn(object, [relation])));
    }
  }

  #visitSubject({ visit, relation, names }: Source, subject: string): WantedObject | undefined {
    const way = { depth: visit.depth + 1, subject, relation, towards: visit };
    if (names !== undefined) return this.#rules.isEntity(subject) ? this.#visit(subject, names, way) : undefined;
    const members = this.#rules.membershipOf(subject);
    return members && this.#visit(members.object, members.names, way);
  }

  #visit(object: string, names: NameSet, way: Way): WantedObject | undefined {
    const earlier = this.#visited.get(object);
    const fresh = earlier === undefined ? names : names & ~earlier.all;
    if (fresh === 0n || !this.#mayHold(object, fresh) || !this.cost.visit(way.depth, object)) return undefined;
    const { depth, subject, relation, towards } = way;
    const before = this.#rules.spent;
    const wanted = this.#atMost ? this.#rules.wantedAtMost(object, fresh) : this.#rules.wanted(object, fresh);
    const { relations, gates, parents } = wanted;
    const looked =
      relations.length / RELATIONS_PER_GRANT + gates.length / GATES_PER_GRANT + parents.length / PARENTS_PER_GRANT;
    this.cost.charge(this.#rules.spent - before + looked);
    const all = earlier === undefined ? wanted.names : wanted.names | earlier.all;
    const visit = { object, wanted, depth, subject, relation, towards, earlier, all };
    this.#visited.set(object, visit);
    this.#queue.push(visit);
    return visit;
  }
}

/** The grants from a visit to the object of the search, in the order of the chain. */
export function stepsFrom(visit: WantedObject): Step[] {
  const steps: Step[] = [];
  for (let at = visit; at.towards !== undefined; at = at.towards) {
    steps.push({ subject: at.subject, relation: at.relation, object: at.towards.object });
  }
  return steps;
}
