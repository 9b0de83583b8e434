// What one subject holds in one of two states that are compared: the present one, and the one after a change of grants
// or rules. Each method ends where a step of the event loop may end. Invariant: what is true is held for certain; where
// grants are not in memory, or a bound has ended a search, nothing is decided.

import { bitOf, type CompiledRules } from './compiled-rules.ts';
import { GateEvaluation } from './gate-evaluation.ts';
import { GrantedSearch } from './granted-search.ts';
import type { Bound, Grants, Graph, SearchLimits, Truth } from './graph.ts';

/** One of the two states. */
export interface AccessState {
  readonly rules: CompiledRules;
  readonly grants: Grants;
}

const never = (): boolean => false;
/** Entities and grants of one step of a gate: a part of a step of the event loop. */
const SPENT_PER_DECISION = 500;
/** Subjects and groups that are noted between two ends of steps, and in the time of a grant that is examined. */
const NOTED_PER_STEP = 64;
const NOTED_PER_GRANT = 8;

export class HeldAccess {
  readonly #state: AccessState;
  readonly #limits: SearchLimits;
  readonly #subject: string;
  /** Takes the objects on which decisions rest, and those whose groups do, with a `#`. */
  readonly #visited: Set<string>;
  /** What it holds at most: gates open, and conditions are met where they may be. */
  readonly #most: GrantedSearch;
  #least: GrantedSearch | undefined;
  #gates: GateEvaluation | undefined;
  #bound: Bound | undefined;
  #misses = false;

  constructor(state: AccessState, limits: SearchLimits, subject: string, visited: Set<string>) {
    this.#state = state;
    this.#limits = limits;
    this.#subject = subject;
    this.#visited = visited;
    this.#most = this.#search(state.grants.possible);
  }

  #search(graph: Graph): GrantedSearch {
    const { rules } = this.#state;
    return new GrantedSearch(rules, graph, this.#limits, this.#subject, rules.givingStates);
  }

  /** The cost so far. */
  get spent(): number {
    return this.#most.cost.spent + (this.#least?.cost.spent ?? 0) + (this.#gates?.spent ?? 0);
  }

  /** Some grants were not in memory. */
  get misses(): boolean {
    return this.#misses || this.#most.cost.misses || this.#least?.cost.misses === true;
  }

  /** The bound that left something undecided. */
  get exceeded(): Bound | undefined {
    return this.#bound ?? this.#most.cost.exceeded ?? this.#least?.cost.exceeded;
  }

  /** Whether it holds all that it may hold. */
  get isPlain(): boolean {
    return !this.#state.rules.gated && !this.#state.grants.differ;
  }

  /** How many objects there are on which it may hold something. */
  get size(): number {
    return this.#most.held.size;
  }

  get objects(): Iterable<string> {
    return this.#most.held.keys();
  }

  /** The names that it may hold on the object. */
  namesOn(object: string): readonly string[] {
    return this.#state.rules.namesIn(this.#most.namesOn(object));
  }

  /** To be completed first. */
  *search(): Generator<void> {
    yield* complete(this.#most);
    let noted = 0;
    for (const subject of this.#most.followed()) {
      this.#visited.add(subject);
      noted += 1;
      if (noted % NOTED_PER_STEP !== 0) continue;
      this.#most.cost.charge(NOTED_PER_STEP / NOTED_PER_GRANT);
      yield;
    }
  }

  /** Whether it rests on grants of the subject, as far as it has come. */
  follows(subject: string): boolean {
    return this.#most.follows(subject) || this.#least?.follows(subject) === true;
  }

  /** Undefined: conditions leave it open, or it rests on itself; or see `misses` and `exceeded`. */
  *holds(name: string, object: string): Generator<void, Truth> {
    const { rules, grants } = this.#state;
    const number = rules.numberOf(name);
    if (number === undefined || (this.#most.namesOn(object) & bitOf(number)) === 0n) return false;
    if (this.isPlain) return true;
    if (rules.gated) return yield* this.#decide(number, object);
    if (this.#least === undefined) {
      this.#least = this.#search(grants.certain);
      yield* complete(this.#least);
    }
    return (this.#least.namesOn(object) & bitOf(number)) !== 0n ? true : undefined;
  }

  *#decide(number: number, object: string): Generator<void, Truth> {
    const { rules, grants } = this.#state;
    const limits = { ...this.#limits, spentMax: SPENT_PER_DECISION, lead: 0 };
    this.#gates ??= new GateEvaluation(rules, grants, limits, this.#subject, this.#most, this.#visited);
    for (;;) {
      const decided = this.#gates.decide(number, object);
      if (decided.kind === 'decided') return decided.authorized;
      if (decided.kind === 'missing') this.#misses = true;
      if (decided.kind === 'too-large') this.#bound ??= decided.bound;
      if (decided.kind !== 'interrupted') return undefined;
      yield;
    }
  }
}

function* complete(search: GrantedSearch): Generator<void> {
  while (search.hasNext) {
    search.step(never);
    yield;
  }
}
