// Who would lose and gain access by a revocation, or by other rules. The subjects whom it can concern are found, and
// each is compared as it is now and as it would be: for a revocation, all at one moment of the tenant; for rules, which
// may concern every subject, each at a moment of its own. Invariant: what was not compared, for whatever reason, is an
// open point of the result.

import { EVERY_SUBJECT, sortUtf8 } from '../../core/tuples.ts';
import { type AccessChanges, AccessTally, noChanges, type RevokedGrants } from '../../rules/access-changes.ts';
import { AccessComparison, type AccessConcern } from '../../rules/access-comparison.ts';
import { AffectedSearch } from '../../rules/affected-search.ts';
import { bitOf, CompiledRules } from '../../rules/compiled-rules.ts';
import { compileInTurns } from '../../rules/conditions/compiled-condition.ts';
import type { Adjacent, Step } from '../../rules/graph.ts';
import type { AccessState } from '../../rules/held-access.ts';
import type { RuleSet } from '../../rules/rule-set.ts';
import { WantedSearch } from '../../rules/wanted-search.ts';
import { ListingTime } from '../log/slot-time.ts';
import type { GrantWatch } from '../memory/tenant-memory.ts';
import { NO_RULES_REVISION } from '../memory/tenant-rules.ts';
import { CallGrants } from './call-grants.ts';
import { GrantConditions } from './grant-conditions.ts';
import { LISTING_LIMITS, LISTING_REACH } from './listing-steps.ts';
import type { PageGraph } from './page-graph.ts';
import { type CallTenant, evaluateInRounds, type Interruption, takeTurn } from './rounds.ts';
import { HiddenGrants } from './without-grants.ts';

/** Subjects that one call compares. */
export const COMPARED_SUBJECTS_MAX = 10_000;
/** Grants that a revocation may take. */
const REVOKED_MAX = 10_000;
/** Entities and grants of a step, in which everything takes somewhat longer than in a listing. */
const SPENT_PER_STEP_MAX = 1500;
const STEP_MS = 3;
/** Steps of the conditions: as of a listing. */
const CONDITION_STEPS_MAX = 4_000_000;
/** The reservation of a large listing comes to it. */
const COMPARISON_BYTES = 2 * 1024 * 1024;
const ROUNDS_MAX = 1000;
/** Entities and grants that interrupt a comparison if they change; if it rests on more, every change does. */
const WATCHED_MAX = 200_000;

/** What one call may cost. */
export interface ComparisonBounds {
  /** Entities and grants of all subjects. */
  readonly spentMax: number;
  /** On the monotonic clock. */
  readonly untilMs: number;
}

/** Some seconds. */
export const COMPARISON_BOUNDS: ComparisonBounds = Object.freeze({
  spentMax: 4_000_000,
  untilMs: Number.POSITIVE_INFINITY,
});

/** The steps of a comparison, and what it may still cost. */
class Steps {
  readonly #of: CallTenant;
  readonly #bounds: ComparisonBounds;
  #startStep: () => void = () => {};
  #spent = 0;
  #stepMax = SPENT_PER_STEP_MAX;

  constructor(of: CallTenant, bounds: ComparisonBounds) {
    this.#of = of;
    this.#bounds = bounds;
  }

  /** A round begins, in a step of its own. */
  begin(startStep: () => void): void {
    this.#startStep = startStep;
    this.#stepMax = this.#spent + SPENT_PER_STEP_MAX;
  }

  get isOver(): boolean {
    return this.#spent > this.#bounds.spentMax || this.#of.clock.monotonicMs() > this.#bounds.untilMs;
  }

