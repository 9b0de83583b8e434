// Evaluates a check where names depend on gates. A _goal_ is a name on one object: a search from the object decides
// what grants give without gates, and collects the gates that may give it. A gate is decided by goals of its own, on
// its object. So every goal is decided once, in the same run over the same grants, however many gates ask for it.
//
// The logic has three values (Kleene's). A goal is undefined if grants are not in memory yet, if a bound ends its
// search, if it rests on a grant whose condition lacks a parameter, or if it rests on itself. What is undefined never
// makes an answer. But a gate may be decided without it, and so may the check.
//
// Goals that rest on each other are solved together: by the well-founded model, of which the least fixpoint is the case
// without `but_not` in the circle (van Gelder's alternating fixpoint).

import type { Evaluation, EvaluationLimits } from './check-evaluation.ts';
import { bitOf, type CompiledRules, type NameSet } from './compiled-rules.ts';
import { GrantedSearch } from './granted-search.ts';
import {
  type Adjacent,
  type Bound,
  type Grants,
  type Graph,
  SearchCost,
  type Step,
  TotalCost,
  type Truth,
} from './graph.ts';
import { grantOn, stepsFrom, type WantedObject, WantedSearch } from './wanted-search.ts';

// ---- proofs: why a subject holds a name on an object, or does not, as a tree of what was decided ----

/** What was decided about a name on an object. */
export interface Proof {
  /** The name; of a part of a rule, its text. */
  readonly name: string;
  readonly number: number;
  readonly object: string;
  /** Undefined: it could not be decided, and did not matter. */
  readonly holds: Truth;
  /** If it holds: the grants that lead from the subject, or from the object of the gate, to this object. */
  readonly chain: readonly Step[];
  /** If it holds, the gate that gives it, unless grants alone do; otherwise the gates that might have given it. */
  readonly gates: readonly GateProof[];
  /** If it does not hold: what would suffice on the object. */
  readonly lookedFor: readonly string[];
  /** It stands in full elsewhere in the tree. */
  readonly repeated: boolean;
  /** A bound of the proof leaves out its chain, or some of its gates. */
  readonly cut: boolean;
}

export interface GateProof {
  /** The text of the gate. */
  readonly gate: string;
  readonly number: number;
  readonly object: string;
  /** What was wanted on its object, and the way from there to the object of the name. */
  readonly visit: WantedObject;
  /** For `all of`: the grants that make its entities parents of the object. */
  readonly parents: readonly Step[];
  /** What must hold, as far as it was decided. */
  readonly all: readonly Proof[];
  /** What must not. */
  readonly none: readonly Proof[];
  /** A bound of the proof leaves out some of them. */
  readonly cut: boolean;
}

/** Bounds of a proof, which is made in one step of the event loop. What is beyond them is left out, and marked. */
export interface ProofLimits {
  /** Names on objects that are shown in full. */
  readonly shownMax: number;
  /** Entries of the tree: names on objects, shown in full or not, and gates. */
  readonly entriesMax: number;
  /** Grants of all chains. */
  readonly stepsMax: number;
  /** Operands of all gates, shown or not: each has to be looked up. */
  readonly operandsMax: number;
}

// ---- the evaluation ----

/** A gate on an object, as far from the object of the check as it was found. */
interface GateAt {
  readonly gate: number;
  readonly object: string;
  readonly depth: number;
  /** Leads to the object of the goal. */
  readonly visit: WantedObject;
}

/** What a gate rests on. It opens if `base` is true, all of `all` hold, and none of `none`. */
interface Operands {
  readonly base: Truth;
  readonly all: readonly Goal[];
  readonly none: readonly Goal[];
  /** Should hold too, or else it is undefined whether they matter. */
  readonly perhaps: readonly Goal[];
}

/** `chain`: grants that give the name, if it holds. */
interface SearchResult {
  readonly holds: Truth;
  readonly gates: readonly GateAt[];
  readonly chain: (() => readonly Step[]) | undefined;
}

/** Entities with a relation on an object. `base`: whether there is one. */
interface Parents {
  readonly base: Truth;
  readonly sure: readonly string[];
  readonly perhaps: readonly string[];
}

