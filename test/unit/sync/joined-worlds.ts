// Small random worlds to list objects in: rules, grants, and what the grants may be of. Those of `random-rules.ts`, in
// which almost everything leads to almost everything; and trees of containers under rules as applications have them.

import { isRelation } from '../../../src/core/tuples.ts';
import type { JoinQuery } from '../../../src/rules/join.ts';
import { NO_RULES, type Rule, type RuleElement, type RuleSet } from '../../../src/rules/rule-set.ts';
import type { NaiveGrant, Truth } from '../../kit/naive-rules.ts';
import { typed } from '../rules/join-cases.ts';
import { type CaseKind, CONDITION, randomCase, randomOf } from '../rules/random-rules.ts';

export type Random = (count: number) => number;

/** `deep`: more levels of containers than a join follows. */
export type WorldKind = CaseKind | 'trees' | 'deep';

export interface JoinedWorld {
  readonly kind: WorldKind;
  /** The first, and those that take its place. */
  readonly ruleSets: readonly [RuleSet, ...RuleSet[]];
  readonly grants: readonly NaiveGrant[];
  readonly subjects: readonly string[];
  readonly objects: readonly string[];
  /** A grant that may be written. */
  draw(random: Random): NaiveGrant;
  readonly queries: readonly JoinQuery[];
}

export const pick = <Item>(random: Random, items: readonly Item[]): Item => {
  const item = items[random(items.length)];
  if (item === undefined) throw new Error('There is nothing to choose from.');
  return item;
};

const TRUTHS: readonly Truth[] = [true, false, 'undefined'];
const GRANTED = ['owner', 'editor', 'viewer', 'member', 'parent'];
const QUERIES = 2;

/** Of names that all of the rules define on the namespace, or that are granted. */
function queriesOf(random: Random, ruleSets: readonly RuleSet[], names: readonly string[]): JoinQuery[] {
  const isGranted = (name: string): boolean =>
    isRelation(name) ||
    ruleSets.every(({ relations, states }) => [...relations, ...states].some((each) => each === name));
  const isRuled = (namespace: string, name: string): boolean =>
    ruleSets.every(({ rules }) => rules.some((each) => each.namespace === namespace && each.name === name));
  const queries = new Map<string, JoinQuery>();
  while (queries.size < QUERIES) {
    const namespace = pick(random, ['document', 'document', 'folder']);
    const name = pick(
      random,
      names.filter((each) => isGranted(each) || isRuled(namespace, each)),
    );
    const query = { namespace, name, deep: random(3) === 0 ? ['folder'] : [] };
    queries.set(JSON.stringify(query), query);
  }
  return [...queries.values()];
}

function randomWorld(seed: number, kind: CaseKind): JoinedWorld {
  const random = randomOf(seed);
  const { ruleSet, grants, subjects, objects, names } = randomCase(seed, kind);
  // A state has no members, so no type can be of them.
  const ofStates = grants.some(({ subject }) => ruleSet.states.some((state) => subject.endsWith(`#${state}`)));
  const isTyped = random(3) === 0 && !ofStates;
  const first = isTyped ? typed({ ruleSet, grants, subjects, objects, names }) : ruleSet;
  const later: RuleSet[] = [];
  // Grants of states that rules no longer have would be in the way.
  for (let next = seed + 100_000; later.length < 2; next += 1) {
    const drawn = randomCase(next, kind);
    if (drawn.ruleSet.states.join() === ruleSet.states.join()) later.push(drawn.ruleSet);
  }
  const relations = [...GRANTED, ...ruleSet.relations];
  const others = subjects.filter((each) => each !== '*');
  const entities = others.filter((each) => !each.includes('#'));
  const draw = (by: Random): NaiveGrant => {
    const object = pick(by, objects);
    if (ruleSet.states.length > 0 && by(5) === 0) return { subject: '*', relation: pick(by, ruleSet.states), object };
    const subject = pick(by, by(3) > 0 ? entities : others);
    const leads = !subject.startsWith('user:') && by(2) === 0;
    const grant = { subject, relation: leads ? 'parent' : pick(by, relations), object };
    return kind !== 'union' && by(4) === 0 ? { ...grant, condition: pick(by, TRUTHS) } : grant;
  };
  const ruleSets: JoinedWorld['ruleSets'] = [first, ...later];
  return {
    kind,
    ruleSets,
    grants,
    subjects,
    objects,
    draw,
    queries: queriesOf(random, ruleSets, names),
  };
}

const named = (name: string, from?: string, all?: true): RuleElement => ({ name, from, ...(all && { all }) });
const rule = (namespace: string, name: string, ...anyOf: readonly RuleElement[]): Rule => ({ namespace, name, anyOf });
const unless = (butNot: readonly RuleElement[], ...elements: readonly RuleElement[]): RuleElement => ({
  operator: 'any_of',
  elements,
  butNot,
});
const both = (...elements: readonly RuleElement[]): RuleElement => ({ operator: 'all_of', elements, butNot: [] });

