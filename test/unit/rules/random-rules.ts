// Small random rule sets and grants in which almost everything leads to almost everything: cycles, diamonds, nests.
// Those of the whole model have gates, own relations and conditions too, in a universe so small that most questions
// hang on them.

import { EVERY_SUBJECT, isRelationName, namespaceOf, type Relation } from '../../../src/core/tuples.ts';
import {
  isGate,
  type NameElement,
  NO_RULES,
  namesInRule,
  type Rule,
  type RuleElement,
  type RuleSet,
  SELF,
} from '../../../src/rules/rule-set.ts';
import { findNegativeCycle } from '../../../src/rules/strata.ts';
import type { NaiveGrant, Truth } from '../../kit/naive-rules.ts';

type Random = (count: number) => number;

/** Mulberry32. */
export function randomOf(seed: number): Random {
  let state = seed;
  return (count) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * count);
  };
}

const pickOf =
  (random: Random) =>
  <Item>(items: readonly Item[]): Item =>
    items[random(items.length)] as Item;

const NAMESPACES = ['user', 'group', 'folder', 'document'] as const;
const GRANTED = ['owner', 'editor', 'viewer', 'member', 'parent'] as const;
const DERIVED = ['can_read', 'can_share'] as const;
const FOLLOWED = ['parent', 'owner'] as const;

const STATES: readonly Relation[] = ['archived', 'published'].map(String).filter(isRelationName);

/** Of one case in two, none. */
const randomStates = (random: Random): readonly Relation[] => STATES.slice(0, Math.max(0, random(4) - 1));

/** A grant of a state, or one of another relation. */
export function randomGrant(
  random: Random,
  { ruleSet, subjects, objects }: Pick<RandomCase, 'ruleSet' | 'subjects' | 'objects'>,
  relations: readonly string[],
): NaiveGrant {
  const pick = pickOf(random);
  const object = pick(objects);
  if (ruleSet.states.length > 0 && random(4) === 0) {
    return { subject: EVERY_SUBJECT, relation: pick(ruleSet.states), object };
  }
  return { subject: pick(subjects.filter((each) => each !== EVERY_SUBJECT)), relation: pick(relations), object };
}

export interface RandomCase {
  readonly ruleSet: RuleSet;
  /** No two of the whole model have the same subject, relation and object. */
  readonly grants: readonly NaiveGrant[];
  readonly subjects: readonly string[];
  readonly objects: readonly string[];
  readonly names: readonly string[];
}

/**
 * `union`: names follow from names, without gates, own relations and conditions. `conditions`: the same, where grants
 * have conditions.
 */
export type CaseKind = 'union' | 'conditions' | 'whole';

export function randomCase(seed: number, kind: CaseKind = 'union'): RandomCase {
  const random = randomOf(seed);
  if (kind === 'whole') return wholeCase(random);
  const { ruleSet, grants, ...rest } = unionCase(random);
  if (kind === 'union') return { ruleSet, grants, ...rest };
  const distinct = new Map(grants.map((grant) => [`${grant.subject} ${grant.relation} ${grant.object}`, grant]));
  const conditional = Array.from(distinct.values(), (grant) =>
    random(3) === 0 ? { ...grant, condition: pickOf(random)(TRUTHS) } : grant,
  );
  return { ruleSet: { ...ruleSet, conditions: [CONDITION] }, grants: conditional, ...rest };
}

