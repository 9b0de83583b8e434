// What the rules of a tenant declare about the conditions of its grants.

import { conditionContextOf, conditionNameOf, contextIn } from '../core/grant-condition.ts';
import { memberAt } from '../core/json-members.ts';
import { nearestName } from '../core/text/nearest-name.ts';
import { convertValue, ValueRefusal } from './conditions/json-values.ts';
import { EVALUATION_STEPS_MAX, StepMeter } from './conditions/step-meter.ts';
import { DYN, parseType } from './conditions/types.ts';
import type { RuleSet } from './rule-set.ts';

/** Names that one message lists. */
const SHOWN_MAX = 20;

const quoted = (name: string): string => JSON.stringify(name);

/** Completes a sentence. `none`: what it says where nothing is allowed. */
export function allowedNames(names: readonly string[], none: string): string {
  if (names.length === 0) return none;
  const shown = names.slice(0, SHOWN_MAX).map(quoted).join(', ');
  return names.length > SHOWN_MAX ? `allowed are ${shown} and others.` : `allowed: ${shown}.`;
}

function allowed(names: readonly string[], name: string, none: string): string {
  const nearest = nearestName(name, names);
  return nearest === undefined ? allowedNames(names, none) : `did you mean ${quoted(nearest)}?`;
}

/**
 * Why a grant may not carry the condition, as a sentence that names what is allowed; undefined: it may. `place`: of the
 * grant in its call; empty: the body itself.
 */
export function undeclaredIn({ conditions }: RuleSet, condition: string, place = ''): string | undefined {
  const name = conditionNameOf(condition);
  const declared = conditions.find((each) => each.name === name);
  const field = memberAt(place, 'condition');
  if (declared === undefined) {
    const names = conditions.map((each) => each.name);
    return `"${field}.name" is ${quoted(name)}, which the rules do not declare; ${allowed(names, name, 'they declare no condition.')}`;
  }
  const context = Object.entries(contextIn(conditionContextOf(condition)));
  const parameters = Object.keys(declared.parameters);
  const meter = new StepMeter(EVALUATION_STEPS_MAX);
  for (const [key, value] of context) {
    const at = memberAt(`${field}.context`, key);
    if (!parameters.includes(key)) {
      return `${quoted(at)} is no parameter of the condition ${quoted(name)}; ${allowed(parameters, key, 'it has none.')}`;
    }
    // Rules with an unknown type are refused when they are written.
    const converted = convertValue(value, parseType(declared.parameters[key] ?? '') ?? DYN, meter);
    if (converted instanceof ValueRefusal) return `${converted.textAt(at)}.`;
  }
  return undefined;
}

/** The conditions that `next` lacks, or of which it lacks a parameter or has one of another type. */
export function narrowedConditions(former: RuleSet, next: RuleSet): readonly string[] {
  const kept = new Map(next.conditions.map(({ name, parameters }) => [name, parameters]));
  const narrowed = former.conditions.filter(({ name, parameters }) => {
    const now = kept.get(name);
    return now === undefined || Object.entries(parameters).some(([parameter, type]) => now[parameter] !== type);
  });
  return narrowed.map(({ name }) => name);
}
