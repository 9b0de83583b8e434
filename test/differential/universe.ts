// A world of questions about rules: a rule set of unions, and what each relation may be granted to.

import { isRelation } from '../../src/core/tuples.ts';
import type { RuleSet } from '../../src/rules/rule-set.ts';

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

const grantableOf = ({ grantable }: World, namespace: string, relation: string): Grantable | undefined =>
  grantable.find((each) => each.namespace === namespace && each.relation === relation);

/** The names that have a meaning on objects of the namespace: those that are granted, and those that rules define. */
export function namesOn({ ruleSet, grantable }: World, namespace: string): readonly string[] {
  const granted = grantable.filter((each) => each.namespace === namespace).map(({ relation }) => relation);
  const ruled = ruleSet.rules.filter((rule) => rule.namespace === namespace).map(({ name }) => name);
  return [...new Set([...granted, ...ruled])];
}

/** Whether the relation of the world may be granted to the subject. */
export function isGrantable(world: World, subject: string, relation: string, object: string): boolean {
  const grantable = isRelation(relation) ? grantableOf(world, namespaceOf(object), relation) : undefined;
  if (grantable === undefined) return false;
  const namespace = namespaceOf(subject);
  if (subject.endsWith(':*')) return grantable.everyone.includes(namespace);
  const [, name] = subject.split('#');
  if (name === undefined) return grantable.entities.includes(namespace);
  return grantable.groups.some((group) => group.namespace === namespace && group.name === name);
}
