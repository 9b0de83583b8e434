// Evaluates a condition for one grant and one request. Three-valued: an answer that no missing parameter can change is
// given, and errors are absorbed by `&&` and `||`, as the CEL specification defines. Invariant: an error, a missing
// parameter or an exhausted budget is never `true` and never `false`.

import { type JsonObject, memberAt } from '../../core/json-members.ts';
import type { CompiledCondition, ConditionParameter } from './compiled-condition.ts';
import type { Evaluation } from './compiler.ts';
import { convertValue, ValueRefusal } from './json-values.ts';
import { type ConditionBudget, EVALUATION_STEPS_MAX, StepMeter, TooManySteps } from './step-meter.ts';
import { type Result, Unresolved, type Value } from './values.ts';

/**
 * The context of one request: parameters of conditions as JSON. Values are converted once for each type that
 * conditions declare for them, and are released with the context.
 */
export class ConditionContext {
  readonly members: JsonObject;
  /** The field that contains it. */
  readonly place: string;
  readonly #converted = new Map<string, Value | ValueRefusal>();

  constructor(members: JsonObject, place: string) {
    this.members = members;
    this.place = place;
  }

  /** Undefined: the request does not give it. */
  valueOf({ name, key, type }: ConditionParameter, meter: StepMeter): Value | ValueRefusal | undefined {
    if (!Object.hasOwn(this.members, name)) return undefined;
    const known = this.#converted.get(key);
    if (known !== undefined) return known;
    const converted = convertValue(this.members[name], type, meter);
    this.#converted.set(key, converted);
    return converted;
  }
}

export type ConditionResult =
  | boolean
  /** Parameters that are neither stored nor sent, and on which the answer depends. */
  | { readonly kind: 'missing'; readonly parameters: readonly string[] }
  /** The expression fails for these values. Completes a sentence: `The condition "c" fails: division by zero`. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** The request gives a value of a wrong type. The message names its place. */
  | { readonly kind: 'invalid'; readonly parameter: string; readonly message: string }
  /** The bound on steps, of one evaluation or of the check, that is exceeded. */
  | { readonly kind: 'too-large'; readonly stepsMax: number };

type Refusal = Extract<ConditionResult, { readonly kind: 'invalid' | 'failed' }>;

/** The values of the parameters that the expression uses. What the grant stores wins over what the request gives. */
function parametersOf(
  condition: CompiledCondition,
  stored: JsonObject | undefined,
  context: ConditionContext,
  meter: StepMeter,
): readonly Result[] | Refusal {
  const values: Result[] = [];
  for (const index of condition.used) {
    const parameter = condition.parameters[index];
    if (parameter === undefined) continue;
    const { name, type } = parameter;
    const isStored = stored !== undefined && Object.hasOwn(stored, name);
    const value = isStored ? convertValue(stored[name], type, meter) : context.valueOf(parameter, meter);
    if (value instanceof ValueRefusal) {
      if (!isStored)
        return { kind: 'invalid', parameter: name, message: `${value.textAt(memberAt(context.place, name))}.` };
      // It was checked when it was written, so the declaration has changed since.
      return {
        kind: 'failed',
        reason: `the context of the grant does not fit the condition: ${value.textAt(name)}`,
      };
    }
    if (value !== undefined) values[index] = value;
  }
  return values;
}

function resultOf(value: Result): ConditionResult {
  if (typeof value === 'boolean') return value;
  if (!(value instanceof Unresolved)) return { kind: 'failed', reason: 'the result is not a bool' };
  return value.isMissing ? { kind: 'missing', parameters: value.missing } : { kind: 'failed', reason: value.reason };
}

/**
 * Whether the condition holds. Takes at most `EVALUATION_STEPS_MAX` steps, and what it takes off the budget of the
 * check. `stored`: the context of the grant.
 */
export function evaluateCondition(
  condition: CompiledCondition,
  stored: JsonObject | undefined,
  context: ConditionContext,
  budget: ConditionBudget,
): ConditionResult {
  const steps = Math.min(EVALUATION_STEPS_MAX, budget.remaining);
  const meter = new StepMeter(steps);
  try {
    meter.spend(condition.expression.steps);
    const parameters = parametersOf(condition, stored, context, meter);
    if ('kind' in parameters) return parameters;
    const evaluation: Evaluation = { meter, zones: condition.zones, parameters, variables: [] };
    return resultOf(condition.expression.run(evaluation));
  } catch (error) {
    if (!(error instanceof TooManySteps)) throw error;
    return { kind: 'too-large', stepsMax: steps === EVALUATION_STEPS_MAX ? EVALUATION_STEPS_MAX : budget.stepsMax };
  } finally {
    budget.take(steps - meter.remaining);
  }
}

/** The values that the condition sees, for an explanation: of the parameters that it uses, as JSON. */
export function contextSeen(
  condition: CompiledCondition,
  stored: JsonObject | undefined,
  context: ConditionContext,
): JsonObject {
  const names = condition.used.flatMap((index) => condition.parameters[index]?.name ?? []);
  const entries = names.flatMap((name) => {
    const source = [stored, context.members].find((each) => each !== undefined && Object.hasOwn(each, name));
    return source === undefined ? [] : [[name, source[name]] as const];
  });
  return Object.fromEntries(entries);
}
