// Small random rule sets and grants in which almost everything leads to almost everything: cycles, diamonds, nests.

import { NO_RULES, type RuleElement, type RuleSet } from '../../../src/rules/rule-set.ts';
import type { NaiveGrant } from '../../kit/naive-rules.ts';

/** Mulberry32. */
export function randomOf(seed: number): (count: number) => number {
  let state = seed;
  return (count) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * count);
  };
}

const NAMESPACES = ['user', 'group', 'folder', 'document'] as const;
const GRANTED = ['owner', 'editor', 'viewer', 'member', 'parent'] as const;
const DERIVED = ['can_read', 'can_share'] as const;
const FOLLOWED = ['parent', 'owner'] as const;

export interface RandomCase {
  readonly ruleSet: RuleSet;
  readonly grants: readonly NaiveGrant[];
  readonly subjects: readonly string[];
  readonly objects: readonly string[];
  readonly names: readonly string[];
}

export function randomCase(seed: number): RandomCase {
  const random = randomOf(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[random(items.length)] as Item;
  const defined = NAMESPACES.flatMap((namespace) =>
    [...GRANTED, ...DERIVED].filter(() => random(3) === 0).map((name) => ({ namespace, name })),
  );
  const names = [...GRANTED, ...DERIVED.filter((name) => defined.some((rule) => rule.name === name))];
  const rules = defined.map(({ namespace, name }) => {
    const here = [...GRANTED, ...defined.filter((rule) => rule.namespace === namespace).map((rule) => rule.name)];
    const anyOf = Array.from({ length: 1 + random(3) }, (): RuleElement => {
      return random(2) === 0 ? { name: pick(here), from: undefined } : { name: pick(names), from: pick(FOLLOWED) };
    });
    return { namespace, name, anyOf };
  });
  const entities = NAMESPACES.flatMap((namespace) => [1, 2, 3].map((id) => `${namespace}:${id}`));
  const subjects = [
    ...entities,
    'user:*',
    'folder:*',
    'group:1#a#member',
    ...entities.flatMap((entity) => names.map((name) => `${entity}#${name}`)).filter(() => random(3) === 0),
  ];
  const objects = [...entities, 'group:1#a'];
  const grants = Array.from({ length: random(30) }, () => ({
    subject: random(2) === 0 ? pick(entities) : pick(subjects),
    relation: pick(GRANTED),
    object: pick(objects),
  }));
  const ruleSet = {
    ...NO_RULES,
    rules,
    groups: random(4) > 0,
    public: ['user', 'folder'].filter(() => random(2) === 0),
  };
  return { ruleSet, grants, subjects, objects, names };
}
