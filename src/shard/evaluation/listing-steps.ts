// What listings and sets share: their bounds, the steps in which an attempt at an answer runs, each in a turn of its
// tenant, and the decisions about what a search has found where gates or conditions matter. Invariant: an attempt that
// ends with an answer rests on no grant that a commit has changed since it began.

import { assert } from '../../core/assert.ts';
import type { Evaluation, EvaluationLimits } from '../../rules/check-evaluation.ts';
import type { CompiledRules } from '../../rules/compiled-rules.ts';
import type { GateEvaluation } from '../../rules/gate-evaluation.ts';
import type { Bound, SearchCost, SearchLimits } from '../../rules/graph.ts';
import type { GrantWatch } from '../memory/tenant-memory.ts';
import type { CallTerms } from './call-grants.ts';
import type { PageGraph, Reach } from './page-graph.ts';
import { type CallTenant, RANGE_BYTES_MAX, type RoundOptions, takeTurn, tooLarge, undecided } from './rounds.ts';

export const LISTING_LIMITS: SearchLimits = {
  depthMax: 25,
  entitiesMax: 100_000,
  grantsMax: 1_000_000,
  entityGrantsMax: 100_000,
  charactersMax: 8_000_000,
};
/** Bounds that most listings stay within: they need no more memory than `LISTING_BYTES`. */
const SMALL_LIMITS: SearchLimits = { ...LISTING_LIMITS, entitiesMax: 5000, entityGrantsMax: 0, charactersMax: 500_000 };
const SMALL_RANGES_BYTES = 512 * 1024;
/** Entities and grants of one step: some milliseconds. */
const SPENT_PER_STEP_MAX = 1500;
export const STEP_MS = 3;
/** Steps of the conditions of a listing: a second or two at worst, in turns. */
export const CONDITION_STEPS_MAX = 4_000_000;
/** Entities and grants that all decisions of a page may examine. */
const DECIDING_MAX = 2_000_000;
const ROUNDS_MAX = 1000;
/** Estimated bytes of a listing while it is evaluated; most take much less. */
const LISTING_BYTES = 2 * 1024 * 1024;

export const LISTING_REACH: Reach = {
  entityGrantsMax: LISTING_LIMITS.entityGrantsMax,
  bytesMax: RANGE_BYTES_MAX,
  isLarge: true,
};
const SMALL_REACH: Reach = {
  entityGrantsMax: SMALL_LIMITS.entityGrantsMax,
  bytesMax: SMALL_RANGES_BYTES,
  isLarge: false,
};
/** The answer exceeds the limits of small ones. */
export class TooLarge {
  readonly kind = 'too-large';
}
export const TOO_LARGE = new TooLarge();

/** How an attempt ends without an answer. */
export type Unanswered = TooLarge | 'missing' | 'changed';

function beyond(limits: SearchLimits, exceeded: Bound): TooLarge {
  if (limits === LISTING_LIMITS || exceeded === 'depthMax') throw tooLarge(exceeded, limits, 'A listing');
  return TOO_LARGE;
}

const boundsOf = (reach: Reach): RoundOptions => ({
  bytes: LISTING_BYTES,
  roundsMax: ROUNDS_MAX,
  reach,
  turnMs: STEP_MS,
});

/** Most answers are small. One that is not begins again, with memory reserved for it. */
export async function withinLimits<Answer extends object>(
  evaluate: (limits: SearchLimits, bounds: RoundOptions) => Promise<Answer | TooLarge>,
): Promise<Answer> {
  const small = await evaluate(SMALL_LIMITS, boundsOf(SMALL_REACH));
  const answer = small instanceof TooLarge ? await evaluate(LISTING_LIMITS, boundsOf(LISTING_REACH)) : small;
  assert(!(answer instanceof TooLarge), 'an answer beyond its limits is refused');
  return answer;
}

export const stepped = (limits: SearchLimits): EvaluationLimits => ({
  ...limits,
  spentMax: SPENT_PER_STEP_MAX,
  lead: 0,
});

/** The same without a search from the subject, which would find too much, or not all. */
export const fromObject = (limits: SearchLimits): EvaluationLimits => ({
  ...stepped(limits),
  lead: Number.POSITIVE_INFINITY,
});

/** Decides which of the strings that a search has found hold. */
export class GateDecisions {
  readonly #rules: CompiledRules;
  readonly #begin: (text: string) => GateEvaluation;
  readonly #decide: (evaluation: GateEvaluation, text: string) => Evaluation;
  #evaluation: GateEvaluation | undefined;
  readonly #isShared: boolean;
  #spentBefore = 0;
  #examinedBefore = 0;

  /** `isShared`: one evaluation decides all of them. */
  constructor(
    rules: CompiledRules,
    isShared: boolean,
    begin: (text: string) => GateEvaluation,
    decide: (evaluation: GateEvaluation, text: string) => Evaluation,
  ) {
    this.#rules = rules;
    this.#isShared = isShared;
    this.#begin = begin;
    this.#decide = decide;
  }

  get spent(): number {
    return this.#spentBefore + (this.#evaluation?.spent ?? 0);
  }

  get examined(): number {
    return this.#examinedBefore + (this.#evaluation?.examined ?? 0);
  }

