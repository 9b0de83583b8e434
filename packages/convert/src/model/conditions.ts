// The conditions of a model as those of a rule set. Reported is each that grantd cannot evaluate as the peer does.

import {
  CompiledCondition,
  type ConditionProblem,
  compileCondition,
} from '../../../../src/rules/conditions/compiled-condition.ts';
import { CONDITIONS_MAX, type Condition } from '../../../../src/rules/rule-set.ts';
import { readAsCelGo } from './cel-go.ts';
import type { Finding } from './finding.ts';
import { withoutSlash } from './relation-map.ts';
import { modelFailure, quote, type SourceCondition, type SourceModel } from './source-model.ts';

/** By their names in the model. */
export type UsableConditions = ReadonlyMap<string, Condition>;

const LOST = 'each grant with it';

/** The condition, if grantd evaluates it as the peer does. */
function conditionOf({ name, place, parameters, expression, placeAt }: SourceCondition): {
  readonly condition: Condition | undefined;
  readonly findings: readonly Finding[];
} {
  const problemOf = (refused: CompiledCondition | { readonly problems: readonly ConditionProblem[] }): Finding => {
    const [problem] = 'problems' in refused ? refused.problems : [];
    const why = problem === undefined ? '' : `: "${problem.field}" ${problem.message}`;
    return { place, text: `The condition ${quote(name)} cannot be evaluated${why}`, lost: LOST };
  };
  const declared = { name: withoutSlash(name), parameters, expression };
  const compiled = compileCondition(declared);
  if (!(compiled instanceof CompiledCondition)) return { condition: undefined, findings: [problemOf(compiled)] };
  const reading = readAsCelGo(expression, compiled.parameters);
  const differs = `The condition ${quote(name)} means something else in cel-go, which evaluates it there`;
  const findings = reading.differences.map(({ at, text, isRefused }) => {
    return { place: placeAt(at), text: `${differs}: ${text}`, lost: isRefused ? LOST : undefined };
  });
  if (reading.differences.some(({ isRefused }) => isRefused)) return { condition: undefined, findings };
  const condition = { ...declared, expression: reading.expression };
  const rewritten = compileCondition(condition);
  return rewritten instanceof CompiledCondition
    ? { condition, findings }
    : { condition: undefined, findings: [...findings, problemOf(rewritten)] };
}

/** Throws a CliFailure if there are more than a tenant may have. Compiles each as a rule set does, within 10 ms. */
export function compileConditions({ conditions }: SourceModel): {
  readonly usable: UsableConditions;
  readonly findings: readonly Finding[];
} {
  const usable = new Map<string, Condition>();
  const findings: Finding[] = [];
  const sources = new Map<string, string>();
  for (const source of conditions.values()) {
    const { name, place } = source;
    if (sources.size === CONDITIONS_MAX) {
      throw modelFailure(place, `This is one more condition than the ${CONDITIONS_MAX} that a tenant may have.`);
    }
    const other = sources.get(withoutSlash(name));
    if (other !== undefined) throw modelFailure(place, `${quote(name)} and ${quote(other)} would be one condition.`);
    sources.set(withoutSlash(name), name);
    const { condition, findings: found } = conditionOf(source);
    if (condition !== undefined) usable.set(name, condition);
    findings.push(...found);
  }
  return { usable, findings };
}
