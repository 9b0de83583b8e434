// Checks of a tenant with rules: all checks of a call at one moment of the tenant's history. Most are decided at once,
// from pages in memory. Otherwise the missing grants are loaded and the run begins again, in a turn of its tenant,
// until one step finds everything in memory. Checks that cost more than a step are evaluated in several, and begin
// again if a commit changes a grant that they rest on.

import { assert } from '../../core/assert.ts';
import { type CallContext, type ContextGrant, changesGrants, contextGrantRecord } from '../../core/call-context.ts';
import { grantRecord, hasExpired } from '../../core/grant-attributes.ts';
import { PROOF_BYTES_MAX } from '../../core/limits.ts';
import { fieldOf, type Grant, grantOf } from '../../core/tuples.ts';
import {
  CheckEvaluation,
  ConditionalCheck,
  type Evaluation,
  type EvaluationLimits,
} from '../../rules/check-evaluation.ts';
import { bitOf, type CompiledRules } from '../../rules/compiled-rules.ts';
import { type Denial, DenialSearch } from '../../rules/denial-search.ts';
import { GateEvaluation, type Proof, type ProofLimits } from '../../rules/gate-evaluation.ts';
import { GrantedSearch } from '../../rules/granted-search.ts';
import type { Graph, SearchLimits, Step } from '../../rules/graph.ts';
import { NAME_HINTS_MAX, type NamedTuple, nameHint, undefinedName } from '../../rules/questions.ts';
import { ListingTime } from '../log/slot-time.ts';
import type { ServedTenure } from '../log/tenure.ts';
import { type AnswerCache, checkKey } from '../memory/answer-cache.ts';
import type { GrantPage } from '../memory/grant-page.ts';
import { GrantReads } from '../memory/grant-reads.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { StoredRules } from '../memory/tenant-rules.ts';
import type { NamedAnswer, NamedChecks } from '../shard.ts';
import { CallGrants, type CallTerms, GrantsView, termsOf } from './call-grants.ts';
import { denialRecord } from './denial-record.ts';
import { GrantConditions } from './grant-conditions.ts';
import { PageGraph, type Reach } from './page-graph.ts';
import { ProofWriter, stepsIn } from './proof-record.ts';
import { type CallTenant, evaluateInRounds, RANGE_BYTES_MAX, takeTurn, tooLarge, undecided } from './rounds.ts';

const CHECK_LIMITS: SearchLimits = {
  depthMax: 25,
  entitiesMax: 10_000,
  grantsMax: 20_000,
  entityGrantsMax: 10_000,
  charactersMax: 2_000_000,
};
const CHECK_REACH: Reach = {
  entityGrantsMax: CHECK_LIMITS.entityGrantsMax,
  bytesMax: RANGE_BYTES_MAX,
  isLarge: false,
};
/** A cold search from the subject would load pages of groups that mostly do not exist. */
const LEAD = 128;
/** The same where the answer is explained: what the subject does not hold has to be looked at, too. */
const LEAD_OF_REASONS = 2000;
/** Steps of the conditions of a check: some tenths of a second at worst, in turns. */
const CONDITION_STEPS_MAX = 400_000;
/** Entities and grants of a step that runs at once, without a turn: some tenths of a millisecond. */
const SPENT_AT_ONCE_MAX = 1000;
/** Entities and grants of a step that has a turn of its own: a few milliseconds. */
const SPENT_PER_STEP_MAX = 2500;
/** What the beginning of a check stands for in a step: a search for actions has thousands of them. */
const SPENT_PER_CHECK = 20;
/** The same where commits keep interrupting: some milliseconds. */
const LAST_SPENT_PER_STEP_MAX = 16_000;
/** The cost of a step that runs immediately. */
const TURN_MS = 0.0005 * SPENT_AT_ONCE_MAX;
/** Rounds of loading: each brings the search a step of its depth further, or another thousand entities. */
const ROUNDS_MAX = 200;
/** Reads of the grants by a check whose answer is kept. */
const READS_MAX = 2000;
/** Estimated bytes of a waiting call, which drops the results of its search before it waits. */
const WAITING_BYTES = 256 * 1024;

