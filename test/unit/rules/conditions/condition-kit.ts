// Conditions as tests write them.

import assert from 'node:assert/strict';
import type { JsonObject } from '../../../../src/core/json-members.ts';
import { CompiledCondition, compileCondition } from '../../../../src/rules/conditions/compiled-condition.ts';
import {
  ConditionContext,
  type ConditionResult,
  evaluateCondition,
} from '../../../../src/rules/conditions/evaluate-condition.ts';
import { ConditionBudget } from '../../../../src/rules/conditions/step-meter.ts';

export type Parameters = Readonly<Record<string, string>>;

/** Fails if the declaration does not compile. */
export function compiled(expression: string, parameters: Parameters = {}, name = 'c'): CompiledCondition {
  const condition = compileCondition({ name, parameters, expression });
  if (condition instanceof CompiledCondition) return condition;
  assert.fail(`${expression}: ${condition.problems.map(({ message }) => message).join(' ')}`);
}

/** Fails if the declaration compiles. */
export function problemsOf(expression: string, parameters: Parameters = {}) {
  const condition = compileCondition({ name: 'c', parameters, expression });
  assert.ok(!(condition instanceof CompiledCondition), `${expression} compiles`);
  return condition.problems;
}

export const plentiful = (): ConditionBudget => new ConditionBudget(1_000_000);

/** The answer for a request's context and the context of a grant. */
export function answer(
  condition: CompiledCondition,
  context: JsonObject = {},
  stored?: JsonObject,
  budget = plentiful(),
): ConditionResult {
  return evaluateCondition(condition, stored, new ConditionContext(context, 'context'), budget);
}
