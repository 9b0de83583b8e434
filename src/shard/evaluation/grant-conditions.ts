// The conditions of grants in one call: each is evaluated once for each context of the call. Invariant: what cannot be
// decided, because a parameter is missing, the expression fails or a bound ends it, counts as met for what may hold,
// and never for what holds.

import { GrantdError } from '../../core/errors.ts';
import { conditionContextOf, conditionNameOf, contextIn } from '../../core/grant-terms.ts';
import type { JsonObject } from '../../core/json-members.ts';
import type { CompiledRules } from '../../rules/compiled-rules.ts';
import {
  ConditionContext,
  type ConditionResult,
  contextSeen,
  evaluateCondition,
} from '../../rules/conditions/evaluate-condition.ts';
import { ConditionBudget, EVALUATION_STEPS_MAX } from '../../rules/conditions/step-meter.ts';

/** Steps of all evaluations in one step of the event loop: a millisecond at worst, mostly much less. */
const STEPS_AT_ONCE_MAX = 2000;
/** Characters of the conditions that a call keeps with their results. */
const CHARACTERS_MAX = 2_000_000;
/** Names that an error lists. */
const SHOWN_MAX = 20;
const NO_CONTEXT = '{}';

type ConditionField = { readonly condition?: string };
type UndecidedCondition = Exclude<ConditionResult, boolean> | { readonly kind: 'too-many' };

/** Not written so, but a tenant whose stored rules are of another version can have it; its other grants still count. */
const UNDECLARED: UndecidedCondition = {
  kind: 'failed',
  reason: 'the rules declare no condition of that name that can be evaluated; write the rules again',
};

/** What was found out under one context. */
interface ContextResults {
  readonly request: ConditionContext;
  readonly budget: ConditionBudget;
  readonly byCondition: Map<string, boolean | UndecidedCondition>;
  /** Those met that could not be decided. */
  readonly undecided: Map<string, UndecidedCondition>;
}

export class GrantConditions {
  readonly #stepsMax: number;
  readonly #takeTurn: () => Promise<void>;
  readonly #byContext = new Map<string, ContextResults>();
  #rules: CompiledRules | undefined;
  #used: ContextResults | undefined;
  #characters = 0;
  /** Steps that the present step of the event loop may still take. */
  #allowed = STEPS_AT_ONCE_MAX;
  /** Conditions that wait for `settle`, by context. */
  #pending = new Map<ContextResults, Set<string>>();

  /** `stepsMax`: of all evaluations under one context. `takeTurn`: ends a step of the event loop, for `settle`. */
  constructor(stepsMax: number, takeTurn: () => Promise<void> = async () => {}) {
    this.#stepsMax = stepsMax;
    this.#takeTurn = takeTurn;
  }

  /** A run begins, by these rules. */
  startRun(rules: CompiledRules): void {
    if (this.#rules !== rules) {
      this.#rules = rules;
      this.#byContext.clear();
      this.#used = undefined;
      this.#characters = 0;
    }
    this.#pending.clear();
    this.startStep();
  }

  startStep(): void {
    this.#allowed = STEPS_AT_ONCE_MAX;
  }

  /** What follows is asked under this context, canonical JSON of an object; undefined: an empty one. */
  use(context: string | undefined): void {
    this.#used = this.#resultsUnder(context ?? NO_CONTEXT);
  }

  /** Some conditions were met that the present step had no time for: `settle` evaluates them. */
  get isPending(): boolean {
    return this.#pending.size > 0;
  }

  /** Whether a condition was met, under the context in use, that cannot be decided. */
  get hasUndecided(): boolean {
    return this.#context.undecided.size > 0;
  }

  readonly meets = ({ condition }: ConditionField): boolean =>
    condition === undefined || this.#resultOf(condition) === true;

  readonly mayMeet = ({ condition }: ConditionField): boolean =>
    condition === undefined || this.#resultOf(condition) !== false;