  /**
   * Runs a part to its end, unless `watch` reports a change, or the bounds end it. `spentOf`: how much it and the parts
   * before have cost.
   */
  async run<Result>(
    part: Generator<void, Result>,
    spentOf: () => number,
    watch?: GrantWatch,
  ): Promise<Result | 'changed' | 'over'> {
    const before = this.#spent - spentOf();
    for (;;) {
      const { done, value } = part.next();
      this.#spent = before + spentOf();
      if (done === true) return value;
      if (this.#spent <= this.#stepMax) continue;
      if (this.isOver) return 'over';
      await takeTurn(this.#of, STEP_MS);
      if (watch?.changed === true) return 'changed';
      this.#startStep();
      this.#stepMax = this.#spent + SPENT_PER_STEP_MAX;
    }
  }
}

const OPTIONS = {
  bytes: COMPARISON_BYTES,
  roundsMax: ROUNDS_MAX,
  reach: LISTING_REACH,
  turnMs: STEP_MS,
};

/** The grants of one state: with those that are revoked left out, and under the conditions of its rules. */
class State implements AccessState {
  readonly rules: CompiledRules;
  readonly grants: CallGrants;
  readonly startStep: () => void;

  constructor(rules: CompiledRules, graph: PageGraph, time: ListingTime, met: GrantConditions, hidden?: HiddenGrants) {
    const conditions = rules.conditions.size === 0 ? undefined : met;
    conditions?.startRun(rules);
    conditions?.use(undefined);
    this.rules = rules;
    this.grants = new CallGrants(graph, time, { conditions, contextGrants: undefined, hidden });
    this.startStep = () => conditions?.startStep();
  }
}

// ---- a revocation ----

/** What a revocation would change, at one moment. Rejects with `overloaded`. */
export function compareRevocation(
  of: CallTenant,
  revoked: RevokedGrants,
  bounds = COMPARISON_BOUNDS,
): Promise<AccessChanges> {
  const conditions = new GrantConditions(CONDITION_STEPS_MAX, () => takeTurn(of, STEP_MS));
  const steps = new Steps(of, bounds);
  return evaluateInRounds(of, OPTIONS, async (graph, nowMs) => {
    graph.startRun();
    const time = new ListingTime(of.tenure.slotTime, nowMs);
    const rules = of.memory.rules.pinned.compiled;
    const before = new State(rules, graph, time, conditions);
    const after = new State(rules, graph, time, conditions, new HiddenGrants(rules, revoked));
    steps.begin(() => {
      graph.startStep();
      before.startStep();
    });
    const comparison = await new RevocationRun(of, before, after, steps).run(revoked);
    return time.waits && typeof comparison !== 'string' ? 'waits' : comparison;
  });
}

/** One round. */
class RevocationRun {
  readonly #of: CallTenant;
  readonly #before: State;
  readonly #after: State;
  readonly #steps: Steps;
  readonly #affected: AffectedSearch;
  readonly #wanted: WantedSearch;
  readonly #tally = new AccessTally();
  readonly #subjects = new Set<string>();
  readonly #groups = new Set<string>();

  constructor(of: CallTenant, before: State, after: State, steps: Steps) {
    this.#of = of;
    this.#before = before;
    this.#after = after;
    this.#steps = steps;
    const { rules, grants } = before;
    this.#affected = new AffectedSearch(rules, grants.possible, LISTING_LIMITS);
    this.#wanted = new WantedSearch(rules, grants.possible, LISTING_LIMITS, undefined, undefined, rules.gated);
  }

  async run(revoked: RevokedGrants): Promise<AccessChanges | Interruption> {
    const { rules } = this.#before;
    const concern: AccessConcern = {
      objects: this.#affected.names,
      groups: this.#groups,
      concerns: (name, object) => {
        const number = rules.numberOf(name) ?? 0;
        const isAffected = ((this.#affected.names.get(object) ?? 0n) & bitOf(number)) !== 0n;
        return isAffected && !rules.leadsToEntitiesOnly(object, number);
      },
    };
    const comparison = new AccessComparison(this.#before, this.#after, LISTING_LIMITS, concern);
    using watch = this.#of.memory.watchGrants((subject, object) => {
      const group = subject.slice(0, subject.lastIndexOf('#') + 1);
      const isFound = (each: ReadonlyMap<string, unknown>): boolean =>
        each.has(subject) || each.has(object) || each.has(group);
      return (
        comparison.visited.size > WATCHED_MAX ||
        isFound(this.#affected.names) ||
        isFound(this.#wanted.visited) ||
        comparison.restsOn(subject, object)
      );
    });
    const found = await this.#steps.run(this.#find(revoked), () => this.#spent, watch);
    if (found === 'changed') return found;
    if (found === 'over') this.#tally.open('bounds');
    if (this.#affected.cost.misses || this.#wanted.cost.misses || found === 'missing') return 'missing';
    const outcome = await this.#compareEach(comparison, watch);
    return outcome ?? this.#tally.changes;
  }

  get #spent(): number {
    return this.#affected.cost.spent + this.#wanted.cost.spent;
  }

  async #compareEach(comparison: AccessComparison, watch: GrantWatch): Promise<Interruption | undefined> {
    let misses = false;
    for (const subject of sortUtf8([...this.#subjects, ...this.#groups])) {
      const outcome = await this.#steps.run(comparison.compare(subject), () => comparison.spent, watch);
      if (outcome === 'changed') return outcome;
      if (outcome === 'missing') misses = true;
      else if (outcome === 'over' || outcome === 'exceeded') this.#tally.open('bounds');
      else await this.#steps.run(this.#tally.add(outcome), () => this.#tally.spent);
      if (outcome === 'over') break;
    }
    if (misses) return 'missing';
    if (comparison.isUndecided) this.#tally.open('undecided');
    return watch.changed ? 'changed' : undefined;
  }

  /** What may be affected, and whom it may concern. */
  *#find(revoked: RevokedGrants): Generator<void, 'missing' | 'found'> {
    const grants = this.#grantsOf(revoked);
    if (grants === undefined) return 'missing';
    for (const grant of grants) {
      this.#start(grant);
      yield;
    }
    while (this.#affected.hasNext) {
      this.#affected.step();
      yield;
    }
    while (this.#wanted.hasNext) {
      this.#wanted.step(never);
      yield;
    }
    if (this.#affected.cost.exceeded ?? this.#wanted.cost.exceeded) this.#tally.open('bounds');
    yield* this.#addHolders();
    return 'found';
  }

  /** Undefined: they are not in memory. */
  #grantsOf({ subject, relation, object }: RevokedGrants): readonly Step[] | undefined {
    const { rules, grants } = this.#before;
    const relations = (relation === undefined ? rules.granted : [relation]).flatMap(
      (each) => rules.numberOf(each) ?? [],
    );
    const { possible } = grants;
    // A state of one object is found there: all of them have the same subject.
    const isOnObject = subject === undefined || (subject === EVERY_SUBJECT && object !== undefined);
    const lists = isOnObject ? possible.subjectsOn(object ?? '', relations) : possible.objectsOf(subject, relations);
    const found = this.#wanted.cost.known<readonly Adjacent[]>(lists);
    if (found === undefined) {
      if (lists === undefined) return undefined;
      return [];
    }
    const all = found.flatMap(({ relation: number, texts }) =>
      texts
        .map((text) => (isOnObject ? { subject: text, object: object ?? '' } : { subject, object: text }))
        .filter((each) => (subject ?? each.subject) === each.subject && (object ?? each.object) === each.object)
        .map((each): Step => ({ relation: number, ...each })),
    );
    if (all.length > REVOKED_MAX) this.#tally.open('bounds');
    return all.slice(0, REVOKED_MAX);
  }

  #start(grant: Step): void {
    const { rules, grants } = this.#before;
    const { subject, relation, object } = grant;
    this.#affected.start(grant);
    this.#add(subject);
    const members = rules.membershipOf(subject);
    if (members !== undefined) this.#wanted.start(members.object, members.names);
    const names = rules.followedAlong(relation);
    if (names === 0n || rules.affectedThrough(object, relation, names) === 0n) return;
    // Without this entity, an "all of" may hold by the others.
    const others = rules.gated ? this.#wanted.cost.enumerate(grants.possible.subjectsOn(object, [relation])) : [];
    for (const entity of [subject, ...others.flatMap(({ texts }) => texts)]) {
      if (rules.isEntity(entity)) this.#wanted.start(entity, names);
    }
  }

  *#addHolders(): Generator<void> {
    const { rules, grants } = this.#before;
    const { cost, visited } = this.#wanted;
    for (const [object, last] of visited) {
      for (let visit: typeof last | undefined = last; visit !== undefined; visit = visit.earlier) {
        const { names, relations, states } = visit.wanted;
        if (rules.includesSelf(names) && rules.isEntity(object)) this.#add(object);
        for (const { texts } of cost.enumerate(grants.possible.subjectsOn(object, [...relations, ...states]))) {
          cost.look(texts.length);
          for (const text of texts) this.#add(text);
        }
        yield;
      }
    }
  }

  #add(subject: string): void {
    const { rules } = this.#before;
    const isGroup = rules.groupOf(subject) !== undefined;
    if (!isGroup && !rules.isEntity(subject)) this.#tally.open('everyone');
    const into = isGroup ? this.#groups : this.#subjects;
    if (into.has(subject)) return;
    if (this.#subjects.size + this.#groups.size >= COMPARED_SUBJECTS_MAX) this.#tally.open('bounds');
    else into.add(subject);
  }
}

const never = (): boolean => false;

// ---- a change of rules ----

export interface RulesComparison {
  readonly ruleSet: RuleSet;
  /** Of the rules that they would replace. */
  readonly revision: string;
  /** Those to compare; see `namesConcerned`. */
  readonly names: ReadonlySet<string>;
  readonly subjects: readonly string[];
}

/** Who loses and gains these names under other rules. Rejects with `overloaded`. */
export async function compareRules(
  of: CallTenant,
  { ruleSet, revision, names, subjects }: RulesComparison,
  bounds = COMPARISON_BOUNDS,
): Promise<AccessChanges> {
  const { memory } = of;
  const tally = new AccessTally();
  const steps = new Steps(of, bounds);
  const turn = (): Promise<void> => takeTurn(of, STEP_MS);
  const compiled = await compileInTurns(ruleSet.conditions, turn);
  const conditions = [
    new GrantConditions(CONDITION_STEPS_MAX, turn),
    new GrantConditions(CONDITION_STEPS_MAX, turn),
  ] as const;
  const concern: AccessConcern = { objects: undefined, groups: new Set(), concerns: (name) => names.has(name) };
  let left = subjects;
  return evaluateInRounds(of, OPTIONS, async (graph, nowMs) => {
    if ((memory.tenant.rulesRevision ?? NO_RULES_REVISION) !== revision) return noChanges('failed');
    graph.startRun();
    const time = new ListingTime(of.tenure.slotTime, nowMs);
    const before = new State(memory.rules.pinned.compiled, graph, time, conditions[0]);
    const changed = new CompiledRules(ruleSet, memory.relations.ahead(), compiled);
    const after = new State(changed, graph, time, conditions[1]);
    steps.begin(() => {
      graph.startStep();
      before.startStep();
      after.startStep();
    });
    // Each round reads what the last one missed, which takes time, too.
    if (steps.isOver) {
      tally.open('bounds');
      return tally.changes;
    }
    const missing: string[] = [];
    for (const [index, subject] of left.entries()) {
      const comparison = new AccessComparison(before, after, LISTING_LIMITS, concern);
      using watch = memory.watchGrants((from, to) => comparison.restsOn(from, to));
      const outcome = await steps.run(comparison.compare(subject), () => comparison.spent, watch);
      const isLate = outcome === 'changed' || time.waits;
      if (isLate) left = [...missing, ...left.slice(index)];
      if (isLate) return outcome === 'changed' ? outcome : 'waits';
      if (outcome === 'missing') missing.push(subject);
      else if (outcome === 'over' || outcome === 'exceeded') tally.open('bounds');
      else {
        const isEveryone = !before.rules.isEntity(subject) || !changed.isEntity(subject);
        if (isEveryone && outcome.lost.size + outcome.gained.size > 0) tally.open('everyone');
        await steps.run(tally.add(outcome), () => tally.spent);
      }
      if (comparison.isUndecided && outcome !== 'missing') tally.open('undecided');
      if (outcome === 'over') return tally.changes;
    }
    left = missing;
    return missing.length > 0 ? 'missing' : tally.changes;
  });
}