/** Whether the subject holds a name, or a gate, on an object. */
interface Goal {
  readonly number: number;
  readonly object: string;
  depth: number;
  state: 'new' | 'open' | 'done';
  value: Truth;
  /** The result of the searches alone; they are done once `gates` are known. */
  plain: Truth;
  gates: readonly GateAt[] | undefined;
  /** Reached along grants that may hold. */
  perhapsGates: readonly GateAt[];
  /** Grants that give it without a gate. */
  chain: (() => readonly Step[]) | undefined;
  /** Goals are decided in this order, so that each rests on earlier ones. */
  rank: number;
}

/** Goals that wait for each other; each takes some frames of the stack. */
const OPEN_GOALS_MAX = 400;
/** Steps of solving goals that rest on each other: some milliseconds. */
const SOLVING_STEPS_MAX = 200_000;
/** A search for a goal takes as long as so many entities and grants, and most goals examine only a few. */
const SPENT_PER_GOAL = 30;

export class GateEvaluation {
  readonly #rules: CompiledRules;
  readonly #grants: Grants;
  readonly #limits: EvaluationLimits;
  readonly #subjects: readonly string[];
  readonly #own: { readonly object: string; readonly names: NameSet } | undefined;
  readonly #subject: string;
  readonly #goals = new Map<string, Goal>();
  readonly #parents = new Map<string, Parents>();
  readonly #visited: Set<string>;
  /** The cost of all searches from objects. */
  readonly #total = new TotalCost();
  /** Some grants were not in memory. */
  #misses = false;
  /** The first bound that ended a search. */
  #exceeded: Bound | undefined;
  /** What the subject holds at most. Where it is complete, nothing else is searched for. */
  #granted: GrantedSearch | undefined;
  #spentMax = 0;
  #isCircular = false;
  #isSolving = false;
  #open = 0;
  #ranks = 0;
  #searches = 0;
  #circle: readonly string[] = [];
  #solvingSteps = 0;
  #progress: Generator<void, Truth> | undefined;

  /**
   * `granted`: a search over the possible grants of this subject that other checks of the same moment have begun.
   * `visited`: takes the objects on which the decisions rest.
   */
  constructor(
    rules: CompiledRules,
    grants: Grants,
    limits: EvaluationLimits,
    subject: string,
    granted?: GrantedSearch,
    visited = new Set<string>(),
  ) {
    this.#visited = visited;
    this.#rules = rules;
    this.#grants = grants;
    this.#limits = limits;
    this.#subject = subject;
    this.#subjects = rules.subjectsOf(subject);
    this.#own = rules.ownOf(subject);
    this.#granted = granted;
  }

  /** Entities and grants, and steps of solving goals that rest on each other. */
  get examined(): number {
    return this.#total.spent + (this.#granted?.cost.spent ?? 0) + this.#solvingSteps;
  }

  /** Grows with the time that it has taken. */
  get spent(): number {
    return this.examined + SPENT_PER_GOAL * this.#searches;
  }

  /**
   * Whether the subject holds the name on the object. After an interruption, a call with the same arguments continues,
   * provided that the grants it rests on have not changed. All calls together stay within the limits.
   */
  decide(number: number, object: string): Evaluation {
    this.#spentMax = this.spent + this.#limits.spentMax;
    this.#progress ??= this.#decideRoot(this.#goal(number, object, 0));
    const { done, value } = this.#progress.next();
    if (done !== true) return { kind: 'interrupted' };
    this.#progress = undefined;
    if (value !== undefined) return { kind: 'decided', authorized: value };
    if (this.#misses || this.#granted?.cost.misses === true) return { kind: 'missing' };
    const bound = this.#exceeded;
    return bound === undefined ? { kind: 'undefined', circle: this.#circle } : { kind: 'too-large', bound };
  }

  /** Whether a change of a grant could change what was found. */
  restsOn(subject: string, object: string): boolean {
    return this.#visited.has(object) || this.#granted?.follows(subject) === true;
  }

  /** Call it at the end of a search. */
  #note({ misses, exceeded }: SearchCost): void {
    this.#misses ||= misses;
    this.#exceeded ??= exceeded;
  }

  #goal(number: number, object: string, depth: number): Goal {
    const key = `${number} ${object}`;
    let goal = this.#goals.get(key);
    if (goal === undefined) {
      goal = {
        number,
        object,
        depth,
        state: 'new',
        value: undefined,
        plain: undefined,
        gates: undefined,
        perhapsGates: [],
        chain: undefined,
        rank: 0,
      };
      this.#goals.set(key, goal);
    } else if (depth < goal.depth && goal.state === 'done' && goal.value === undefined && !this.#isSolving) {
      // A bound of depth may have ended it.
      goal.depth = depth;
      goal.state = 'new';
      goal.gates = undefined;
    }
    return goal;
  }

