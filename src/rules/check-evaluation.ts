// Evaluates a check under rules by two searches, one from the object and one from the subject: the one that has cost
// less so far continues, until they meet. If either is complete and they have not met, the answer is no. So a check
// costs about twice the cheaper of the two, whichever it is. A bound never decides an answer: what one search cannot
// reach, the other may; if neither can, the check is refused.

import { bitOf, type CompiledRules } from './compiled-rules.ts';
import { GrantedSearch, type HeldObject, stepsTo } from './granted-search.ts';
import type { Bound, Grants, Graph, SearchLimits, Step } from './graph.ts';
import { grantOn, stepsFrom, type WantedObject, WantedSearch } from './wanted-search.ts';

export interface Question {
  readonly subject: string;
  /** The number of a built-in relation, or of a name that some rule defines. */
  readonly number: number;
  readonly object: string;
}

export type Evaluation =
  | { readonly kind: 'decided'; readonly authorized: boolean }
  /** The graph has recorded the missing grants. */
  | { readonly kind: 'missing' }
  /**
   * Neither: it rests on itself through `but_not`, in this circle, or, if that is empty, on grants whose conditions
   * lack a parameter.
   */
  | { readonly kind: 'undefined'; readonly circle: readonly string[] }
  /** The bounds do not allow an answer. */
  | { readonly kind: 'too-large'; readonly bound: Bound }
  /** The caller's share of time is used up. */
  | { readonly kind: 'interrupted' };

export interface EvaluationLimits extends SearchLimits {
  /** Entities and grants, of both searches together, after which an evaluation is interrupted. */
  readonly spentMax: number;
  /** What the search from the object may cost before the other one begins: most objects have few groups and parents. */
  readonly lead: number;
}

/** How much more a search may cost than the other one that waits for grants to be loaded. */
const AHEAD_MAX = 8;

export class CheckEvaluation {
  readonly #rules: CompiledRules;
  readonly #graph: Graph;
  readonly #limits: EvaluationLimits;
  readonly #question: Question;
  /** The subject, and the subjects that include it, such as `*`. */
  readonly #subjects: readonly string[];
  readonly #wanted: WantedSearch;
  readonly #isOpen: boolean;
  /** Created when it is needed: a grant to the subject itself is found without it. */
  #begun: GrantedSearch | undefined;
  /** The chain of grants, once the searches have met. */
  #found: (() => Step[]) | undefined;
  /** They met, but the chain is too long. */
  #tooLong = false;

  /** `granted`: a search from this subject that other checks of the same moment have begun. */
  constructor(
    rules: CompiledRules,
    graph: Graph,
    limits: EvaluationLimits,
    question: Question,
    granted?: GrantedSearch,
  ) {
    this.#rules = rules;
    this.#graph = graph;
    this.#limits = limits;
    this.#question = question;
    const { subject, number, object } = question;
    this.#subjects = rules.subjectsOf(subject);
    this.#isOpen = rules.isOpen(bitOf(number));
    this.#begun = granted;
    this.#wanted = new WantedSearch(rules, graph, limits);
    const start = this.#wanted.start(object, bitOf(number));
    // What it holds without a grant, the search from the subject knows from its beginning.
    if (rules.ownOf(subject) !== undefined) this.#begin();
    if (start !== undefined) this.#suffices(start);
  }

