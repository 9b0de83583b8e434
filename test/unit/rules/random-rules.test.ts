// The random cases of the whole model tell the meaning of rules from each of these, which are wrong on purpose.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type GateElement, isGate, type NameElement, type RuleElement } from '../../../src/rules/rule-set.ts';
import { type NaiveGrant, naiveModel, type Truth } from '../../kit/naive-rules.ts';
import { type RandomCase, randomCase } from './random-rules.ts';

const SEEDS_MAX = 300;
const SUBJECTS = ['user:1', 'user:2', 'user:*'];

type Meaning = (of: RandomCase, subject: string) => (name: string, object: string) => Truth;

const definition: Meaning = ({ ruleSet, grants }, subject) => naiveModel(ruleSet, grants, subject).truthOf;

/** Replaces gates and names from the inside out. */
function mapElement(element: RuleElement, map: (element: RuleElement) => RuleElement): RuleElement {
  if (!isGate(element)) return map(element);
  const each = (list: readonly RuleElement[]) => list.map((inner) => mapElement(inner, map));
  return map({ ...element, elements: each(element.elements), butNot: each(element.butNot) });
}

const withElements =
  (map: (element: RuleElement) => RuleElement): Meaning =>
  (of, subject) => {
    const rules = of.ruleSet.rules.map((rule) => ({
      ...rule,
      anyOf: rule.anyOf.map((element) => mapElement(element, map)),
    }));
    return definition({ ...of, ruleSet: { ...of.ruleSet, rules } }, subject);
  };

const withGates = (map: (gate: GateElement) => RuleElement): Meaning =>
  withElements((element) => (isGate(element) ? map(element) : element));

const withNames = (map: (name: NameElement) => RuleElement): Meaning =>
  withElements((element) => (isGate(element) ? element : map(element)));

const withGrants =
  (map: (grant: NaiveGrant) => NaiveGrant): Meaning =>
  (of, subject) =>
    definition({ ...of, grants: of.grants.map(map) }, subject);

/** What is undefined, where no condition is. */
const circlesAs =
  (value: boolean): Meaning =>
  (of, subject) => {
    const truthOf = definition(of, subject);
    if (of.grants.some(({ condition }) => condition === 'undefined')) return truthOf;
    return (name, object) => {
      const truth = truthOf(name, object);
      return truth === 'undefined' ? value : truth;
    };
  };

/** `all of N from R` holds where nothing has R. */
const vacuous: Meaning = (of, subject) => {
  const counted = of.grants.filter(({ condition }) => condition !== false);
  const without = of.objects.flatMap((object) =>
    [...new Set(of.grants.map(({ relation }) => relation))]
      .filter((relation) => !counted.some((grant) => grant.object === object && grant.relation === relation))
      .map((relation) => ({ subject, relation: `no_${relation}`, object })),
  );
  const meaning = withNames((element) =>
    element.all === true
      ? { operator: 'any_of', elements: [element, { name: `no_${element.from}`, from: undefined }], butNot: [] }
      : element,
  );
  return meaning({ ...of, grants: [...of.grants, ...without] }, subject);
};

const WRONG: Readonly<Record<string, Meaning>> = {
  'but_not ignored': withGates((gate) => ({ ...gate, butNot: [] })),
  'but_not inside of a but_not ignored': withGates((gate) => ({
    ...gate,
    butNot: gate.butNot.map((each) => (isGate(each) ? { ...each, butNot: [] } : each)),
  })),
  'but_not of its first element': withGates((gate) => ({ ...gate, butNot: gate.butNot.slice(0, 1) })),
  'all_of as any_of': withGates((gate) => ({ ...gate, operator: 'any_of' })),
  'any_of as all_of': withGates((gate) => ({ ...gate, operator: 'all_of' })),
  'all_of of its first element': withGates((gate) =>
    gate.operator === 'all_of' ? { ...gate, elements: gate.elements.slice(0, 1) } : gate,
  ),
  'all of as one of': withNames(({ name, from }) => ({ name, from })),
  'one of as all of': withNames((element) => (element.from === undefined ? element : { ...element, all: true })),
  'all of nothing': vacuous,
  'an undefined condition as true': withGrants((grant) =>
    grant.condition === 'undefined' ? { ...grant, condition: true } : grant,
  ),
  'an undefined condition as false': withGrants((grant) =>
    grant.condition === 'undefined' ? { ...grant, condition: false } : grant,
  ),
  'a false condition ignored': withGrants((grant) =>
    grant.condition === false ? { ...grant, condition: true } : grant,
  ),
  'a circle as true': circlesAs(true),
  'a circle as false': circlesAs(false),
  'no public namespaces': (of, subject) => definition({ ...of, ruleSet: { ...of.ruleSet, public: [] } }, subject),
  'no groups': (of, subject) => definition({ ...of, ruleSet: { ...of.ruleSet, groups: false } }, subject),
};

const differs = (of: RandomCase, meaning: Meaning): boolean =>
  SUBJECTS.some((subject) => {
    const [right, wrong] = [definition(of, subject), meaning(of, subject)];
    return of.objects.some((object) => of.names.some((name) => right(name, object) !== wrong(name, object)));
  });

describe('random cases of the whole model tell the definition from', () => {
  for (const [name, meaning] of Object.entries(WRONG)) {
    it(name, (test) => {
      for (let seed = 1; seed <= SEEDS_MAX; seed += 1) {
        if (!differs(randomCase(seed, 'whole'), meaning)) continue;
        test.diagnostic(`seed ${seed}`);
        return;
      }
      assert.fail(`No difference in ${SEEDS_MAX} cases.`);
    });
  }
});