/** A search from a subject, and its reads so far. */
interface SharedSearch {
  readonly search: GrantedSearch;
  readonly reads: GrantReads;
}

type AnyEvaluation = CheckEvaluation | ConditionalCheck | GateEvaluation;

interface Reasons {
  readonly because: readonly Grant[];
  /** JSON; empty: the grants are a chain. */
  readonly proof: string;
  /** Of a denial, JSON; otherwise empty. */
  readonly reason: string;
}

const NO_REASONS: Reasons = { because: [], proof: '', reason: '' };
/** Some milliseconds. */
const PROOF_LIMITS: ProofLimits = { shownMax: 200, entriesMax: 1000, stepsMax: 1000, operandsMax: 10_000 };

/** A denial, but for what is asked. */
const UNPROVED = { holds: false, chain: [], gates: [], lookedFor: [], repeated: false, cut: false } as const;
/** After so many rounds of loading, a denial has no reason rather than no answer. */
const RUNS_FOR_REASON_MAX = 50;

/** Undefined: the call has to wait. */
type Answers = NamedAnswer | undefined;

/** The checks of a call at one moment, in one step or in several. */
class CheckRun {
  readonly #rules: CompiledRules;
  readonly #stored: StoredRules;
  readonly #graph: PageGraph;
  readonly #grants: CallGrants;
  readonly #terms: CallTerms;
  readonly #time: ListingTime;
  readonly #nowMs: number;
  readonly #checks: NamedChecks;
  /** The numbers of the checks' names. Undefined: no rule defines the name. */
  readonly #numbers: readonly (number | undefined)[];
  /** Where answers are kept; undefined for a run in several steps, which is not of the state of one of them. */
  readonly #answers: AnswerCache | undefined;
  /** By subject and context, shared by the checks of the call. */
  #granted: Map<string, SharedSearch> | undefined;
  /** On which the present check rests, where its answer is kept. */
  #reads: readonly GrantReads[] = [];
  readonly #evaluations: (AnyEvaluation | DenialSearch)[] = [];
  readonly #authorized: boolean[] = [];
  readonly #because: (readonly Grant[])[] = [];
  readonly #proofs: string[] = [];
  readonly #reasons: string[] = [];
  readonly #undefinedAt: number[] = [];
  readonly #hints: string[] = [];
  /** Continues in the next step. */
  #interrupted: AnyEvaluation | undefined;
  /** Another commit would end the evaluation. */
  readonly #isLastTry: boolean;
  /** Of the present check, which is denied. */
  #denial: DenialSearch | undefined;
  #spent = 0;

  /**
   * `rules`, `terms`: of this run. Throws `invalid-relation` for a name that no rule defines, unless such checks are to
   * be denied: before any check is decided, so that the error does not depend on what is in memory.
   */
  constructor(
    {
      rules: stored,
      graph,
      terms,
    }: { readonly rules: StoredRules; readonly graph: PageGraph; readonly terms: CallTerms },
    { slotTime }: ServedTenure,
    nowMs: number,
    checks: NamedChecks,
    answers: AnswerCache | undefined,
    isLastTry = false,
  ) {
    const rules = stored.compiled;
    this.#rules = rules;
    this.#stored = stored;
    this.#isLastTry = isLastTry;
    this.#graph = graph;
    this.#terms = terms;
    this.#nowMs = nowMs;
    this.#time = new ListingTime(slotTime, nowMs);
    this.#grants = new CallGrants(graph, this.#time, terms);
    this.#checks = checks;
    this.#numbers = checks.checks.map(({ relation }) => rules.numberOf(relation));
    // Results that depend on context grants, or leave grants out, are never cached.
    this.#answers = changesGrants(checks) ? undefined : answers;
    graph.startRun();
    terms.conditions?.startRun(rules);
    const unknown = checks.denyUndefined ? -1 : this.#numbers.indexOf(undefined);
    const { relation, object } = checks.checks[unknown] ?? {};
    if (relation === undefined || object === undefined) return;
    const field = fieldOf('relation', checks.list === '' ? undefined : checks.list, unknown);
    throw undefinedName(relation, rules.askableOn(object), object, field);
  }

  /** A denial rests on a grant that has expired since the log was written. */
  get waits(): boolean {
    return this.#time.waits && this.#authorized.includes(false);
  }

