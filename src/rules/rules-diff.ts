// Differences between two rule sets, and the stored grants on which a rule set depends.

import { isJsonObject } from '../core/json-members.ts';
import { isRelation, type Relation } from '../core/tuples.ts';
import { namesInRule, type Rule, type RuleSet, ruleSetRecord, textOfElement } from './rule-set.ts';

/** A namespace and a relation on its objects. */
export interface NamespaceRelation {
  readonly namespace: string;
  readonly relation: Relation;
}

/** Relations on objects of a namespace that its rules make use of; each once, in the order of the rules. */
export function relationsUsed({ relations, rules }: RuleSet): readonly NamespaceRelation[] {
  const own = new Map<string, Relation>(relations.map((relation) => [relation, relation]));
  const used = new Map<string, NamespaceRelation>();
  for (const rule of rules) {
    const { namespace } = rule;
    for (const { name, from } of namesInRule(rule)) {
      // What `name` is on the other side of `from` depends on the entities there.
      const meant = from ?? name;
      const relation = isRelation(meant) ? meant : own.get(meant);
      if (relation !== undefined) used.set(`${namespace} ${relation}`, { namespace, relation });
    }
  }
  return [...used.values()];
}

/** Namespaces that are public in exactly one of the two. */
export const publicChanged = (from: RuleSet, to: RuleSet): readonly string[] => [
  ...new Set(from.public).symmetricDifference(new Set(to.public)),
];

const nameOf = ({ namespace, name }: Rule): string => `${namespace} ${name}`;
const lineOf = ({ namespace, name, anyOf }: Rule): string =>
  `${namespace} ${name}: ${anyOf.map(textOfElement).join(', ')}`;

/**
 * The differences as readable lines, `-` for a removed one and `+` for an added one, ascending by namespace and name.
 * Empty if both mean the same; the order of rules and of their elements has no meaning.
 */
export function diffRules(from: RuleSet, to: RuleSet): readonly string[] {
  const lines: string[] = [];
  const oldRules = new Map(from.rules.map((rule) => [nameOf(rule), rule]));
  const newRules = new Map(to.rules.map((rule) => [nameOf(rule), rule]));
  for (const name of [...new Set([...oldRules.keys(), ...newRules.keys()])].sort()) {
    const before = oldRules.get(name);
    const after = newRules.get(name);
    if (before !== undefined && after !== undefined && isSameRule(before, after)) continue;
    if (before !== undefined) lines.push(`- ${lineOf(before)}`);
    if (after !== undefined) lines.push(`+ ${lineOf(after)}`);
  }
  if (from.groups !== to.groups) lines.push(`- groups: ${from.groups}`, `+ groups: ${to.groups}`);
  for (const relation of [...new Set(from.relations).symmetricDifference(new Set(to.relations))].sort()) {
    lines.push(`${to.relations.includes(relation) ? '+' : '-'} relation: ${relation}`);
  }
  for (const namespace of publicChanged(from, to).toSorted()) {
    lines.push(`${to.public.includes(namespace) ? '+' : '-'} public: ${namespace}`);
  }
  return lines;
}

function isSameRule(left: Rule, right: Rule): boolean {
  const elementsOf = ({ anyOf }: Rule) => new Set(anyOf.map(textOfElement));
  return elementsOf(left).symmetricDifference(elementsOf(right)).size === 0;
}

function summaryOf(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const { rules, groups, public: namespaces } = value;
  if (!Array.isArray(rules) || !Array.isArray(namespaces)) return undefined;
  const parts = [`${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`];
  if (groups === true) parts.push('groups');
  if (namespaces.length > 0) parts.push(`${namespaces.length} public`);
  return parts.join(', ');
}

/** A change of rules in a few words, from its record in the audit log; undefined: it is none. */
export function summaryOfChange(before: unknown, after: unknown): string | undefined {
  const [old, current] = [summaryOf(before), summaryOf(after)];
  return old === undefined || current === undefined ? undefined : `${current} (before: ${old})`;
}

/** For people and editors: a rule per line. */
export function renderRuleSet(ruleSet: RuleSet): string {
  const { relations, rules, groups, public: namespaces } = ruleSetRecord(ruleSet);
  const own = relations === undefined ? '' : `  "relations": ${JSON.stringify(relations)},\n`;
  const lines = rules.map((rule) => `    ${JSON.stringify(rule)}`);
  const list = lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n  ]`;
  return `{\n${own}  "rules": ${list},\n  "groups": ${groups},\n  "public": ${JSON.stringify(namespaces)}\n}`;
}