  /** The values that a condition saw. */
  seen(condition: string): JsonObject {
    const compiled = this.#rules?.conditions.get(conditionNameOf(condition));
    return compiled === undefined ? {} : contextSeen(compiled, storedIn(condition), this.#context.request);
  }

  /** Evaluates what is pending, in turns. Several may run at once: loads of one round do. */
  async settle(): Promise<void> {
    for (const [context, conditions] of this.#pending) {
      for (const condition of conditions) {
        if (this.#allowed <= 0) {
          await this.#takeTurn();
          this.startStep();
        }
        if (!context.byCondition.has(condition)) this.#evaluate(context, condition, EVALUATION_STEPS_MAX);
        conditions.delete(condition);
      }
      this.#pending.delete(context);
    }
  }

  /** Evaluates, in turns, those of the grants under the context in use. */
  async settleThose(grants: readonly ConditionField[]): Promise<void> {
    for (const grant of grants) this.meets(grant);
    if (this.isPending) await this.settle();
  }

  /** Why an answer could not be decided. */
  refusal(): GrantdError {
    const undecided = [...this.#context.undecided].map(([condition, why]) => ({
      name: conditionNameOf(condition),
      why,
    }));
    const names = (kind: UndecidedCondition['kind']): string =>
      listed(undecided.filter(({ why }) => why.kind === kind).map(({ name }) => name));
    for (const { name, why } of undecided) {
      if (why.kind === 'invalid') return new GrantdError('invalid-request', why.message);
      if (why.kind === 'failed')
        return new GrantdError('condition-failed', `The condition "${name}" fails: ${why.reason}.`);
      if (why.kind === 'too-large') {
        const bounds = `A condition may take ${EVALUATION_STEPS_MAX} steps, and all of an evaluation ${this.#stepsMax}`;
        return new GrantdError('evaluation-too-large', `${bounds}; more would be needed, at "${name}".`);
      }
      if (why.kind === 'too-many') {
        const message = `The conditions of the grants may have ${CHARACTERS_MAX} characters; more would be needed.`;
        return new GrantdError('evaluation-too-large', message);
      }
    }
    const parameters = undecided.flatMap(({ why }) => (why.kind === 'missing' ? why.parameters : []));
    const message = `"context" lacks ${listed(parameters)}, on which the answer may depend through the conditions ${names('missing')}.`;
    return new GrantdError('context-incomplete', message);
  }

  get #context(): ContextResults {
    this.#used ??= this.#resultsUnder(NO_CONTEXT);
    return this.#used;
  }

  #resultsUnder(context: string): ContextResults {
    const known = this.#byContext.get(context);
    if (known !== undefined) return known;
    const results: ContextResults = {
      request: new ConditionContext(contextIn(context), 'context'),
      budget: new ConditionBudget(this.#stepsMax),
      byCondition: new Map(),
      undecided: new Map(),
    };
    this.#byContext.set(context, results);
    return results;
  }

  /** Undefined: it is pending. */
  #resultOf(condition: string): boolean | UndecidedCondition | undefined {
    const context = this.#context;
    const result = context.byCondition.get(condition) ?? this.#evaluate(context, condition, this.#allowed);
    if (typeof result === 'object') context.undecided.set(condition, result);
    return result;
  }

  #evaluate(context: ContextResults, condition: string, stepsMax: number): boolean | UndecidedCondition | undefined {
    const { request, budget, byCondition } = context;
    const compiled = this.#rules?.conditions.get(conditionNameOf(condition));
    if (compiled === undefined) return UNDECLARED;
    if (this.#characters + condition.length > CHARACTERS_MAX) return { kind: 'too-many' };
    const steps = Math.max(0, Math.min(stepsMax, budget.remaining, EVALUATION_STEPS_MAX));
    const within = new ConditionBudget(steps);
    const result = evaluateCondition(compiled, storedIn(condition), request, within);
    this.#allowed -= within.spent;
    if (
      typeof result === 'object' &&
      result.kind === 'too-large' &&
      steps === stepsMax &&
      steps < EVALUATION_STEPS_MAX
    ) {
      // Not a bound of the condition, but the time of this step.
      const pending = this.#pending.get(context) ?? new Set();
      this.#pending.set(context, pending.add(condition));
      return undefined;
    }
    budget.take(within.spent);
    this.#characters += condition.length;
    byCondition.set(condition, result);
    return result;
  }
}

function storedIn(condition: string): JsonObject | undefined {
  const text = conditionContextOf(condition);
  return text === NO_CONTEXT ? undefined : contextIn(text);
}

/** Each once, ascending, in quotation marks. */
function listed(names: readonly string[]): string {
  const each = [...new Set(names)].sort();
  const shown = each
    .slice(0, SHOWN_MAX)
    .map((name) => JSON.stringify(name))
    .join(', ');
  return each.length > SHOWN_MAX ? `${shown} and others` : shown;
}
