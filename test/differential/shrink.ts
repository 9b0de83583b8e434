// Makes a situation in which two systems differ as small as possible: fewer states, fewer grants, fewer and shorter
// rules. What is left still differs.

import { parseRuleSet } from '../../src/rules/parse-rule-set.ts';
import { type RuleSet, ruleSetRecord } from '../../src/rules/rule-set.ts';
import { differsStill, type Situation } from './compare.ts';
import type { Change } from './question.ts';
import type { System } from './system.ts';
import { namesOn, namespaceOf } from './universe.ts';

/** Situations that are tried, each on both systems. */
const ATTEMPTS_MAX = 600;

const keyOf = ({ subject, relation, object }: Change): string => `${subject} ${relation} ${object}`;

/** What the changes come to, as one write. */
function summed(changes: readonly (readonly Change[])[]): readonly Change[] {
  const grants = new Map<string, Change>();
  for (const change of changes.flat()) {
    if (change.revoke) grants.delete(keyOf(change));
    else grants.set(keyOf(change), change);
  }
  return [...grants.values()];
}

/** Without changes that change nothing. */
function effective(changes: readonly (readonly Change[])[]): readonly (readonly Change[])[] {
  const there = new Set<string>();
  const kept = changes.map((part) =>
    part.filter((change) => {
      const { revoke } = change;
      if (there.has(keyOf(change)) !== revoke) return false;
      if (revoke) there.delete(keyOf(change));
      else there.add(keyOf(change));
      return true;
    }),
  );
  return kept.filter((part) => part.length > 0);
}

/** Whether all names of the question still have a meaning in the world. */
function canBeAsked({ world, question }: Situation): boolean {
  const hasName = (entity: string, name: string | undefined): boolean =>
    name === undefined || (world.ruleSet.groups && namesOn(world, namespaceOf(entity)).includes(name));
  const [subject = '', group] = question.kind === 'subjects' ? [] : question.subject.split('#');
  const object = question.kind === 'objects' ? `${question.namespace}:` : question.object;
  return (
    namesOn(world, namespaceOf(object)).includes(question.relation) &&
    hasName(subject, group) &&
    (question.kind !== 'subjects' || hasName(`${question.namespace}:`, question.name))
  );
}

function isRight(ruleSet: RuleSet): boolean {
  try {
    parseRuleSet(ruleSetRecord(ruleSet));
    return true;
  } catch {
    return false;
  }
}

/** Rule sets with something less, the shortest first. */
function* smallerRules(ruleSet: RuleSet): Generator<RuleSet> {
  const { rules } = ruleSet;
  yield { ...ruleSet, rules: [] };
  for (const rule of rules) yield { ...ruleSet, rules: rules.filter((each) => each !== rule) };
  for (const rule of rules) {
    for (const element of rule.anyOf) {
      const anyOf = rule.anyOf.filter((each) => each !== element);
      yield { ...ruleSet, rules: rules.map((each) => (each === rule ? { ...rule, anyOf } : each)) };
    }
  }
  if (ruleSet.groups) yield { ...ruleSet, groups: false };
  for (const namespace of ruleSet.public) {
    yield { ...ruleSet, public: ruleSet.public.filter((each) => each !== namespace) };
  }
}

/** Changes with something less: halves first, single ones last. */
function* smallerChanges(changes: readonly (readonly Change[])[]): Generator<readonly (readonly Change[])[]> {
  const total = changes.flat().length;
  for (let size = Math.ceil(total / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < total; start += size) {
      let index = 0;
      yield changes.map((part) =>
        part.filter(() => {
          index += 1;
          return index <= start || index > start + size;
        }),
      );
    }
  }
}

function* smaller(situation: Situation): Generator<Situation> {
  const { world, changes } = situation;
  if (changes.length > 1) yield { ...situation, changes: [summed(changes)] };
  for (const fewer of smallerChanges(changes)) yield { ...situation, changes: fewer };
  for (const ruleSet of smallerRules(world.ruleSet))
    if (isRight(ruleSet)) yield { ...situation, world: { ...world, ruleSet } };
}

const sizeOf = ({ world, changes }: Situation): number => JSON.stringify([world.ruleSet, changes]).length;

/** Undefined if it does not differ when it is brought about once more. */
export async function shrink(own: System, definition: System, found: Situation): Promise<Situation | undefined> {
  const { world, changes, question } = found;
  let smallest: Situation = { world, changes, question };
  if (!(await differsStill(own, definition, smallest))) return undefined;
  let attempts = 0;
  for (let hasShrunk = true; hasShrunk && attempts < ATTEMPTS_MAX; ) {
    hasShrunk = false;
    for (const each of smaller(smallest)) {
      const candidate = { ...each, changes: effective(each.changes) };
      if (sizeOf(candidate) >= sizeOf(smallest) || !canBeAsked(candidate)) continue;
      attempts += 1;
      if (attempts > ATTEMPTS_MAX) break;
      if (!(await differsStill(own, definition, candidate))) continue;
      smallest = candidate;
      hasShrunk = true;
      break;
    }
  }
  return smallest;
}
