// Faults of grantd, as rules or changes that it gets wrong: what the comparison must find.

import { isGate, type Rule, type RuleElement } from '../../src/rules/rule-set.ts';
import type { Change } from './question.ts';
import type { System } from './system.ts';
import type { World } from './universe.ts';

export interface Mutation {
  readonly name: string;
  readonly what: string;
  readonly world?: (world: World) => World;
  readonly changes?: (changes: readonly Change[]) => readonly Change[];
}

const withRules = (world: World, change: (rule: Rule) => Rule): World => ({
  ...world,
  ruleSet: { ...world.ruleSet, rules: world.ruleSet.rules.map(change) },
});

const withElements = (world: World, change: (element: RuleElement) => RuleElement): World =>
  withRules(world, (rule) => ({ ...rule, anyOf: rule.anyOf.map(change) }));

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'element-lost',
    what: 'the last of several elements of a rule does not count',
    world: (world) =>
      withRules(world, (rule) => (rule.anyOf.length > 1 ? { ...rule, anyOf: rule.anyOf.slice(0, -1) } : rule)),
  },
  {
    name: 'parent-confused',
    what: '"from parent" follows the owner as well',
    world: (world) =>
      withRules(world, (rule) => ({
        ...rule,
        anyOf: rule.anyOf.flatMap((element): RuleElement[] =>
          !isGate(element) && element.from === 'parent' ? [element, { ...element, from: 'owner' }] : [element],
        ),
      })),
  },
  {
    name: 'name-confused',
    what: 'an editor is taken for an owner',
    world: (world) =>
      withElements(world, (element) =>
        !isGate(element) && element.name === 'owner' ? { ...element, name: 'editor' } : element,
      ),
  },
  {
    name: 'groups-ignored',
    what: 'groups are plain subjects',
    world: (world) => ({ ...world, ruleSet: { ...world.ruleSet, groups: false } }),
  },
  {
    name: 'public-ignored',
    what: 'grants to everybody do not count',
    world: (world) => ({ ...world, ruleSet: { ...world.ruleSet, public: [] } }),
  },
  {
    name: 'revocations-lost',
    what: 'what is revoked stays granted',
    changes: (changes) => changes.filter(({ revoke }) => !revoke),
  },
];

/** The system with the fault. */
export function withMutation(system: System, { world, changes }: Mutation): System {
  return {
    begin: (given) => system.begin(world?.(given) ?? given),
    write: (given) => system.write(changes?.(given) ?? given),
    answer: (question) => system.answer(question),
    stop: () => system.stop(),
  };
}
