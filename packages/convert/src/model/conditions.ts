// The conditions of a model as those of a rule set. A condition that grantd cannot evaluate is reported.

import { CompiledCondition, compileCondition } from '../../../../src/rules/conditions/compiled-condition.ts';
import { CONDITIONS_MAX, type Condition } from '../../../../src/rules/rule-set.ts';
import type { Finding } from './finding.ts';
import { withoutSlash } from './relation-map.ts';
import { modelFailure, quote, type SourceModel } from './source-model.ts';

/** By their names in the model. */
export type UsableConditions = ReadonlyMap<string, Condition>;

/** Throws a CliFailure if there are more than a tenant may have. Compiles each as a rule set does, within 10 ms. */
export function compileConditions({ conditions }: SourceModel): {
  readonly usable: UsableConditions;
  readonly findings: readonly Finding[];
} {
  const usable = new Map<string, Condition>();
  const findings: Finding[] = [];
  const sources = new Map<string, string>();
  for (const { name, place, parameters, expression } of conditions.values()) {
    if (sources.size === CONDITIONS_MAX) {
      throw modelFailure(place, `This is one more condition than the ${CONDITIONS_MAX} that a tenant may have.`);
    }
    const condition = { name: withoutSlash(name), parameters, expression };
    const other = sources.get(condition.name);
    if (other !== undefined) throw modelFailure(place, `${quote(name)} and ${quote(other)} would be one condition.`);
    sources.set(condition.name, name);
    const compiled = compileCondition(condition);
    if (compiled instanceof CompiledCondition) {
      usable.set(name, condition);
      continue;
    }
    const [problem] = compiled.problems;
    const why = problem === undefined ? '' : `: "${problem.field}" ${problem.message}`;
    const text = `The condition ${quote(name)} cannot be evaluated${why}`;
    findings.push({ place, text, lost: 'each grant with it' });
  }
  return { usable, findings };
}
