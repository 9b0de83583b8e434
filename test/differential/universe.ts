// A world that grantd, OpenFGA and SpiceDB can all express: a rule set, and what each relation may be granted to.
// grantd has no types of relations; the peers need them, so that grants are drawn from them.
//
// Expressible are rule sets in which no name follows from itself on the same object (both peers refuse that), and in
// which each name can be reached from some grant (OpenFGA refuses a model otherwise). Names that follow from
// themselves on a parent are fine, and so are cycles of grants.

import { isRelation } from '../../src/core/tuples.ts';
import { isGate, type NameElement, type Rule, type RuleElement, type RuleSet } from '../../src/rules/rule-set.ts';

export const NAMESPACES = ['user', 'group', 'folder', 'document'] as const;

/** What one relation on the objects of one namespace may be granted to. */
export interface Grantable {
  readonly namespace: string;
  readonly relation: string;
  /** Namespaces; at least one. */
  readonly entities: readonly string[];
  /** Namespaces, for grants to everybody. */
  readonly everyone: readonly string[];
  readonly groups: readonly { readonly namespace: string; readonly name: string }[];
}

export interface World {
  readonly ruleSet: RuleSet;
  readonly grantable: readonly Grantable[];
}

export const namespaceOf = (text: string): string => text.slice(0, text.indexOf(':'));

export const grantableOf = ({ grantable }: World, namespace: string, relation: string): Grantable | undefined =>
  grantable.find((each) => each.namespace === namespace && each.relation === relation);

export const ruleOf = ({ ruleSet }: Pick<World, 'ruleSet'>, namespace: string, name: string): Rule | undefined =>
  ruleSet.rules.find((rule) => rule.namespace === namespace && rule.name === name);

/** The elements of a rule; the worlds that peers are asked about have no gates. */
export const namesOf = (rule: Rule | undefined): readonly NameElement[] =>
  (rule?.anyOf ?? []).filter((element): element is NameElement => !isGate(element));

/** The names that have a meaning on objects of the namespace: those that are granted, and those that rules define. */
export function namesOn({ ruleSet, grantable }: World, namespace: string): readonly string[] {
  const granted = grantable.filter((each) => each.namespace === namespace).map(({ relation }) => relation);
  const ruled = ruleSet.rules.filter((rule) => rule.namespace === namespace).map(({ name }) => name);
  return [...new Set([...granted, ...ruled])];
}

/** Whether elements "NAME from RELATION" of this namespace follow the relation. */
export const isFollowed = ({ ruleSet }: World, namespace: string, relation: string): boolean =>
  ruleSet.rules.some((rule) => rule.namespace === namespace && namesOf(rule).some(({ from }) => from === relation));

const keyOf = (namespace: string, name: string): string => `${namespace} ${name}`;

/** The names that some grant can lead to. */
function reachableNames({ ruleSet, grantable }: World): ReadonlySet<string> {
  const reachable = new Set(grantable.map(({ namespace, relation }) => keyOf(namespace, relation)));
  for (let size = -1; size < reachable.size; ) {
    size = reachable.size;
    for (const rule of ruleSet.rules) {
      const { namespace, name } = rule;
      const isReached = namesOf(rule).some(({ name: element, from }) => {
        if (from === undefined) return reachable.has(keyOf(namespace, element));
        const followed = grantable.find((each) => each.namespace === namespace && each.relation === from);
        return followed?.entities.some((parent) => reachable.has(keyOf(parent, element))) ?? false;
      });
      if (isReached) reachable.add(keyOf(namespace, name));
    }
  }
  return reachable;
}

/** Whether the names of the element lead back to the rule's own name on the same object. */
function isCircular({ ruleSet }: World, { namespace, name }: Rule, element: NameElement): boolean {
  const seen = new Set<string>();
  const queue = element.from === undefined ? [element.name] : [];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (next === name) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    for (const each of namesOf(ruleOf({ ruleSet }, namespace, next)))
      if (each.from === undefined) queue.push(each.name);
  }
  return false;
}

function keptOf(world: World, reachable: ReadonlySet<string>, rule: Rule): readonly RuleElement[] {
  return namesOf(rule).filter((element) => {
    if (element.from === undefined)
      return reachable.has(keyOf(rule.namespace, element.name)) && !isCircular(world, rule, element);
    const followed = grantableOf(world, rule.namespace, element.from);
    return followed?.entities.some((parent) => reachable.has(keyOf(parent, element.name))) ?? false;
  });
}

/** The part of a world that the peers can express. What was expressible stays as it is. */
export function expressibleOf(world: World): World {
  const reachable = reachableNames(world);
  // One rule at a time: what closes a cycle in one place is no cycle any more in the other.
  let { ruleSet } = world;
  for (const { namespace, name } of world.ruleSet.rules) {
    const rule = ruleOf({ ruleSet }, namespace, name);
    if (rule === undefined) continue;
    const anyOf = keptOf({ ...world, ruleSet }, reachable, rule);
    const rules = ruleSet.rules.flatMap((each) => {
      if (each !== rule) return [each];
      return anyOf.length === 0 ? [] : [{ ...each, anyOf }];
    });
    ruleSet = { ...ruleSet, rules };
  }
  const grantable = world.grantable.map((each): Grantable => {
    const groups = ruleSet.groups
      ? each.groups.filter((group) => namesOn({ ...world, ruleSet }, group.namespace).includes(group.name))
      : [];
    return { ...each, groups, everyone: each.everyone.filter((namespace) => ruleSet.public.includes(namespace)) };
  });
  const kept: World = { ruleSet, grantable };
  return JSON.stringify(kept) === JSON.stringify(world) ? kept : expressibleOf(kept);
}

/**
 * Whether the relation of the world may be granted to the subject. OpenFGA refuses what says nothing: that those who
 * are member of a group are member of it.
 */
export function isGrantable(world: World, subject: string, relation: string, object: string): boolean {
  const grantable = isRelation(relation) ? grantableOf(world, namespaceOf(object), relation) : undefined;
  if (grantable === undefined || subject === `${object}#${relation}`) return false;
  const namespace = namespaceOf(subject);
  if (subject.endsWith(':*')) return grantable.everyone.includes(namespace);
  const [, name] = subject.split('#');
  if (name === undefined) return grantable.entities.includes(namespace);
  return grantable.groups.some((group) => group.namespace === namespace && group.name === name);
}