  startStep(): void {
    this.#graph.startStep();
    this.#terms.conditions?.startStep();
  }

  get spent(): number {
    return this.#spent;
  }

  get answers(): NamedAnswer {
    return {
      authorized: this.#authorized,
      checkedAtMs: this.#nowMs,
      because: this.#because,
      proofs: this.#proofs,
      reasons: this.#reasons,
      undefinedAt: this.#undefinedAt,
      hints: this.#hints,
    };
  }

  /** Whether a change of a grant could change an answer. */
  readonly restsOn = (subject: string, object: string): boolean =>
    this.#evaluations.some((evaluation) => evaluation.restsOn(subject, object));

  /**
   * Decides the check at `index`, or continues with it. Throws `evaluation-too-large`, `context-incomplete` or
   * `evaluation-cyclic`.
   */
  decide(check: NamedTuple, index: number, spentMax: number): 'decided' | 'missing' | 'interrupted' {
    const number = this.#numbers[index];
    if (number === undefined) return this.#denyUndefined(check, index);
    const key = this.#answers === undefined ? '' : checkKey(check.subject, number, check.object);
    const known = this.#answers?.check(key);
    if (known !== undefined) return this.#decided(known, []);
    this.#terms.conditions?.use(this.#contextOf(index));
    const evaluation = this.#interrupted ?? this.#begin(check, number, index, spentMax);
    this.#interrupted = undefined;
    const before = evaluation.spent;
    const { explain } = this.#checks;
    const result = this.#continue(evaluation, number, check.object);
    this.#spent += evaluation.spent - before;
    if (result.kind === 'undefined') throw undecided(result.circle, this.#terms.conditions);
    if (result.kind === 'too-large') throw tooLarge(result.bound, CHECK_LIMITS, 'A check');
    if (result.kind === 'interrupted') this.#interrupted = evaluation;
    if (result.kind !== 'decided') return result.kind;
    const reasons = explain ? this.#reasonsOf(evaluation, check, number, result.authorized) : NO_REASONS;
    if (reasons === 'interrupted') this.#interrupted = evaluation;
    if (typeof reasons === 'string') return reasons;
    if (!this.#time.depends) this.#answers?.keepCheck(key, result.authorized, this.#reads);
    if (reasons.proof !== '') this.#proofs[index] = reasons.proof;
    if (reasons.reason !== '') this.#reasons[index] = reasons.reason;
    return this.#decided(result.authorized, result.authorized ? reasons.because : []);
  }

  #denyUndefined({ relation, object }: NamedTuple, index: number): 'decided' {
    this.#undefinedAt.push(index);
    if (this.#hints.length < NAME_HINTS_MAX) {
      this.#hints.push(nameHint(relation, this.#rules.askableOn(object), object));
    }
    return this.#decided(false, []);
  }

  #continue(evaluation: AnyEvaluation, number: number, object: string): Evaluation {
    if (evaluation instanceof GateEvaluation) return evaluation.decide(number, object);
    return this.#checks.explain ? evaluation.runForShortest() : evaluation.run();
  }