  #begin(): GrantedSearch {
    this.#begun ??= new GrantedSearch(this.#rules, this.#graph, this.#limits, this.#question.subject);
    return this.#begun;
  }

  /** Whether no way from the subject to the object is left; a search from the subject knows none through states. */
  get #isComplete(): boolean {
    return this.#wanted.isComplete || (this.#begun?.isComplete === true && !this.#isOpen);
  }

  /** The cost of both searches. */
  get spent(): number {
    return this.#wanted.cost.spent + (this.#begun?.cost.spent ?? 0);
  }

  /** Runs, or continues after an interruption, provided that the grants it rests on have not changed. */
  run(): Evaluation {
    const spentMax = this.spent + this.#limits.spentMax;
    const before = this.#begun?.cost.spent ?? 0;
    while (this.#found === undefined && !this.#isComplete) {
      if (this.spent > spentMax) return { kind: 'interrupted' };
      const turn = this.#turn(before + this.#wanted.cost.spent - (this.#begun?.cost.spent ?? 0) - this.#limits.lead);
      if (turn === undefined) break;
      if (turn === 'object') this.#stepFromObject();
      else this.#begin().step((find) => this.#meetsWanted(find));
    }
    return this.#outcome();
  }

  /** The same, from one side at a time: `chain` is then a shortest one. */
  runForShortest(): Evaluation {
    const spentMax = this.spent + this.#limits.spentMax;
    while (this.#found === undefined && this.#wanted.hasNext) {
      if (this.spent > spentMax) return { kind: 'interrupted' };
      this.#stepFromObject();
    }
    const { misses, exceeded } = this.#wanted.cost;
    if (this.#found === undefined && !misses && exceeded !== undefined) {
      const granted = this.#begin();
      while (this.#found === undefined && granted.hasNext) {
        if (this.spent > spentMax) return { kind: 'interrupted' };
        granted.step((find) => this.#meetsTarget(find));
      }
    }
    return this.#outcome();
  }

  /** A chain of grants from the subject to the object; empty unless authorized. */
  get chain(): readonly Step[] {
    return this.#found?.() ?? [];
  }

  /** Whether a change of a grant could change what was found. */
  restsOn(subject: string, object: string): boolean {
    return this.#wanted.visited.has(object) || this.#begun?.follows(subject) === true;
  }

  #outcome(): Evaluation {
    if (this.#found !== undefined) return { kind: 'decided', authorized: true };
    if (this.#isComplete && !this.#tooLong) return { kind: 'decided', authorized: false };
    if (this.#wanted.cost.misses || this.#begun?.cost.misses === true) return { kind: 'missing' };
    const bound = this.#tooLong ? 'depthMax' : this.#wanted.cost.exceeded;
    return { kind: 'too-large', bound: bound ?? this.#begun?.cost.exceeded ?? 'entitiesMax' };
  }

  /** The search that continues: the one that has cost less, unless it cannot. `lead`: the difference of the costs. */
  #turn(lead: number): 'object' | 'subject' | undefined {
    const [search, other] = lead <= 0 ? [this.#wanted, this.#begun] : [this.#begun, this.#wanted];
    const [name, otherName] = lead <= 0 ? (['object', 'subject'] as const) : (['subject', 'object'] as const);
    if (search?.hasNext !== false) return name;
    // Once what it waits for is loaded, it may be complete at little cost.
    const waits = search.cost.misses && Math.abs(lead) > AHEAD_MAX;
    return other?.hasNext !== false && !waits ? otherName : undefined;
  }

  #stepFromObject(): void {
    this.#wanted.step((visit) => this.#suffices(visit));
  }

  /** Whether the subject holds what was found to suffice, as far as is known. */
  #suffices(visit: WantedObject): boolean {
    // What the subject holds without a grant makes the shortest chain.
    return this.#meetsHeld(visit) || this.#holdsDirectly(visit);
  }

  #holdsDirectly(visit: WantedObject): boolean {
    const grant = grantOn(visit, this.#subjects, this.#graph, this.#wanted.cost);
    if (grant === undefined) return false;
    this.#found = () => [grant, ...stepsFrom(visit)];
    return true;
  }

  #meetsHeld(visit: WantedObject): boolean {
    const last = this.#begun?.held.get(visit.object);
    if (last === undefined || (last.all & visit.wanted.names) === 0n) return false;
    for (let find: HeldObject | undefined = last; find !== undefined; find = find.earlier) {
      if (this.#meet(visit, find)) return true;
    }
    return false;
  }

  /** Whether what was found to be held suffices. */
  #meetsWanted(find: HeldObject): boolean {
    const last = this.#wanted.visited.get(find.object);
    if (last === undefined || (last.all & find.names) === 0n) return false;
    for (let visit: WantedObject | undefined = last; visit !== undefined; visit = visit.earlier) {
      if (this.#meet(visit, find)) return true;
    }
    return false;
  }

  #meetsTarget(find: HeldObject): boolean {
    return find.object === this.#question.object && this.#meetsWanted(find);
  }

  #meet(visit: WantedObject, find: HeldObject): boolean {
    if ((visit.wanted.names & find.names) === 0n) return false;
    if (visit.depth + find.depth > this.#limits.depthMax) {
      this.#tooLong = true;
      return false;
    }
    this.#found = () => [...stepsTo(find), ...stepsFrom(visit)];
    return true;
  }
}

/**
 * A check where grants may have conditions: first over the grants that hold for certain. Only if that finds nothing,
 * and met a grant that may hold, over all of those too: whatever they could give is undefined.
 */
export class ConditionalCheck {
  readonly #rules: CompiledRules;
  readonly #grants: Grants;
  readonly #limits: EvaluationLimits;
  readonly #question: Question;
  readonly #certain: CheckEvaluation;
  #possible: CheckEvaluation | undefined;

  /** `granted`: a search over the certain grants of this subject that other checks of the same moment have begun. */
  constructor(
    rules: CompiledRules,
    grants: Grants,
    limits: EvaluationLimits,
    question: Question,
    granted?: GrantedSearch,
  ) {
    this.#rules = rules;
    this.#grants = grants;
    this.#limits = limits;
    this.#question = question;
    this.#certain = new CheckEvaluation(rules, grants.certain, limits, question, granted);
  }

  get spent(): number {
    return this.#certain.spent + (this.#possible?.spent ?? 0);
  }

  get chain(): readonly Step[] {
    return this.#certain.chain;
  }

  run(): Evaluation {
    return this.#run((evaluation) => evaluation.run());
  }

  runForShortest(): Evaluation {
    return this.#run((evaluation) => evaluation.runForShortest());
  }

  restsOn(subject: string, object: string): boolean {
    return this.#certain.restsOn(subject, object) || this.#possible?.restsOn(subject, object) === true;
  }

  #run(run: (evaluation: CheckEvaluation) => Evaluation): Evaluation {
    if (this.#possible === undefined) {
      const decided = run(this.#certain);
      if (decided.kind !== 'decided' || decided.authorized || !this.#grants.differ) return decided;
      this.#possible = new CheckEvaluation(this.#rules, this.#grants.possible, this.#limits, this.#question);
    }
    const decided = run(this.#possible);
    return decided.kind === 'decided' && decided.authorized ? { kind: 'undefined', circle: [] } : decided;
  }
}
