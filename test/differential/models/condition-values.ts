// Grants with conditions as the definition of rules takes them: with the values of their conditions in one call.

import type { JsonObject } from '../../../src/core/json-members.ts';
import { compileConditions } from '../../../src/rules/conditions/compiled-condition.ts';
import { ConditionContext, evaluateCondition } from '../../../src/rules/conditions/evaluate-condition.ts';
import { ConditionBudget, EVALUATION_STEPS_MAX } from '../../../src/rules/conditions/step-meter.ts';
import type { RuleSet } from '../../../src/rules/rule-set.ts';
import type { NaiveGrant } from '../../kit/naive-rules.ts';
import type { ConvertedGrant } from '../../kit/openfga-cases.ts';

/** Throws if a condition is not one of the rule set. */
export function conditionValues(
  ruleSet: RuleSet,
  grants: readonly ConvertedGrant[],
  context: JsonObject = {},
): NaiveGrant[] {
  const conditions = compileConditions(ruleSet.conditions);
  return grants.map(({ condition, ...grant }) => {
    if (condition === undefined) return grant;
    const compiled = conditions.get(condition.name);
    if (compiled === undefined) throw new Error(`There is no condition ${condition.name}.`);
    const request = new ConditionContext(context, 'context');
    const value = evaluateCondition(compiled, condition.context, request, new ConditionBudget(EVALUATION_STEPS_MAX));
    return { ...grant, condition: typeof value === 'boolean' ? value : 'undefined' };
  });
}