  #contextOf(index: number): string | undefined {
    return this.#checks.contexts?.[index] ?? this.#checks.context;
  }

  #decided(authorized: boolean, because: readonly Grant[]): 'decided' {
    this.#authorized.push(authorized);
    this.#because.push(because);
    return 'decided';
  }

  #begin({ subject, object }: NamedTuple, number: number, index: number, spentMax: number): AnyEvaluation {
    const [rules, grants] = [this.#rules, this.#grants];
    const { explain } = this.#checks;
    const { conditions, contextGrants } = this.#terms;
    const question = { subject, number, object };
    this.#record();
    const limits: EvaluationLimits = { ...CHECK_LIMITS, lead: explain ? LEAD_OF_REASONS : LEAD, spentMax };
    // The chain of a plain reason has only stored grants, without the values that conditions saw.
    const gated = rules.gated || (explain && (conditions !== undefined || contextGrants !== undefined));
    // Only a search of its own, from the beginning, finds a shortest chain.
    const granted = explain
      ? undefined
      : this.#grantedTo(subject, index, limits, gated ? grants.possible : grants.certain);
    const evaluation = gated
      ? new GateEvaluation(rules, grants, limits, subject, granted)
      : conditions === undefined
        ? new CheckEvaluation(rules, grants.certain, limits, question, granted)
        : new ConditionalCheck(rules, grants, limits, question, granted);
    this.#evaluations.push(evaluation);
    return evaluation;
  }

  /** From now on, the graph records the reads of the present check. */
  #record(): void {
    if (this.#answers === undefined) return;
    const reads = new GrantReads(READS_MAX);
    this.#graph.reads = reads;
    this.#reads = [reads];
  }

  /** Shared by the checks of a call; a single check creates its own if it needs one. */
  #grantedTo(subject: string, index: number, limits: EvaluationLimits, graph: Graph): GrantedSearch | undefined {
    if (this.#checks.checks.length === 1) return undefined;
    this.#granted ??= new Map();
    const key = `${subject} ${this.#terms.conditions === undefined ? '' : (this.#contextOf(index) ?? '')}`;
    let shared = this.#granted.get(key);
    if (shared === undefined) {
      const reads = new GrantReads(READS_MAX);
      const seen = this.#answers === undefined ? graph : this.#recordedIn(reads, graph);
      shared = { search: new GrantedSearch(this.#rules, seen, limits, subject), reads };
      this.#granted.set(key, shared);
    }
    this.#reads = [...this.#reads, shared.reads];
    return shared.search;
  }

  /** What a search reads whose finds several checks rest on, whichever of them it continues for. */
  #recordedIn(reads: GrantReads, graph: Graph): Pick<Graph, 'objectsOf'> {
    return {
      objectsOf: (subject, relations) => {
        const before = this.#graph.reads;
        this.#graph.reads = reads;
        const found = graph.objectsOf(subject, relations);
        this.#graph.reads = before;
        return found;
      },
    };
  }

  /** `missing`: a grant is not in memory. */
  #reasonsOf(
    evaluation: AnyEvaluation,
    check: NamedTuple,
    number: number,
    authorized: boolean,
  ): Reasons | 'missing' | 'interrupted' {
    const denial = authorized ? undefined : this.#denialOf(evaluation, check, number);
    if (typeof denial === 'string') return denial;
    const proof = this.#proofOf(evaluation, check, number);
    const denying = denial?.parts.flatMap(({ kind, step }) => (kind === 'missing' ? [] : [step])) ?? [];
    const proved = evaluation instanceof GateEvaluation ? distinct(proof ? [...stepsIn(proof)] : []) : evaluation.chain;
    const chain = this.#grantsOf(proved);
    if (chain === undefined || this.#grantsOf(denying) === undefined) return 'missing';
    const reason = denial === undefined ? '' : this.#writeDenial(denial, check, number);
    if (proof === undefined) return { because: chain, proof: '', reason };
    const seen = new Set<string>();
    const writer = new ProofWriter(PROOF_BYTES_MAX, (step) => this.#recordOf(step, seen));
    const text = writer.write(proof);
    const because = this.#grantsOf(distinct(writer.steps));
    return because === undefined ? 'missing' : { because, proof: text, reason };
  }

  #writeDenial(denial: Denial, question: NamedTuple, number: number): string {
    const rules = this.#rules;
    const { object } = question;
    const gates = rules.wanted(object, bitOf(number)).gates.map((gate) => rules.describe(gate));
    const wanted = [...rules.sufficesFor(object, number), ...gates];
    const seen = new Set<string>();
    return denialRecord(denial, { rules, question, wanted, recordOf: (step) => this.#recordOf(step, seen) });
  }

  #proofOf(evaluation: AnyEvaluation, { object }: NamedTuple, number: number): Proof | undefined {
    return evaluation instanceof GateEvaluation ? evaluation.proofOf(number, object, PROOF_LIMITS) : undefined;
  }

  /** What denies the check, as far as there is time to find it. */
  #denialOf(evaluation: AnyEvaluation, check: NamedTuple, number: number): Denial | 'missing' | 'interrupted' {
    this.#denial ??= this.#searchDenial(check, number, this.#proofOf(evaluation, check, number));
    const before = this.#denial.spent;
    const progress = this.#denial.run();
    this.#spent += this.#denial.spent - before;
    if (progress.kind === 'interrupted' && !this.#isLastTry) return 'interrupted';
    this.#denial = undefined;
    // What was not in memory did not matter for the answer, but may for its reason.
    const misses = progress.kind === 'missing' || this.#graph.missesPages;
    if (misses && this.#graph.runs < RUNS_FOR_REASON_MAX) return 'missing';
    return progress.kind === 'found' ? progress.denial : { parts: [], cut: true };
  }

  /** `proof`: undefined where nothing but grants decides a name. */
  #searchDenial(
    { subject, relation: name, object }: NamedTuple,
    number: number,
    proof: Proof | undefined,
  ): DenialSearch {
    const { types } = this.#stored;
    const [graph, terms] = [this.#graph, this.#terms];
    const search = new DenialSearch(
      {
        rules: this.#rules,
        grants: this.#grants,
        unconditional: terms.conditions && new GrantsView(graph, this.#time.keeps, undefined, terms),
        question: { subject, number, object },
        limits: { ...CHECK_LIMITS, lead: LEAD_OF_REASONS, spentMax: SPENT_PER_STEP_MAX },
        proofLimits: PROOF_LIMITS,
        mayGrant: (step) => types.allows({ ...step, relation: graph.nameOf(step.relation) }),
      },
      proof ?? { ...UNPROVED, name, number, object },
    );
    this.#evaluations.push(search);
    return search;
  }

  /** The stored grants of a chain. Undefined: one of them is no longer in memory. */
  #grantsOf(chain: readonly Step[]): Grant[] | undefined {
    const grants: Grant[] = [];
    let misses = false;
    for (const step of chain) {
      if (this.#contextGrantOf(step) !== undefined) continue;
      const grant = this.#grantOf(step);
      if (grant !== undefined) grants.push(grant);
      else {
        // The graph records that it is missing.
        this.#graph.relationOf(this.#time.keeps, step.subject, [step.relation], step.object);
        misses = true;
      }
    }
    return misses ? undefined : grants;
  }

  #contextGrantOf({ subject, relation, object }: Step): ContextGrant | undefined {
    return this.#terms.contextGrants?.find(subject, relation, object);
  }

  #grantOf(step: Step): Grant | undefined {
    const { subject, object } = step;
    const attributes = this.#graph.attributesOf(step);
    return attributes && grantOf({ subject, relation: this.#graph.nameOf(step.relation), object }, attributes);
  }

  /** A grant of the proof. The first with each condition has the values that the condition saw. */
  #recordOf(step: Step, seen: Set<string>): object {
    const added = this.#contextGrantOf(step);
    const stored = added === undefined ? this.#grantOf(step) : undefined;
    const record = added === undefined ? stored && grantRecord(stored) : contextGrantRecord(added);
    assert(record !== undefined, 'every grant of the proof was looked up');
    const condition = (added ?? stored)?.condition;
    if (condition === undefined || seen.has(condition)) return record;
    seen.add(condition);
    return { ...record, condition_saw: this.#terms.conditions?.seen(condition) };
  }
}

/** Each grant once. */
function distinct(steps: readonly Step[]): readonly Step[] {
  const keyOf = ({ subject, relation, object }: Step): string => `${subject} ${relation} ${object}`;
  return [...new Map(steps.map((step) => [keyOf(step), step])).values()];
}

/**
 * The page with the grant that alone allows a single check: whatever the rules are, a grant of the relation counts
 * whose condition is met. Undefined: an evaluation has to decide.
 */
export function grantingPage(memory: TenantMemory, nowMs: number, call: NamedChecks): GrantPage | undefined {
  const { checks, context, contexts } = call;
  const [check] = checks;
  const rules = memory.rules.ready?.compiled;
  if (rules === undefined || check === undefined || checks.length > 1 || changesGrants(call)) return undefined;
  const number = rules.numberOf(check.relation);
  const page = memory.pages.get(check.subject);
  if (number === undefined || !rules.isRelation(number) || page === undefined) return undefined;
  return page.counts(number, check.object, (terms) => {
    if (hasExpired(terms, nowMs)) return false;
    if (terms.condition === undefined) return true;
    const conditions = new GrantConditions(CONDITION_STEPS_MAX);
    conditions.startRun(rules);
    conditions.use(contexts?.[0] ?? context);
    return conditions.meets(terms);
  })
    ? page
    : undefined;
}

/** All answers, or undefined if the call has to wait. */
export function decideNow({ tenure, memory }: Pick<CallTenant, 'tenure' | 'memory'>, checks: NamedChecks): Answers {
  const rules = memory.rules.ready;
  if (rules === undefined) return undefined;
  using graph = new PageGraph(memory, tenure.hotPages, CHECK_REACH);
  const terms = termsOf(rules, checks, () => new GrantConditions(CONDITION_STEPS_MAX));
  const run = new CheckRun({ rules, graph, terms }, tenure, tenure.slotTime.nowMs, checks, memory.answers);
  for (const [index, check] of checks.checks.entries()) {
    if (run.decide(check, index, SPENT_AT_ONCE_MAX - run.spent) !== 'decided') return undefined;
  }
  return run.waits ? undefined : run.answers;
}

/** Rejects with `evaluation-too-large` or `overloaded`. */
export const evaluateChecks = (of: CallTenant, checks: NamedChecks): Promise<NamedAnswer> => evaluate(of, () => checks);

/**
 * The actions that the subject may take on the object, ascending, after a name. Rejects with `evaluation-too-large` or
 * `overloaded`.
 */
export async function listHeldNames(
  of: CallTenant,
  { subject, object }: Pick<NamedTuple, 'subject' | 'object'>,
  after: string,
  call: CallContext,
): Promise<readonly string[]> {
  let names: readonly string[] = [];
  const { authorized } = await evaluate(of, (rules) => {
    // Names are ASCII: the order of strings is that of their bytes.
    names = rules
      .actionsOn(object)
      .filter((name) => name > after)
      .sort();
    const checks = names.map((relation) => ({ subject, relation, object }));
    return { ...call, checks, list: '', explain: false, denyUndefined: false };
  });
  return names.filter((_, index) => authorized[index] === true);
}

/** Calls `checksOf` whenever the evaluation begins again, since the rules may have changed. */
function evaluate(of: CallTenant, checksOf: (rules: CompiledRules) => NamedChecks): Promise<NamedAnswer> {
  const { tenure, memory } = of;
  const options = {
    bytes: WAITING_BYTES,
    roundsMax: ROUNDS_MAX,
    reach: CHECK_REACH,
    turnMs: TURN_MS,
  };
  const conditions = new GrantConditions(CONDITION_STEPS_MAX, () => takeTurn(of, TURN_MS));
  return evaluateInRounds(of, options, async (graph, nowMs, isLastTry) => {
    const rules = memory.rules.pinned;
    const checks = checksOf(rules.compiled);
    const terms = termsOf(rules, checks, () => conditions);
    const run = new CheckRun({ rules, graph, terms }, tenure, nowMs, checks, undefined, isLastTry);
    const outcome = await runInSteps(of, run, checks, isLastTry ? LAST_SPENT_PER_STEP_MAX : SPENT_PER_STEP_MAX);
    if (outcome !== 'decided') return outcome;
    return run.waits ? 'waits' : run.answers;
  });
}

/** `changed`: a commit has changed a grant that the run rests on. */
async function runInSteps(
  of: CallTenant,
  run: CheckRun,
  { checks }: NamedChecks,
  spentMax: number,
): Promise<'decided' | 'missing' | 'changed'> {
  using watch = of.memory.watchGrants(run.restsOn);
  let stepMax = spentMax;
  let first = 0;
  let misses = false;
  for (const [index, check] of checks.entries()) {
    let outcome: ReturnType<CheckRun['decide']>;
    do {
      if (run.spent + SPENT_PER_CHECK * (index - first) > stepMax) {
        await takeTurn(of, TURN_MS);
        if (watch.changed) return 'changed';
        run.startStep();
        stepMax = run.spent + spentMax;
        first = index;
      }
      outcome = run.decide(check, index, spentMax);
      // What the others miss is loaded in the same round.
      misses ||= outcome === 'missing';
    } while (outcome === 'interrupted');
  }
  return misses ? 'missing' : 'decided';
}
