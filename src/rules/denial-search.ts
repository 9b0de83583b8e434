// Why a check is denied, as few grants: those that exclude, those whose condition is not met, and those that are
// missing. Invariants: without the first, with the second as if they were met and with the third, the subject would
// hold the name: that is evaluated, never guessed. And each of them is needed: leaving out any one, the check is denied
// still. There may be a smaller set; the search is greedy, along the proof of the denial: first for grants that exist,
// then for the fewest that are missing. It is bounded; what it ends before is said to be a part.

import { EVERY_SUBJECT } from '../core/tuples.ts';
import { ChangedGraph, stepKey } from './changed-graph.ts';
import type { EvaluationLimits, Question } from './check-evaluation.ts';
import { bitOf, type CompiledRules } from './compiled-rules.ts';
import { GateEvaluation, type GateProof, type Proof, type ProofLimits } from './gate-evaluation.ts';
import { GrantedSearch } from './granted-search.ts';
import type { Grants, Graph, SearchCost, Step } from './graph.ts';
import { grantOn, stepsFrom, type WantedObject, WantedSearch } from './wanted-search.ts';

/** What an excluding grant takes away. */
export interface TakenName {
  readonly name: string;
  readonly object: string;
  /** The object of the check inherits from it, or is it. */
  readonly isInherited: boolean;
}

export type DenialPart =
  | { readonly kind: 'excluding'; readonly step: Step; readonly takes: TakenName }
  | { readonly kind: 'unmet' | 'missing'; readonly step: Step };

export interface Denial {
  readonly parts: readonly DenialPart[];
  /** A bound ended the search, or nothing suffices: the parts are only some of what denies. */
  readonly cut: boolean;
}

export type DenialProgress =
  | { readonly kind: 'found'; readonly denial: Denial }
  /** The graphs have recorded the missing grants. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'interrupted' };

/** The denied check, and what may be evaluated. */
export interface DeniedCheck {
  readonly rules: CompiledRules;
  readonly grants: Grants;
  /** All grants, whatever their conditions. Undefined: no grant has one. */
  readonly unconditional: Graph | undefined;
  readonly question: Question;
  readonly limits: EvaluationLimits;
  readonly proofLimits: ProofLimits;
  /** Whether such a grant could be created. */
  readonly mayGrant: (step: Step) => boolean;
}

/** Changes that would make a goal hold, or not hold. */
interface Repair {
  readonly parts: readonly DenialPart[];
  /** How many of them are missing. */
  readonly missing: number;
}

/** A removal before its gate is known. */
const UNTAKEN: TakenName = { name: '', object: '', isInherited: false };
const NOTHING: Repair = { parts: [], missing: 0 };
/** Names that a sentence can list. */
const PARTS_MAX = 10;
const ROUNDS_MAX = 12;
/** Entities and grants of all evaluations: some tens of milliseconds, in turns. */
const SPENT_MAX = 20_000;
const SPENT_PER_ENTRY = 2;
/** Of one search for a grant that is missing. */
const NEAREST_SPENT_MAX = 1000;

const isCheaper = (repair: Repair, than: Repair | undefined): boolean =>
  than === undefined ||
  repair.missing < than.missing ||
  (repair.missing === than.missing && repair.parts.length < than.parts.length);

function both(left: Repair, right: Repair): Repair {
  const parts = [...new Map([...left.parts, ...right.parts].map((part) => [stepKey(part.step), part])).values()];
  return { parts, missing: parts.filter(({ kind }) => kind === 'missing').length };
}

const repairOf = (...parts: readonly DenialPart[]): Repair => both(NOTHING, { parts, missing: 0 });

const proofKey = ({ number, object }: Proof): string => `${number} ${object}`;

export class DenialSearch {
  readonly #check: DeniedCheck;
  readonly #subjects: readonly string[];
  readonly #visited = new Set<string>();
  readonly #evaluations: GateEvaluation[] = [];
  readonly #searched: GrantedSearch[] = [];
  readonly #costs: SearchCost[] = [];
  readonly #progress: Generator<void, Denial>;
  #entries = 0;
  #spentMax = 0;
  #misses = false;
  /** The grants with the changes so far. */
  #certain: Graph;
  readonly #whole = new Map<string, Proof>();
  readonly #repairs = new Map<string, Repair | undefined>();

