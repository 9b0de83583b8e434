// Which names, gates and conditions of a rule set were decided, and how: one that was never decided both ways has no
// test of one of its sides.

import { conditionContextOf, conditionNameOf, contextIn } from '../../../../src/core/grant-terms.ts';
import { type JsonObject, objectsIn } from '../../../../src/core/json-members.ts';
import { namespaceOf } from '../../../../src/core/tuples.ts';
import { type CompiledConditions, compileConditions } from '../../../../src/rules/conditions/compiled-condition.ts';
import { ConditionContext, evaluateCondition } from '../../../../src/rules/conditions/evaluate-condition.ts';
import { ConditionBudget, EVALUATION_STEPS_MAX } from '../../../../src/rules/conditions/step-meter.ts';
import { isGate, type RuleElement, type RuleSet, textOfElement, textOfName } from '../../../../src/rules/rule-set.ts';

export interface RulePart {
  readonly kind: 'name' | 'gate' | 'condition';
  /** `document can_read`, or `document (a and b)` */
  readonly text: string;
  /** How it was decided. */
  readonly seen: Set<boolean>;
}

/** The gates in an element, those inside of others included. */
function* gatesIn(element: RuleElement): Generator<string> {
  if (!isGate(element)) {
    if (element.all === true) yield textOfName(element);
    return;
  }
  yield textOfElement(element);
  for (const each of [...element.elements, ...element.butNot]) yield* gatesIn(each);
}

export class Coverage {
  readonly #parts = new Map<string, RulePart>();
  readonly #conditions: CompiledConditions;

  constructor({ rules, conditions }: RuleSet) {
    this.#conditions = compileConditions(conditions);
    const add = (kind: RulePart['kind'], text: string): void => {
      if (!this.#parts.has(text)) this.#parts.set(text, { kind, text, seen: new Set() });
    };
    for (const { namespace, name, anyOf } of rules) {
      add('name', `${namespace} ${name}`);
      for (const element of anyOf) for (const gate of gatesIn(element)) add('gate', `${namespace} ${gate}`);
    }
    for (const { name } of conditions) add('condition', `condition ${name}`);
  }

  decided(object: string, name: string, holds: boolean): void {
    this.#parts.get(`${namespaceOf(object)} ${name}`)?.seen.add(holds);
  }

  /** All that a proof decides, as the APIs show it. */
  proved({ name, object, holds, gate, gates }: JsonObject): void {
    if (typeof name !== 'string' || typeof object !== 'string') return;
    if (typeof holds === 'boolean') this.decided(object, name, holds);
    for (const each of objectsIn(gate === undefined ? gates : [gate])) {
      // A gate of what holds has opened it.
      if (typeof each.gate === 'string' && typeof each.object === 'string') {
        this.decided(each.object, each.gate, gate !== undefined);
      }
      for (const part of [...objectsIn(each.all_of), ...objectsIn(each.but_not)]) this.proved(part);
    }
  }

  /** The conditions of grants that may have decided a check, under its context. */
  conditioned(conditions: Iterable<string>, context = '{}'): void {
    const request = new ConditionContext(contextIn(context), 'context');
    for (const condition of conditions) {
      const name = conditionNameOf(condition);
      const part = this.#parts.get(`condition ${name}`);
      const compiled = this.#conditions.get(name);
      if (part === undefined || compiled === undefined || isCovered(part)) continue;
      const stored = contextIn(conditionContextOf(condition));
      const result = evaluateCondition(compiled, stored, request, new ConditionBudget(EVALUATION_STEPS_MAX));
      if (typeof result === 'boolean') part.seen.add(result);
    }
  }

  get parts(): readonly RulePart[] {
    return [...this.#parts.values()];
  }
}

export const isCovered = ({ seen }: RulePart): boolean => seen.size === 2;

/** What was never decided both ways, a line each. */
export function coverageLines(coverage: Coverage): readonly string[] {
  const { parts } = coverage;
  const covered = parts.filter(isCovered).length;
  const never = ({ seen }: RulePart): string => {
    if (seen.size === 0) return 'never decided';
    return seen.has(true) ? 'never false' : 'never true';
  };
  return [
    `${covered} of ${parts.length} names, gates and conditions were decided both ways${covered < parts.length ? ':' : '.'}`,
    ...parts.filter((part) => !isCovered(part)).map((part) => `  ${part.text}: ${never(part)}`),
  ];
}