  *#decideRoot(root: Goal): Generator<void, Truth> {
    const value = yield* this.#decide(root);
    if (value !== undefined || !this.#isCircular || this.#misses || this.#exceeded !== undefined) return value;
    return yield* this.#solve(root);
  }

  *#decide(goal: Goal): Generator<void, Truth> {
    if (goal.state === 'done') return goal.value;
    if (goal.state === 'open') {
      this.#isCircular = true;
      return undefined;
    }
    if (this.#open >= OPEN_GOALS_MAX) {
      this.#exceeded ??= 'depthMax';
      return undefined;
    }
    goal.state = 'open';
    this.#open += 1;
    if (goal.gates === undefined) yield* this.#search(goal);
    let value = goal.plain;
    for (const at of goal.gates ?? []) {
      if (value === true) break;
      const opens = yield* this.#opens(at);
      if (opens !== false) value = opens;
    }
    for (const at of goal.perhapsGates) {
      if (value !== false) break;
      if ((yield* this.#opens(at)) !== false) value = undefined;
    }
    goal.state = 'done';
    this.#open -= 1;
    this.#decided(goal, value);
    return value;
  }

  #decided(goal: Goal, value: Truth): void {
    if (goal.rank > 0 && goal.value !== undefined) return;
    this.#ranks += 1;
    goal.rank = this.#ranks;
    goal.value = value;
  }