  /** `proof`: of the denial. */
  constructor(check: DeniedCheck, proof: Proof) {
    this.#check = check;
    this.#certain = check.grants.certain;
    this.#subjects = check.rules.subjectsOf(check.question.subject);
    this.#progress = this.#search(proof);
  }

  /** Grows with the time that it has taken. */
  get spent(): number {
    const evaluated = this.#evaluations.reduce((sum, { spent }) => sum + spent, 0);
    const searched = this.#costs.reduce((sum, { spent }) => sum + spent, 0);
    return evaluated + searched + SPENT_PER_ENTRY * this.#entries;
  }

  /** Runs, or continues after an interruption, provided that the grants it rests on have not changed. */
  run(): DenialProgress {
    this.#spentMax = this.spent + this.#check.limits.spentMax;
    const { done, value } = this.#progress.next();
    if (this.#misses) return { kind: 'missing' };
    return done === true ? { kind: 'found', denial: value } : { kind: 'interrupted' };
  }

  /** Whether a change of a grant could change what was found. */
  restsOn(subject: string, object: string): boolean {
    return (
      this.#visited.has(object) ||
      this.#evaluations.some((each) => each.restsOn(subject, object)) ||
      this.#searched.some((each) => each.follows(subject))
    );
  }

  get #isSpent(): boolean {
    return this.spent > SPENT_MAX;
  }

  *#pause(): Generator<void, void> {
    if (this.spent > this.#spentMax) yield;
  }

  // ---- sets of changes ----