const [VIEWER, EDITOR, OWNER] = [named('viewer'), named('editor'), named('owner')];
const INHERITED = named('can_read', 'parent');

/** As applications have them: folders above documents, gates at the top, at every level, or at the bottom. */
const TREE_RULES: readonly (readonly Rule[])[] = [
  [rule('folder', 'can_read', VIEWER, EDITOR, INHERITED), rule('document', 'can_read', VIEWER, OWNER, INHERITED)],
  [
    rule('folder', 'can_read', VIEWER, INHERITED),
    rule('document', 'can_read', unless([named('guest')], VIEWER, INHERITED)),
  ],
  // A wiki: pages under pages.
  [
    rule('folder', 'can_read', unless([named('guest')], VIEWER, INHERITED)),
    rule('document', 'can_read', unless([named('guest')], VIEWER, INHERITED)),
  ],
  [
    rule('folder', 'can_read', VIEWER, INHERITED),
    rule('document', 'can_read', both(named('member'), INHERITED), named('can_read', 'parent', true)),
  ],
  [
    rule('folder', 'viewer', named('viewer', 'parent'), EDITOR),
    rule('folder', 'can_read', VIEWER),
    rule('document', 'viewer', named('viewer', 'parent'), named('self', 'owner')),
    rule('document', 'can_read', unless([named('guest', 'parent')], VIEWER, EDITOR)),
  ],
];

/** An entity, though it looks like a group. */
const ODD = 'folder:2#viewer';

function treeWorld(seed: number, kind: 'trees' | 'deep'): JoinedWorld {
  const random = randomOf(seed);
  const levels = kind === 'deep' ? 27 + random(4) : 2 + random(3);
  const folders = Array.from({ length: kind === 'deep' ? levels : 6 }, (_, index) => `folder:${index + 1}`);
  const documents = Array.from({ length: 6 }, (_, index) => `document:${index + 1}`);
  const users = ['user:1', 'user:2', 'user:3'];
  const groups = ['team:1#member', 'team:2#member', ODD, 'folder:1#viewer', 'folder:1#can_read', 'folder:3#can_read'];
  const texts = {
    states: [],
    conditions: [CONDITION],
    groups: random(2) === 0,
    public: random(3) > 0 ? ['user'] : [],
  };
  const ruleSetOf = (): RuleSet => ({ ...NO_RULES, ...texts, rules: pick(random, TREE_RULES) });
  const ruleSets: JoinedWorld['ruleSets'] = [ruleSetOf(), ruleSetOf()];
  const objects = [...folders, ...documents, ODD, 'team:1', 'team:2'];
  const containers = [...folders.slice(0, 6), ...folders.slice(-6), ...documents.slice(0, 3), ODD, ODD];
  const subjects = [...users, 'user:*', ...groups, 'folder:1'];
  const above = folders.slice(1).map((object, index) => {
    const parent = kind === 'deep' ? folders[index] : pick(random, folders.slice(0, index + 1));
    return { subject: parent ?? '', relation: 'parent', object };
  });
  const draw = (by: Random): NaiveGrant => {
    const way = by(8);
    const document = by(8) === 0 ? ODD : pick(by, by(4) === 0 ? folders : documents);
    if (way < 3) return { subject: pick(by, containers), relation: 'parent', object: document };
    if (way === 3)
      return { subject: pick(by, [...users, 'team:1#member']), relation: 'member', object: pick(by, objects) };
    const relation = pick(by, ['viewer', 'editor', 'owner', 'guest', 'member']);
    const grant = { subject: pick(by, subjects), relation, object: pick(by, [document, document, pick(by, folders)]) };
    return by(6) === 0 ? { ...grant, condition: pick(by, TRUTHS) } : grant;
  };
  // Teams come later.
  const drawn = Array.from({ length: 16 }, () => draw(random)).filter(({ subject }) => !subject.startsWith('team:'));
  const last = folders.at(-1) ?? '';
  const bottom =
    kind === 'deep' ? documents.slice(3).map((object) => ({ subject: last, relation: 'parent', object })) : [];
  return {
    kind,
    ruleSets,
    grants: [...above, ...bottom, ...drawn],
    subjects,
    objects,
    draw,
    queries: queriesOf(random, ruleSets, ['can_read', 'viewer']),
  };
}

export const worldOf = (seed: number, kind: WorldKind): JoinedWorld =>
  kind === 'trees' || kind === 'deep' ? treeWorld(seed, kind) : randomWorld(seed, kind);