  *#opens(at: GateAt): Generator<void, Truth> {
    const { base, all, none, perhaps } = this.#operandsOf(at);
    let value = base;
    if (value === false) return false;
    for (const goal of all) {
      const holds = yield* this.#decide(goal);
      if (holds === false) return false;
      if (holds === undefined) value = undefined;
    }
    for (const goal of none) {
      const holds = yield* this.#decide(goal);
      if (holds === true) return false;
      if (holds === undefined) value = undefined;
    }
    // Without a parent for certain, one of those that may be must hold.
    let some = base !== undefined || perhaps.length === 0;
    for (const goal of perhaps) {
      const holds = yield* this.#decide(goal);
      if (holds !== true) value = undefined;
      if (holds !== false) some = true;
    }
    return some ? value : false;
  }

  #operandsOf({ gate: number, object, depth }: GateAt): Operands {
    const gate = this.#rules.gateOf(object, number);
    if (gate.kind === 'operands') {
      const goals = (numbers: readonly number[]): Goal[] => numbers.map((each) => this.#goal(each, object, depth));
      return { base: true, all: goals(gate.all), none: goals(gate.none), perhaps: [] };
    }
    const key = `${number} ${object}`;
    const parents = this.#parents.get(key) ?? this.#parentsOf(object, gate.relation);
    this.#parents.set(key, parents);
    const goals = (texts: readonly string[]): Goal[] => texts.map((text) => this.#goal(gate.name, text, depth + 1));
    return { base: parents.base, all: goals(parents.sure), none: [], perhaps: goals(parents.perhaps) };
  }

  /** The entities that have the relation on the object. */
  #parentsOf(object: string, relation: number): Parents {
    const cost = new SearchCost(this.#limits, this.#total);
    const { certain, possible } = this.#grants;
    const entities = (graph: Graph): readonly string[] | undefined =>
      cost.known<readonly Adjacent[]>(graph.subjectsOn(object, [relation]))?.flatMap(({ texts }) => {
        const looked = cost.look(texts.length);
        return texts.slice(0, looked).filter((text) => this.#rules.isEntity(text));
      });
    const sure = entities(certain);
    const all = this.#grants.differ ? entities(possible) : sure;
    this.#note(cost);
    if (sure === undefined || all === undefined || cost.exceeded !== undefined) {
      return { base: undefined, sure: [], perhaps: [] };
    }
    const certainly = new Set(sure);
    const perhaps = all.filter((text) => !certainly.has(text));
    return { base: sure.length > 0 ? true : perhaps.length > 0 ? undefined : false, sure, perhaps };
  }

  /** Searches for grants that give the name, and for gates that may. */
  *#search(goal: Goal): Generator<void, void> {
    const { certain, possible } = this.#grants;
    const sure = yield* this.#searchIn(certain, goal);
    goal.chain = sure.chain;
    goal.plain = sure.holds;
    goal.perhapsGates = [];
    if (sure.holds !== true && this.#grants.differ) {
      const most = yield* this.#searchIn(possible, goal);
      if (most.holds !== false) goal.plain = undefined;
      const found = new Set(sure.gates.map(({ gate, object }) => `${gate} ${object}`));
      goal.perhapsGates = most.gates.filter(({ gate, object }) => !found.has(`${gate} ${object}`));
    }
    goal.gates = sure.gates;
  }

  *#searchIn(graph: Graph, { number, object, depth }: Goal): Generator<void, SearchResult> {
    this.#searches += 1;
    if (this.spent > this.#spentMax) yield;
    const bit = bitOf(number);
    const gates: GateAt[] = [];
    const search = new WantedSearch(this.#rules, graph, this.#limits, this.#total, this.#mayHold);
    let chain: SearchResult['chain'];
    const onVisit = (visit: WantedObject): boolean => {
      this.#visited.add(visit.object);
      for (const gate of visit.wanted.gates) gates.push({ gate, object: visit.object, depth: visit.depth, visit });
      const found = this.#grantIn(visit, search.cost, graph);
      if (found === undefined) return false;
      chain = () => [...found, ...stepsFrom(visit)];
      return true;
    };
    const start = search.start(object, bit, depth);
    if (start !== undefined) onVisit(start);
    while (chain === undefined && search.hasNext) {
      if (this.spent > this.#spentMax) yield;
      if (this.#stepFromSubject()) continue;
      if (!this.#mayHold(object, bit)) {
        this.#note(search.cost);
        return { holds: false, gates: [], chain };
      }
      search.step(onVisit);
    }
    this.#note(search.cost);
    return { holds: chain !== undefined || (search.isComplete ? false : undefined), gates, chain };
  }

  /**
   * The grant of a wanted relation to the subject, or to one that includes it, or of a wanted state; none if the
   * subject holds a wanted name without one.
   */
  #grantIn(visit: WantedObject, cost: SearchCost, graph: Graph): readonly Step[] | undefined {
    const own = this.#own;
    if (own !== undefined && own.object === visit.object && (own.names & visit.wanted.names) !== 0n) return [];
    const grant = grantOn(visit, this.#subjects, graph, cost);
    return grant && [grant];
  }

  /** Whether the search from the subject, if it is complete, has found one of the names on the object, or cannot. */
  readonly #mayHold = (object: string, names: NameSet): boolean =>
    this.#granted?.isComplete !== true || (this.#granted.namesOn(object) & names) !== 0n || this.#rules.isOpen(names);

  /** The search from the subject continues while it has cost less; false: it is done, or it is not its turn. */
  #stepFromSubject(): boolean {
    if (this.#granted === undefined) {
      if (this.#total.spent <= this.#limits.lead) return false;
      this.#granted = new GrantedSearch(this.#rules, this.#grants.possible, this.#limits, this.#subject);
    }
    if (!this.#granted.hasNext || this.#granted.cost.spent > this.#total.spent - this.#limits.lead) return false;
    this.#granted.step(() => false);
    return true;
  }

  // ---- proofs ----

  /** Why the name on the object was decided as it was. Each goal stands in full once. */
  proofOf(number: number, object: string, limits: ProofLimits): Proof {
    return this.#proofOf(this.#goal(number, object, 0), new Set(), new ProofExtent(limits));
  }

  #proofOf(goal: Goal, shown: Set<Goal>, extent: ProofExtent): Proof {
    const { value: holds } = goal;
    const repeated = shown.has(goal);
    const cut = !repeated && holds !== undefined && extent.isFull;
    const { number, object } = goal;
    const name = this.#rules.describe(number);
    const bare = { name, number, object, holds, chain: [], gates: [], lookedFor: [], repeated, cut };
    if (repeated || cut || holds === undefined) return bare;
    shown.add(goal);
    extent.shown += 1;
    const gateProofs = (gates: readonly GateAt[]): readonly GateProof[] =>
      extent.upTo(gates, (at) => this.#gateProofOf(at, shown, extent));
    const all = goal.gates ?? [];
    if (!holds) {
      const gates = gateProofs(all);
      return { ...bare, gates, lookedFor: this.#rules.sufficesFor(object, number), cut: gates.length < all.length };
    }
    const opened = goal.chain === undefined ? this.#openedOf(goal, extent) : undefined;
    const chain = goal.chain?.() ?? (opened === undefined ? [] : stepsFrom(opened.visit));
    extent.steps += chain.length;
    const gates = gateProofs(opened === undefined ? [] : [opened]);
    return { ...bare, chain, gates, cut: goal.chain === undefined && gates.length === 0 };
  }

  #gateProofOf(at: GateAt, shown: Set<Goal>, extent: ProofExtent): GateProof {
    const { all, none, perhaps } = this.#operandsOf(at);
    const { gate: number, object, visit } = at;
    extent.operands += all.length + none.length + perhaps.length;
    const isDecided = ({ rank }: Goal): boolean => rank > 0;
    const decided = { all: [...all, ...perhaps].filter(isDecided), none: none.filter(isDecided) };
    /** Where not all are shown, those that decide the gate come first. */
    const proofsOf = (goals: readonly Goal[], decisive: boolean): Proof[] => {
      const decides = ({ value }: Goal): boolean => value === decisive;
      const ordered = extent.hasRoomFor(goals.length)
        ? goals
        : [...goals.filter(decides), ...goals.filter((goal) => !decides(goal))];
      return extent.upTo(ordered, (goal) => this.#proofOf(goal, shown, extent));
    };
    const proofs = { all: proofsOf(decided.all, false), none: proofsOf(decided.none, true) };
    const cut = proofs.all.length < decided.all.length || proofs.none.length < decided.none.length;
    const gate = this.#rules.gateOf(object, number);
    const entities = cut ? proofs.all : all;
    const parents =
      gate.kind === 'every' ? entities.map((each) => ({ subject: each.object, relation: gate.relation, object })) : [];
    return { gate: this.#rules.describe(number), number, object, visit, parents, ...proofs, cut };
  }

  /** The gate that gives a goal that holds; none if the proof has no room to look at so many operands. */
  #openedOf({ gates, rank }: Goal, extent: ProofExtent): GateAt | undefined {
    for (const at of gates ?? []) {
      if (extent.isFull) return undefined;
      if (this.#hasOpened(at, rank, extent)) return at;
    }
    return undefined;
  }

  /** Whether the gate gives a goal that was decided then. */
  #hasOpened(at: GateAt, rank: number, extent: ProofExtent): boolean {
    const { base, all, none, perhaps } = this.#operandsOf(at);
    extent.operands += all.length + none.length + perhaps.length;
    return (
      base === true &&
      [...all, ...perhaps].every((goal) => goal.value === true && goal.rank < rank) &&
      none.every((goal) => goal.value === false)
    );
  }

  // ---- goals that rest on each other ----

  *#solve(root: Goal): Generator<void, Truth> {
    this.#isSolving = true;
    const goals = new Set([root]);
    for (const goal of goals) {
      if (goal.gates === undefined) yield* this.#search(goal);
      if (goal.plain === true) continue;
      for (const at of [...(goal.gates ?? []), ...goal.perhapsGates]) {
        const { all, none, perhaps } = this.#operandsOf(at);
        for (const each of [...all, ...none, ...perhaps]) goals.add(each);
      }
    }
    if (this.#misses || this.#exceeded !== undefined) return undefined;
    let lower: ReadonlySet<Goal> = new Set();
    for (;;) {
      const upper = yield* this.#least([...goals], lower, true);
      const next = yield* this.#least([...goals], upper, false);
      if (this.#exceeded !== undefined) return undefined;
      if (next.size > lower.size) {
        lower = next;
        continue;
      }
      for (const goal of lower) this.#decided(goal, true);
      for (const goal of goals) {
        goal.state = 'done';
        if (!lower.has(goal)) this.#decided(goal, upper.has(goal) ? undefined : false);
      }
      this.#isSolving = false;
      if (root.value === undefined) this.#circle = this.#circleIn(root, upper, lower);
      return root.value;
    }
  }

  /**
   * The goals that follow if exactly the `assumed` ones hold where `but_not` names them. What is undefined by itself
   * counts in an upper bound alone.
   */
  *#least(goals: readonly Goal[], assumed: ReadonlySet<Goal>, isUpper: boolean): Generator<void, ReadonlySet<Goal>> {
    const held = new Set<Goal>();
    const opens = (at: GateAt): boolean => {
      const { base, all, none, perhaps } = this.#operandsOf(at);
      this.#solvingSteps += 1 + all.length + none.length + perhaps.length;
      return (
        (base ?? isUpper) &&
        all.every((goal) => held.has(goal)) &&
        !none.some((goal) => assumed.has(goal)) &&
        (isUpper
          ? base !== undefined || perhaps.length === 0 || perhaps.some((goal) => held.has(goal))
          : perhaps.every((goal) => held.has(goal)))
      );
    };
    const follows = ({ plain, gates = [], perhapsGates }: Goal): boolean =>
      (plain ?? isUpper) || gates.some(opens) || (isUpper && perhapsGates.some(opens));
    for (let size = -1; size < held.size; ) {
      size = held.size;
      for (const goal of goals) {
        this.#solvingSteps += 1;
        if (this.#solvingSteps > SOLVING_STEPS_MAX) {
          this.#exceeded ??= 'entitiesMax';
          return held;
        }
        if (this.spent > this.#spentMax) yield;
        if (!held.has(goal) && follows(goal)) held.add(goal);
      }
    }
    return held;
  }

  /** Names and objects of undefined goals, each of which rests on the next; the first one again at the end. */
  #circleIn(root: Goal, upper: ReadonlySet<Goal>, lower: ReadonlySet<Goal>): readonly string[] {
    const path = new Set<Goal>();
    let goal: Goal | undefined = root;
    while (goal !== undefined && !path.has(goal)) {
      path.add(goal);
      const parts: Operands[] = [...(goal.gates ?? []), ...goal.perhapsGates].map((at) => this.#operandsOf(at));
      goal = parts
        .flatMap(({ all, none, perhaps }) => [...none, ...all, ...perhaps])
        .find((each) => upper.has(each) && !lower.has(each));
    }
    const all = [...path];
    const circle = goal === undefined ? [] : [...all.slice(all.indexOf(goal)), goal];
    return circle.map(({ number, object }) => `${this.#rules.describe(number)} on ${object}`);
  }
}

/** How much of its bounds a proof has taken. */
export class ProofExtent {
  readonly #limits: ProofLimits;
  shown = 0;
  entries = 0;
  steps = 0;
  operands = 0;

  constructor(limits: ProofLimits) {
    this.#limits = limits;
  }

  get isFull(): boolean {
    const { shownMax, entriesMax, stepsMax, operandsMax } = this.#limits;
    const { shown, entries, steps, operands } = this;
    return shown >= shownMax || entries >= entriesMax || steps >= stepsMax || operands >= operandsMax;
  }

  hasRoomFor(entries: number): boolean {
    return this.entries + entries <= this.#limits.entriesMax;
  }

  /** Parts of the proof for those items that its bounds leave room for. */
  upTo<Item, Part>(items: readonly Item[], make: (item: Item) => Part): Part[] {
    const parts: Part[] = [];
    for (const item of items) {
      if (this.isFull) break;
      this.entries += 1;
      parts.push(make(item));
    }
    return parts;
  }
}