  *#search(proof: Proof): Generator<void, Denial> {
    const first = yield* this.#follow(proof, undefined);
    if (!first.cut) return first;
    // What the proof suggests may exclude itself. A grant of what is asked mostly does not.
    const nearest = yield* this.#nearest(proof);
    const second = nearest === undefined ? first : yield* this.#follow(proof, nearest);
    return second.cut ? first : second;
  }

  /** Change by change, each along the proof that the last ones left. `start`: the first. */
  *#follow(proof: Proof, start: Repair | undefined): Generator<void, Denial> {
    const { number, object } = this.#check.question;
    let parts: readonly DenialPart[] = [];
    let root = proof;
    for (let round = 0; round < ROUNDS_MAX && !this.#isSpent && !this.#misses; round += 1) {
      this.#certain = this.#grantsWith(parts).certain;
      const repair = round === 0 && start !== undefined ? start : yield* this.#repair(root);
      const known = new Set(parts.map(({ step }) => stepKey(step)));
      // What an earlier round has changed is not changed back.
      if (repair === undefined || repair.parts.some(({ step }) => known.has(stepKey(step)))) break;
      parts = [...parts, ...repair.parts].slice(0, PARTS_MAX);
      const evaluation = this.#evaluationWith(parts);
      const holds = yield* this.#decide(evaluation);
      if (holds === true) parts = yield* this.#needed(parts);
      if (holds === true && !this.#isSpent) return { parts, cut: false };
      if (holds !== false || parts.length === PARTS_MAX) break;
      root = evaluation.proofOf(number, object, this.#check.proofLimits);
    }
    return { parts: parts.filter(({ kind }) => kind === 'excluding'), cut: true };
  }

  /** Without those that are not needed. */
  *#needed(parts: readonly DenialPart[]): Generator<void, readonly DenialPart[]> {
    let needed = parts;
    for (let size = needed.length + 1; size > needed.length && needed.length > 1; ) {
      size = needed.length;
      for (const part of needed.toReversed()) {
        const rest = needed.filter((each) => each !== part);
        if (rest.length > 0 && (yield* this.#decide(this.#evaluationWith(rest))) === true) needed = rest;
      }
    }
    return needed;
  }

  #grantsWith(parts: readonly DenialPart[]): Grants {
    const { grants } = this.#check;
    const stepsOf = (isRemoved: boolean): readonly Step[] =>
      parts.filter(({ kind }) => (kind === 'excluding') === isRemoved).map(({ step }) => step);
    const [added, removed] = [stepsOf(false), stepsOf(true)];
    return {
      certain: new ChangedGraph(grants.certain, added, removed),
      possible: new ChangedGraph(grants.possible, added, removed),
      get differ() {
        return grants.differ;
      },
    };
  }

  #evaluationWith(parts: readonly DenialPart[]): GateEvaluation {
    const { rules, limits, question } = this.#check;
    const evaluation = new GateEvaluation(rules, this.#grantsWith(parts), limits, question.subject);
    this.#evaluations.push(evaluation);
    return evaluation;
  }

  /** Undefined: it is not decided, or not within the bounds. */
  *#decide(evaluation: GateEvaluation): Generator<void, boolean | undefined> {
    const { number, object } = this.#check.question;
    for (;;) {
      if (this.#isSpent) return undefined;
      const found = evaluation.decide(number, object);
      if (found.kind === 'decided') return found.authorized;
      if (found.kind === 'missing') this.#misses = true;
      if (found.kind !== 'interrupted') return undefined;
      yield;
    }
  }

  // ---- one change after the other, along a proof ----

  *#repair(root: Proof): Generator<void, Repair | undefined> {
    this.#whole.clear();
    this.#repairs.clear();
    this.#collect(root);
    yield* this.#pause();
    return yield* this.#hold(root, true, true);
  }

  #collect(proof: Proof): void {
    this.#entries += 1;
    if (!proof.repeated) this.#whole.set(proofKey(proof), proof);
    for (const { all, none } of proof.gates) for (const each of [...all, ...none]) this.#collect(each);
  }

  #wholeOf(proof: Proof): Proof {
    return this.#whole.get(proofKey(proof)) ?? proof;
  }

  /**
   * What makes the name hold. `adds`: grants that are missing, too, if there is nothing else. `inherits`: the object of
   * the check inherits from this one, or is it.
   */
  *#hold(proof: Proof, adds: boolean, inherits: boolean): Generator<void, Repair | undefined> {
    if (proof.holds === true) return NOTHING;
    const key = `${adds} ${proofKey(proof)}`;
    if (this.#repairs.has(key)) return this.#repairs.get(key);
    if (this.#isSpent || this.#misses) return undefined;
    // Where it rests on itself, this does not lead on.
    this.#repairs.set(key, undefined);
    const repair =
      (adds ? yield* this.#hold(proof, false, inherits) : undefined) ?? (yield* this.#holdWhole(proof, adds, inherits));
    this.#repairs.set(key, repair);
    return repair;
  }

  *#holdWhole(repeated: Proof, adds: boolean, inherits: boolean): Generator<void, Repair | undefined> {
    const proof = this.#wholeOf(repeated);
    this.#entries += 1;
    yield* this.#pause();
    let best: Repair | undefined;
    const consider = (repair: Repair | undefined): void => {
      if (repair !== undefined && repair.parts.length > 0 && isCheaper(repair, best)) best = repair;
    };
    // Of as many grants, those are nearer that open a gate of which a part holds already.
    const isBegun = ({ all }: GateProof): boolean => all.some(({ holds }) => holds === true);
    for (const gate of proof.gates.filter(isBegun)) consider(yield* this.#open(gate, adds, inherits));
    consider(adds ? yield* this.#nearest(proof) : yield* this.#unmet(proof));
    for (const gate of proof.gates) {
      if (best?.parts.length === 1) break;
      if (!isBegun(gate)) consider(yield* this.#open(gate, adds, inherits));
    }
    return best;
  }

  *#open(gate: GateProof, adds: boolean, inherits: boolean): Generator<void, Repair | undefined> {
    const { all, none, number, object } = gate;
    if (all.length === 0 && this.#check.rules.gateOf(object, number).kind === 'every') return undefined;
    const takes = this.#takenBy(gate, inherits);
    let repair = NOTHING;
    for (const each of all) {
      const part = yield* this.#hold(each, adds, takes.isInherited);
      if (part === undefined) return undefined;
      repair = both(repair, part);
    }
    const support = new Set(none.length === 0 ? [] : [...all.flatMap((each) => [...this.#stepsIn(each)])].map(stepKey));
    for (const each of none) {
      if (each.holds !== true) continue;
      const part = yield* this.#break(each, support, adds, new Set());
      if (part === undefined) return undefined;
      const tagged = part.parts.map((each) =>
        each.kind === 'excluding' && each.takes === UNTAKEN ? { ...each, takes } : each,
      );
      repair = both(repair, repairOf(...tagged));
    }
    return repair;
  }

  *#stepsIn(repeated: Proof, seen = new Set<Proof>()): Generator<Step> {
    const proof = this.#wholeOf(repeated);
    if (seen.has(proof)) return;
    seen.add(proof);
    yield* proof.chain;
    for (const { all } of proof.gates) for (const each of all) yield* this.#stepsIn(each, seen);
  }

  /**
   * What makes a name that holds not hold: it takes away grants outside of `support`, if that is possible.
   * `path`: what this is done for.
   */
  *#break(
    repeated: Proof,
    support: ReadonlySet<string>,
    adds: boolean,
    path: ReadonlySet<Proof>,
  ): Generator<void, Repair | undefined> {
    const proof = this.#wholeOf(repeated);
    if (proof.holds !== true || path.has(proof) || this.#isSpent) return undefined;
    this.#entries += 1;
    yield* this.#pause();
    const onward = new Set(path).add(proof);
    const [opened] = proof.gates;
    const isFree = (step: Step): boolean => !support.has(stepKey(step));
    const naming = proof.chain.findLast(({ subject }) => this.#isNaming(subject));
    const free = naming !== undefined && isFree(naming) ? naming : undefined;
    if (free !== undefined) return repairOf({ kind: 'excluding', step: free, takes: UNTAKEN });
    for (const each of opened?.all ?? []) {
      const repair = yield* this.#break(each, support, false, onward);
      if (repair !== undefined) return repair;
    }
    const other = proof.chain.findLast(isFree) ?? naming ?? proof.chain.at(-1);
    if (other !== undefined) return repairOf({ kind: 'excluding', step: other, takes: UNTAKEN });
    let best: Repair | undefined;
    for (const each of adds ? (opened?.none ?? []) : []) {
      const repair = yield* this.#hold(each, true, false);
      if (repair !== undefined && isCheaper(repair, best)) best = repair;
    }
    return best;
  }

  /** Whether a grant to it says who has a relation, and not from what an object inherits. */
  #isNaming(subject: string): boolean {
    const isHeld = subject === EVERY_SUBJECT || this.#subjects.includes(subject);
    return isHeld || this.#check.rules.membershipOf(subject) !== undefined;
  }

  /** The name that the gate would give. */
  #takenBy({ number, object, visit }: GateProof, inherits: boolean): TakenName {
    const { rules, question } = this.#check;
    const sizeOf = (name: string): number => {
      const { names, gates } = rules.wanted(object, bitOf(rules.numberOf(name) ?? 0));
      return gates.includes(number) ? rules.namesIn(names).length : Number.POSITIVE_INFINITY;
    };
    const [name = rules.describe(question.number)] = rules
      .namesIn(visit.wanted.names)
      .filter((each) => sizeOf(each) < Number.POSITIVE_INFINITY)
      .sort((left, right) => sizeOf(left) - sizeOf(right));
    const isInherited = inherits && stepsFrom(visit).every(({ subject }) => !this.#isNaming(subject));
    return { name, object, isInherited };
  }

  // ---- grants that would do ----

  #visit(cost: SearchCost, object: string): boolean {
    this.#visited.add(object);
    this.#misses ||= cost.misses;
    return false;
  }

  /** Grants that would suffice but for their conditions. */
  *#unmet({ number, object }: Proof): Generator<void, Repair | undefined> {
    const { rules, limits, unconditional } = this.#check;
    if (unconditional === undefined) return undefined;
    const search = new WantedSearch(rules, unconditional, limits);
    this.#costs.push(search.cost);
    let chain: readonly Step[] | undefined;
    const onVisit = (visit: WantedObject): boolean => {
      this.#visit(search.cost, visit.object);
      const found = grantOn(visit, this.#subjects, unconditional, search.cost);
      if (found !== undefined) chain = [found, ...stepsFrom(visit)];
      return chain !== undefined;
    };
    const start = search.start(object, bitOf(number));
    if (start !== undefined) onVisit(start);
    while (chain === undefined && search.hasNext && !this.#isSpent) {
      yield* this.#pause();
      search.step(onVisit);
    }
    this.#misses ||= chain === undefined && search.cost.misses;
    const holds = (step: Step): boolean =>
      this.#certain.relationOf(step.subject, [step.relation], step.object) === step.relation;
    const unmet = (chain ?? []).filter((step) => !holds(step));
    return unmet.length === 0 ? undefined : repairOf(...unmet.map((step) => ({ kind: 'unmet', step }) as const));
  }

  /** The grant that would suffice, the nearest to the object. */
  *#nearest({ number, object }: Proof): Generator<void, Repair | undefined> {
    const { rules, limits, question } = this.#check;
    const { subject } = question;
    const search = new WantedSearch(rules, this.#certain, limits);
    this.#costs.push(search.cost);
    let nearest: { readonly step: Step; readonly depth: number } | undefined;
    const onVisit = (visit: WantedObject): boolean => {
      this.#visit(search.cost, visit.object);
      const { object: on, wanted } = visit;
      const relations = subject === EVERY_SUBJECT ? [] : wanted.relations;
      const step = this.#leastOf([
        ...relations.map((relation) => ({ subject, relation, object: on })),
        ...wanted.states.map((relation) => ({ subject: EVERY_SUBJECT, relation, object: on })),
      ]);
      if (step === undefined) return false;
      if (nearest === undefined || (visit.depth === nearest.depth && stepKey(step) < stepKey(nearest.step))) {
        nearest = { step, depth: visit.depth };
      }
      return visit.depth > nearest.depth;
    };
    const spentMax = this.spent + NEAREST_SPENT_MAX;
    const start = search.start(object, bitOf(number));
    if (start !== undefined) onVisit(start);
    const isDirect = nearest !== undefined;
    let isPast = isDirect;
    while (!isPast && search.hasNext && this.spent < spentMax) {
      yield* this.#pause();
      search.step((visit) => {
        isPast = onVisit(visit);
        return isPast;
      });
    }
    this.#misses ||= search.cost.misses && !isDirect;
    const step = nearest?.step ?? (start && (yield* this.#nearestTo(start)));
    if (step === undefined) return undefined;
    const exists = this.#check.unconditional?.relationOf(step.subject, [step.relation], step.object);
    if (exists === undefined) this.#misses ||= this.#check.unconditional !== undefined;
    return repairOf({ kind: exists === step.relation ? 'unmet' : 'missing', step });
  }

  /** A grant to a group of the subject, or from an entity on which it holds what would suffice. */
  *#nearestTo({ object, wanted }: WantedObject): Generator<void, Step | undefined> {
    const { rules, limits, question } = this.#check;
    const granted = new GrantedSearch(rules, this.#certain, limits, question.subject);
    this.#searched.push(granted);
    this.#costs.push(granted.cost);
    const spentMax = this.spent + NEAREST_SPENT_MAX;
    while (granted.hasNext && this.spent < spentMax) {
      yield* this.#pause();
      granted.step(() => false);
    }
    this.#misses ||= granted.cost.misses;
    const steps = Array.from(granted.held.keys(), (entity) => {
      const names = granted.namesOn(entity);
      const groups = rules.groups ? rules.groupNamesIn(names).map((name) => `${entity}#${name}`) : [];
      return [
        ...groups.flatMap((subject) => wanted.relations.map((relation) => ({ subject, relation, object }))),
        ...wanted.parents
          .filter((parent) => (parent.names & names) !== 0n && entity !== object && rules.isEntity(entity))
          .map(({ relation }) => ({ subject: entity, relation, object })),
      ];
    });
    return this.#leastOf(steps.flat());
  }

  /** The one that may be granted and from which the least follows. */
  #leastOf(steps: readonly Step[]): Step | undefined {
    const { rules, mayGrant } = this.#check;
    const sized = steps.filter(mayGrant).map((step) => {
      return { step, key: stepKey(step), size: rules.namesIn(rules.held(step.object, bitOf(step.relation))).length };
    });
    return sized.reduce<(typeof sized)[number] | undefined>(
      (least, each) =>
        least === undefined || each.size < least.size || (each.size === least.size && each.key < least.key)
          ? each
          : least,
      undefined,
    )?.step;
  }
}