  /** The subjects whose grants are also grants to this one, beside itself; those of an object: none. */
  includedIn(text: string): readonly string[] {
    return this.#isShared ? [] : this.#rules.subjectsIncluding(text);
  }

  /** Continues after an interruption. */
  decide(text: string): Evaluation {
    this.#evaluation ??= this.#begin(text);
    const decided = this.#decide(this.#evaluation, text);
    if (decided.kind !== 'interrupted' && !this.#isShared) {
      this.#spentBefore += this.#evaluation.spent;
      this.#examinedBefore += this.#evaluation.examined;
      this.#evaluation = undefined;
    }
    return decided;
  }
}

/** What a page lists, ascending. */
export interface DecidedTexts {
  readonly texts: readonly string[];
  /** Those of the texts that a gate excludes, though it does not exclude `ns:*`. */
  readonly excluded: ReadonlySet<string>;
}

/** A search, as a step sees it. */
interface SteppedSearch {
  readonly cost: SearchCost;
  readonly hasNext: boolean;
  step(): void;
}

/** One attempt at an answer. */
export class ListingSteps implements Disposable {
  readonly #of: CallTenant;
  readonly #graph: PageGraph;
  readonly #conditions: CallTerms['conditions'];
  readonly #limits: SearchLimits;
  readonly #watch: GrantWatch;

  /** `restsOn`: whether a grant of the subject on the object matters to the answer. */
  constructor(
    of: CallTenant,
    { graph, terms, limits }: { readonly graph: PageGraph; readonly terms: CallTerms; readonly limits: SearchLimits },
    restsOn: (subject: string, object: string) => boolean,
  ) {
    this.#of = of;
    this.#graph = graph;
    this.#conditions = terms.conditions;
    this.#limits = limits;
    this.#watch = of.memory.watchGrants(restsOn);
  }

  [Symbol.dispose](): void {
    this.#watch[Symbol.dispose]();
  }

  /** Whether a grant that the answer rests on has changed: commits may come between a decision and what awaits it. */
  get changed(): boolean {
    return this.#watch.changed;
  }

  /** The next step begins. False: a grant that the answer rests on has changed. */
  async take(): Promise<boolean> {
    await takeTurn(this.#of, STEP_MS);
    this.#graph.startStep();
    this.#conditions?.startStep();
    return !this.#watch.changed;
  }

  /** Undefined: the search is complete. */
  async run(search: SteppedSearch): Promise<Unanswered | undefined> {
    const { cost } = search;
    for (let stepMax = SPENT_PER_STEP_MAX; search.hasNext; search.step()) {
      if (cost.spent <= stepMax) continue;
      if (!(await this.take())) return 'changed';
      stepMax = cost.spent + SPENT_PER_STEP_MAX;
    }
    return this.outcomeOf(cost);
  }

  /** Undefined: it is complete. */
  outcomeOf({ exceeded, misses }: SearchCost): TooLarge | 'missing' | undefined {
    if (exceeded !== undefined) return beyond(this.#limits, exceeded);
    return misses ? 'missing' : undefined;
  }

  /**
   * Those of the strings that hold, at most `countMax`. `perhaps`: takes those of which a parameter is missing; without
   * it, they refuse the call.
   */
  async decide(
    gates: GateDecisions,
    candidates: Iterable<string>,
    countMax: number,
    perhaps?: string[],
  ): Promise<DecidedTexts | Unanswered> {
    const texts: string[] = [];
    const excluded = new Set<string>();
    let misses = false;
    const everyone = new Map<string, Evaluation>();
    let stepMax = gates.spent + SPENT_PER_STEP_MAX;
    const decide = async (text: string): Promise<Evaluation | 'changed'> => {
      for (;;) {
        const decided = gates.decide(text);
        if (decided.kind !== 'interrupted' && gates.spent <= stepMax) return decided;
        if (!(await this.take())) return 'changed';
        stepMax = gates.spent + SPENT_PER_STEP_MAX;
        if (decided.kind !== 'interrupted') return decided;
      }
    };
    for (const text of candidates) {
      if (texts.length === countMax) break;
      // Where a grant to everyone (`ns:*`) holds, a subject that a gate excludes is listed as excluded.
      for (const each of [text, ...gates.includedIn(text)]) {
        const decided = everyone.get(each) ?? (await decide(each));
        if (decided === 'changed') return decided;
        if (each !== text) everyone.set(each, decided);
        if (gates.examined > DECIDING_MAX) return beyond(this.#limits, 'grantsMax');
        if (decided.kind === 'too-large') return beyond(this.#limits, decided.bound);
        if (decided.kind === 'undefined') this.#leaveUndecided(text, decided.circle, perhaps);
        // What the others miss is loaded in the same round.
        if (decided.kind === 'missing') misses = true;
        if (decided.kind !== 'decided' || !decided.authorized) continue;
        texts.push(text);
        if (each !== text) excluded.add(text);
        break;
      }
    }
    return misses ? 'missing' : { texts, excluded };
  }

  #leaveUndecided(text: string, circle: readonly string[], perhaps: string[] | undefined): void {
    const refusal = undecided(circle, this.#conditions);
    if (perhaps === undefined || refusal.code !== 'context-incomplete') throw refusal;
    perhaps.push(text);
  }
}
