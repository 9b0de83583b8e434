// Differences between two rule sets, and the stored grants on which a rule set depends.

import { isJsonObject } from '../core/json-members.ts';
import { isRelation, type Relation } from '../core/tuples.ts';
import {
  type Condition,
  namesInRule,
  type Rule,
  type RuleSet,
  ruleSetRecord,
  type TypeRestriction,
  textOfElement,
  textOfSubjectType,
} from './rule-set.ts';
import { namesToAsk } from './rules-text.ts';
import { complete, StepSize, type Steps } from './steps.ts';
import { textOfElements } from './text/printer.ts';

/** Parts that one step compares, and names in them: a millisecond or two. */
const PARTS_PER_STEP = 1500;
/** Of an expression, which are as much work as a name. */
const CHARACTERS_PER_NAME = 16;

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
const lineOf = ({ namespace, name, anyOf }: Rule): string => `${namespace} ${name} = ${textOfElements(anyOf)}`;

/** On one line, whatever white space the expression has. */
const lineOfCondition = ({ name, parameters, expression }: Condition): string => {
  const declared = Object.entries(parameters).map(([parameter, type]) => `${parameter}: ${type}`);
  return `condition ${name}(${declared.join(', ')}) = ${expression.replaceAll(/\s+/g, ' ').trim()}`;
};
const lineOfType = ({ namespace, relation, subjects }: TypeRestriction): string =>
  `${namespace} ${relation}: ${subjects.length === 0 ? 'nobody' : subjects.map(textOfSubjectType).toSorted().join(', ')}`;

/** How the parts of one list are compared and written. */
interface PartForm<Part> {
  readonly keyOf: (part: Part) => string;
  readonly lineOf: (part: Part) => string;
  readonly isSame: (left: Part, right: Part) => boolean;
  /** How many names it has. */
  readonly sizeOf: (part: Part) => number;
}

/** The parts that only one of the two has, or that are not the same in both, by their keys. */
function* changedParts<Part>(
  [from, to]: readonly [readonly Part[], readonly Part[]],
  { keyOf, isSame, sizeOf }: PartForm<Part>,
): Steps<ReadonlyMap<string, readonly [before: Part | undefined, after: Part | undefined]>> {
  const step = new StepSize(PARTS_PER_STEP);
  const after = new Map(to.map((part) => [keyOf(part), part]));
  const changed = new Map<string, readonly [Part | undefined, Part | undefined]>();
  for (const part of from) {
    const key = keyOf(part);
    const other = after.get(key);
    after.delete(key);
    if (other === undefined || !isSame(part, other)) changed.set(key, [part, other]);
    yield* step.add(1 + sizeOf(part));
  }
  for (const [key, part] of after) changed.set(key, [undefined, part]);
  return changed;
}

/** Removed, changed and added parts, ascending by their keys. */
function* diffOf<Part>(
  parts: readonly [readonly Part[], readonly Part[]],
  form: PartForm<Part>,
): Steps<readonly string[]> {
  const step = new StepSize(PARTS_PER_STEP);
  const changed = yield* changedParts(parts, form);
  const lines: string[] = [];
  for (const key of [...changed.keys()].sort()) {
    const [before, after] = changed.get(key) ?? [];
    if (before !== undefined) lines.push(`- ${form.lineOf(before)}`);
    if (after !== undefined) lines.push(`+ ${form.lineOf(after)}`);
    for (const part of [before, after]) yield* step.add(part === undefined ? 0 : 1 + form.sizeOf(part));
  }
  return lines;
}

const onOff = ({ groups }: RuleSet): string => (groups ? 'on' : 'off');

/**
 * The differences as lines in the words of the text form, each with its namespace: `-` for a removed one and `+` for an
 * added one, ascending by namespace and name. Empty if both mean the same; the order of rules and of their elements has
 * no meaning.
 */
export const diffRules = (from: RuleSet, to: RuleSet): readonly string[] => complete(diffInSteps(from, to));

export function* diffInSteps(from: RuleSet, to: RuleSet): Steps<readonly string[]> {
  const lines = [...(yield* diffOf([from.rules, to.rules], RULE_FORM))];
  if (from.groups !== to.groups) lines.push(`- groups: ${onOff(from)}`, `+ groups: ${onOff(to)}`);
  for (const list of ['relations', 'states'] as const) {
    const [before, after] = [new Set(from[list]), new Set(to[list])];
    for (const name of [...before.symmetricDifference(after)].sort()) {
      lines.push(`${after.has(name) ? '+' : '-'} ${list}: ${name}`);
    }
  }
  lines.push(
    ...(yield* diffOf([from.conditions, to.conditions], CONDITION_FORM)),
    ...(yield* diffOf([from.types, to.types], TYPE_FORM)),
  );
  for (const namespace of publicChanged(from, to).toSorted()) {
    lines.push(`${to.public.includes(namespace) ? '+' : '-'} public: ${namespace}`);
  }
  return lines;
}

/** How many lines each of the two has that the other lacks. */
export function* countLines(from: RuleSet, to: RuleSet): Steps<{ readonly added: number; readonly removed: number }> {
  const lines = yield* diffInSteps(from, to);
  const added = lines.filter((line) => line.startsWith('+')).length;
  return { added, removed: lines.length - added };
}

const restrictedBy = ({ namespace, relation }: TypeRestriction): string => `${namespace} ${relation}`;