function unionCase(random: Random): RandomCase {
  const pick = pickOf(random);
  const states = randomStates(random);
  const defined = NAMESPACES.flatMap((namespace) =>
    [...GRANTED, ...DERIVED].filter(() => random(3) === 0).map((name) => ({ namespace, name })),
  );
  const names = [...GRANTED, ...states, ...DERIVED.filter((name) => defined.some((rule) => rule.name === name))];
  const rules = defined.map(({ namespace, name }) => {
    const own = defined.filter((rule) => rule.namespace === namespace).map((rule) => rule.name);
    const here = [...GRANTED, ...states, ...own];
    const anyOf = Array.from({ length: 1 + random(3) }, (): RuleElement => {
      if (random(8) === 0) return { name: SELF, from: random(3) === 0 ? pick(FOLLOWED) : undefined };
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
  const stated = states.flatMap((relation) =>
    objects.filter(() => random(6) === 0).map((object) => ({ subject: EVERY_SUBJECT, relation, object })),
  );
  const ruleSet = {
    ...NO_RULES,
    states,
    rules,
    groups: random(4) > 0,
    public: ['user', 'folder'].filter(() => random(2) === 0),
  };
  return {
    ruleSet,
    grants: [...grants, ...stated],
    subjects: states.length === 0 ? subjects : [...subjects, EVERY_SUBJECT],
    objects,
    names,
  };
}

const OWN = ['approver', 'blocked'] as const;
const BUILT_IN = ['editor', 'viewer', 'member', 'parent'] as const;
const WHOLE_GRANTED = [...BUILT_IN, ...OWN] as const;
const WHOLE_NAMESPACES = ['user', 'folder', 'document'] as const;
const WHOLE_DERIVED = ['can_read', 'can_share', 'can_edit'] as const;
/** Gates inside of each other. */
const NEST_MAX = 3;
const TRUTHS: readonly Truth[] = [true, false, 'undefined'];

/**
 * The condition of every grant that has one. To give a grant a value, store it in the grant's context as `allowed`, or
 * send it with the call; without one, it is undefined.
 */
export const CONDITION = { name: 'allowed', parameters: { allowed: 'bool' }, expression: 'allowed' } as const;

interface Names {
  /** On objects of the namespace. */
  readonly here: readonly string[];
  readonly anywhere: readonly string[];
  /** Without rules, so that no name depends on its own `but_not` through them. */
  readonly granted: readonly string[];
}

function randomName(random: Random, { here, anywhere, granted }: Names, negated: boolean): NameElement {
  const pick = pickOf(random);
  const isPlain = negated && granted.length > 0 && random(4) > 0;
  const from = pick(random(4) === 0 ? WHOLE_GRANTED : ['parent' as const]);
  const kind = random(6);
  if (random(12) === 0) return { name: SELF, from: kind === 0 ? from : undefined };
  if (kind < 3) return { name: pick(isPlain ? granted : here), from: undefined };
  const name = pick(isPlain ? granted : anywhere);
  return kind < 5 ? { name, from } : { name, from, all: true };
}

function randomElement(random: Random, names: Names, depth = 0, negated = false): RuleElement {
  if (depth === NEST_MAX || random(depth === 0 ? 3 : 5) > 1) return randomName(random, names, negated);
  const several = (count: number, taken = negated) =>
    Array.from({ length: count }, () => randomElement(random, names, depth + 1, taken));
  return random(2) === 0
    ? { operator: 'all_of', elements: several(2), butNot: random(3) === 0 ? several(1, true) : [] }
    : { operator: 'any_of', elements: several(1 + random(2)), butNot: several(random(4) === 0 ? 2 : 1, true) };
}

function wholeRules(random: Random, states: readonly Relation[]): readonly Rule[] {
  const defined = WHOLE_NAMESPACES.flatMap((namespace) => [
    ...WHOLE_GRANTED.filter(() => random(10) === 0).map((name) => ({ namespace, name })),
    ...WHOLE_DERIVED.filter(() => random(namespace === 'document' || namespace === 'folder' ? 2 : 5) === 0).map(
      (name) => ({ namespace, name }),
    ),
  ]);
  const ruled = new Set<string>(defined.map(({ name }) => name));
  const granted = [...WHOLE_GRANTED.filter((name) => !ruled.has(name)), ...states];
  const anywhere = [...new Set([...WHOLE_GRANTED, ...states, ...ruled])];
  return defined.map(({ namespace, name }) => {
    const own = defined.filter((rule) => rule.namespace === namespace).map((rule) => rule.name);
    const names = { here: [...new Set([...WHOLE_GRANTED, ...states, ...own])], anywhere, granted };
    return { namespace, name, anyOf: Array.from({ length: 1 + random(2) }, () => randomElement(random, names)) };
  });
}

/**
 * Grants to the groups of names that take part in their own `but_not` by it, which rules must not do, and data can; and
 * a subject to whom it matters.
 */
function tiesOf(random: Random, rules: readonly Rule[]): readonly NaiveGrant[] {
  const pick = pickOf(random);
  const isGranted = ({ name, from }: NameElement): boolean =>
    from === undefined && WHOLE_GRANTED.some((granted) => granted === name);
  return rules.flatMap((rule) => {
    const { namespace, name } = rule;
    const names = namesInRule(rule).filter(isGranted);
    const excluded = names.filter(({ negated }) => negated);
    if (excluded.length === 0) return [];
    const circle = random(2) === 0 ? [1] : [1, 2];
    return circle.flatMap((id, at) => {
      const object = `${namespace}:${id}`;
      return [
        { subject: `${namespace}:${circle[at - 1] ?? circle.length}#${name}`, relation: pick(excluded).name, object },
        ...names.filter(({ negated }) => !negated).map((each) => ({ subject: 'user:1', relation: each.name, object })),
      ];
    });
  });
}

const hasGate = ({ rules }: RuleSet): boolean => rules.some(({ anyOf }) => anyOf.some(isGate));

function wholeRuleSet(random: Random): RuleSet {
  for (;;) {
    const states = randomStates(random);
    const ruleSet = {
      ...NO_RULES,
      states,
      relations: [...OWN].map(String).filter(isRelationName),
      conditions: [CONDITION],
      rules: wholeRules(random, states),
      groups: random(5) > 0,
      public: ['user', 'folder'].filter(() => random(3) > 0),
    };
    if (hasGate(ruleSet) && findNegativeCycle(ruleSet) === undefined) return ruleSet;
  }
}

function wholeCase(random: Random): RandomCase {
  const pick = pickOf(random);
  const ruleSet = wholeRuleSet(random);
  const { states, rules, groups } = ruleSet;
  const names = [...new Set([...WHOLE_GRANTED, ...states, ...rules.map(({ name }) => name)])];
  const entities = WHOLE_NAMESPACES.flatMap((namespace) => [1, 2].map((id) => `${namespace}:${id}`));
  const sets = entities.flatMap((entity) => names.map((name) => `${entity}#${name}`)).filter(() => random(6) === 0);
  const others = entities.filter((entity) => namespaceOf(entity) !== 'user');
  const kinds = [['user:1', 'user:2'], ['user:*', 'folder:*'], others, others, [...sets, ...entities]];
  const drawn: NaiveGrant[] = Array.from({ length: 20 + random(30) }, () => {
    const subject = pick(pick(kinds));
    const leads = others.includes(subject) && random(3) > 0;
    return {
      subject,
      relation: leads ? 'parent' : pick(WHOLE_GRANTED),
      object: pick(random(5) === 0 ? entities : others),
    };
  });
  const ties = groups && random(3) > 0 ? tiesOf(random, rules) : [];
  const isTied = ({ relation, object }: NaiveGrant): boolean =>
    ties.some((tie) => tie.relation === relation && tie.object === object);
  const isConditional = random(2) === 0;
  const stated = states.flatMap((relation) =>
    entities.filter(() => random(3) === 0).map((object) => ({ subject: EVERY_SUBJECT, relation, object })),
  );
  const grants = [...drawn.filter((grant) => !isTied(grant)), ...ties, ...stated].map((grant) =>
    isConditional && random(4) === 0 ? { ...grant, condition: pick(TRUTHS) } : grant,
  );
  const distinct = new Map(grants.map((grant) => [`${grant.subject} ${grant.relation} ${grant.object}`, grant]));
  return {
    ruleSet,
    grants: [...distinct.values()],
    subjects: [...entities, 'user:*', 'folder:*', ...sets, ...(states.length === 0 ? [] : [EVERY_SUBJECT])],
    objects: entities,
    names,
  };
}