/** White space may be within a text of the expression, where it has a meaning. */
const isSameCondition = (left: Condition, right: Condition): boolean =>
  left.expression === right.expression && lineOfCondition(left) === lineOfCondition(right);

function isSameRule(left: Rule, right: Rule): boolean {
  const elementsOf = ({ anyOf }: Rule) => new Set(anyOf.map(textOfElement));
  return elementsOf(left).symmetricDifference(elementsOf(right)).size === 0;
}

const RULE_FORM: PartForm<Rule> = {
  keyOf: nameOf,
  lineOf,
  isSame: isSameRule,
  sizeOf: (rule) => namesInRule(rule).length,
};
const CONDITION_FORM: PartForm<Condition> = {
  keyOf: ({ name }) => name,
  lineOf: lineOfCondition,
  isSame: isSameCondition,
  sizeOf: ({ expression }) => expression.length / CHARACTERS_PER_NAME,
};
const TYPE_FORM: PartForm<TypeRestriction> = {
  keyOf: restrictedBy,
  lineOf: lineOfType,
  isSame: (left, right) => lineOfType(left) === lineOfType(right),
  sizeOf: ({ subjects }) => subjects.length,
};

/** The names, and those that follow from them by these rules. */
function* withFollowing(rules: readonly Rule[], names: Iterable<string>): Steps<ReadonlySet<string>> {
  const step = new StepSize(PARTS_PER_STEP);
  const following = new Map<string, Set<string>>();
  for (const rule of rules) {
    const uses = namesInRule(rule);
    for (const { name, from } of uses) {
      for (const used of [name, from ?? name]) following.getOrInsertComputed(used, () => new Set()).add(rule.name);
    }
    yield* step.add(uses.length);
  }
  const all = new Set(names);
  // A set also iterates over what is added meanwhile.
  for (const each of all) {
    const next = following.get(each) ?? new Set();
    for (const name of next) all.add(name);
    yield* step.add(1 + next.size);
  }
  return all;
}

/** The names of `from` that nobody can ask about any more. */
export function namesVanishing(from: RuleSet, to: RuleSet): readonly string[] {
  const left = new Set(namesToAsk(to));
  return namesToAsk(from).filter((name) => !left.has(name));
}

/** The names of `from` that somebody may lose or gain by the change. `groupNames`: of the groups that have grants. */
export function* namesConcerned(
  from: RuleSet,
  to: RuleSet,
  groupNames: ReadonlySet<string>,
): Steps<ReadonlySet<string>> {
  const asked = new Set(namesToAsk(from));
  const conditions = new Map(to.conditions.map((each) => [each.name, each]));
  const isOther = from.conditions.some((each) => {
    const other = conditions.get(each.name);
    return other === undefined || !isSameCondition(each, other);
  });
  if (isOther || from.groups !== to.groups || publicChanged(from, to).length > 0) return asked;
  const changed = yield* changedParts([from.rules, to.rules], RULE_FORM);
  const names = yield* withFollowing(
    [...from.rules, ...to.rules],
    [...changed.values()].flatMap(([before, after]) => (before ?? after)?.name ?? []),
  );
  return to.groups && [...names].some((name) => groupNames.has(name)) ? asked : asked.intersection(names);
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

/** A change of rules in a few words, from its record in the audit log; undefined: it is another change. */
export function summaryOfChange(before: unknown, after: unknown): string | undefined {
  const [old, current] = [summaryOf(before), summaryOf(after)];
  return old === undefined || current === undefined ? undefined : `${current} (before: ${old})`;
}

/** A part per line. */
const linesOf = (parts: readonly object[]): string =>
  parts.length === 0 ? '[]' : `[\n${parts.map((part) => `    ${JSON.stringify(part)}`).join(',\n')}\n  ]`;

/** For people and editors: a condition, a type or a rule per line. */
export function renderRuleSet(ruleSet: RuleSet): string {
  const { relations, states, conditions, types, rules, groups, public: namespaces } = ruleSetRecord(ruleSet);
  const own = [
    relations === undefined ? '' : `  "relations": ${JSON.stringify(relations)},\n`,
    states === undefined ? '' : `  "states": ${JSON.stringify(states)},\n`,
  ].join('');
  const others = [
    conditions === undefined ? '' : `  "conditions": ${linesOf(conditions)},\n`,
    types === undefined ? '' : `  "types": ${linesOf(types)},\n`,
  ].join('');
  const switches = `  "groups": ${groups},\n  "public": ${JSON.stringify(namespaces)}\n`;
  return `{\n${own}${others}  "rules": ${linesOf(rules)},\n${switches}}`;
}

const byText = <Part>(parts: readonly Part[], textOf: (part: Part) => string): readonly Part[] =>
  parts
    .map((part) => [textOf(part), part] as const)
    .toSorted(([left], [right]) => (left < right ? -1 : Number(left > right)))
    .map(([, part]) => part);

/** The same rules in one order, wherever order has no meaning; the elements of a rule keep theirs. */
export const orderRules = (ruleSet: RuleSet): RuleSet => ({
  relations: ruleSet.relations.toSorted(),
  states: ruleSet.states.toSorted(),
  conditions: byText(ruleSet.conditions, ({ name }) => name),
  types: byText(ruleSet.types, restrictedBy).map((type) => ({
    ...type,
    subjects: byText(type.subjects, textOfSubjectType),
  })),
  rules: byText(ruleSet.rules, nameOf),
  groups: ruleSet.groups,
  public: ruleSet.public.toSorted(),
});
