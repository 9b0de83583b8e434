// Joins against the definition of what rules mean, on random cases: over the mirrored grants and the sets of a subject,
// a join says of every object what the rules say, and nothing only where a mirrored grant has a condition.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EVERY_SUBJECT, namespaceOf } from '../../../src/core/tuples.ts';
import { bitOf, CompiledRules, parseGroup } from '../../../src/rules/compiled-rules.ts';
import { type Formula, type Join, type JoinedNode, joinSteps, type NestedName } from '../../../src/rules/join.ts';
import { type RuleSet, SELF, type SubjectType, textOfSubjectType } from '../../../src/rules/rule-set.ts';
import { complete } from '../../../src/rules/steps.ts';
import { NaiveJoin, type NaiveSets } from '../../kit/naive-join.ts';
import { type NaiveGrant, type NaiveModel, naiveModel, type Truth } from '../../kit/naive-rules.ts';
import { type CaseKind, type RandomCase, randomCase } from './random-rules.ts';

export interface JoinCase extends RandomCase {
  /** For messages. */
  readonly what: string;
  readonly rules: CompiledRules;
  readonly join: Join;
}

/** The sets of a subject, where `held` has no more than it must. */
export function setsOf(
  { ruleSet, grants, objects, names, rules, join }: JoinCase,
  subject: string,
  model: NaiveModel,
): NaiveSets {
  const everyone = rules.subjectsOf(subject);
  const groups = objects.flatMap((object) =>
    names.filter((name) => !ruleSet.states.some((state) => state === name)).map((name) => ({ object, name })),
  );
  const inGroup = (truth: unknown): string[] =>
    ruleSet.groups
      ? groups
          .filter((each) => model.truthOf(each.name, each.object) === truth)
          .map((each) => `${each.object}#${each.name}`)
      : [];
  const subjects = [...everyone, '*', ...inGroup(true)];
  const own = rules.ownOf(subject);
  const group = ruleSet.groups ? parseGroup(subject) : undefined;
  const ownText = group === undefined ? (rules.isEntity(subject) ? `${subject}#self` : '') : subject;
  const perhaps = inGroup('undefined');
  // A subject may itself be a container.
  const asked = [...new Set([...objects, subject])].flatMap((object) => {
    const nested = join.nesting.filter(({ namespace }) => namespace === namespaceOf(object));
    return join.ask
      .filter((name) => nested.every((node) => node.name !== name || node.held !== undefined))
      .map((name) => ({ object, name, isPart: nested.some((node) => node.name === name) }));
  });
  /** By a grant on the object itself, or its own. */
  const isGiven = (object: string, name: string, isIn: readonly string[]): boolean => {
    const number = rules.numberOf(name);
    if (number === undefined) return true;
    const wanted = rules.wanted(object, bitOf(number));
    if (wanted.gates.length > 0) return true;
    const given = [...wanted.relations, ...wanted.states].map((each) => rules.describe(each));
    const isOwn = own?.object === object && (own.names & wanted.names) !== 0n;
    return (
      isOwn ||
      grants.some((each) => each.object === object && given.includes(each.relation) && isIn.includes(each.subject))
    );
  };
  const self = rules.isEntity(subject) ? subject : '';
  const truthOf = (object: string, name: string): Truth =>
    name === SELF ? object === self : model.truthOf(name, object);
  const held = asked.filter(
    ({ object, name, isPart }) => truthOf(object, name) === true && (!isPart || isGiven(object, name, subjects)),
  );
  const heldPerhaps = asked.filter(
    ({ object, name, isPart }) =>
      truthOf(object, name) === 'undefined' && (!isPart || isGiven(object, name, [...subjects, ...perhaps])),
  );
  const text = (each: { object: string; name: string }): string => `${each.object}#${each.name}`;
  return { subjects, held: held.map(text), perhaps: [...perhaps, ...heldPerhaps.map(text)], own: ownText };
}

/** With types that allow no more than the grants need. */
export function typed({ ruleSet, grants }: RandomCase): RuleSet {
  const typeOf = (subject: string): SubjectType => {
    const group = parseGroup(subject);
    const namespace = namespaceOf(subject);
    if (group !== undefined) return { namespace, of: 'group', name: group.name };
    return { namespace, of: subject === `${namespace}:*` ? 'everyone' : 'single' };
  };
  const kinds = Map.groupBy(
    grants.filter(({ subject }) => subject !== EVERY_SUBJECT),
    ({ relation, object }) => `${namespaceOf(object)} ${relation}`,
  );
  const types = Array.from(kinds, ([key, each]) => {
    const [namespace = '', relation = ''] = key.split(' ');
    const subjects = new Map(each.map(({ subject }) => typeOf(subject)).map((type) => [textOfSubjectType(type), type]));
    return { namespace, relation, subjects: [...subjects.values()] };
  });
  return { ...ruleSet, types };
}

/** As a mirror knows them: what has a condition is undefined. */
function withoutConditions(grants: readonly NaiveGrant[], join: Join): readonly NaiveGrant[] {
  const isMirrored = ({ relation, object }: NaiveGrant): boolean =>
    join.mirror.some(({ namespace, relations }) => namespace === namespaceOf(object) && relations.includes(relation));
  return grants.map((grant) =>
    grant.condition !== undefined && isMirrored(grant) ? { ...grant, condition: 'undefined' } : grant,
  );
}

/** Of every other seed with types, of every third one with grants on folders mirrored. */
export function* joinCases(kind: CaseKind, seeds: number): Generator<JoinCase> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const drawn = randomCase(seed, kind);
    const ruleSet = seed % 2 === 0 ? drawn.ruleSet : typed(drawn);
    const rules = new CompiledRules(ruleSet);
    const name = drawn.names[seed % drawn.names.length] ?? '';
    const number = rules.numberOf(name);
    const deep = seed % 3 === 0 ? ['folder'] : [];
    for (const namespace of ['document', 'folder']) {
      if (number === undefined) continue;
      const join = complete(joinSteps(ruleSet, rules, { namespace, name, deep }, number));
      yield { ...drawn, ruleSet, rules, join, what: `seed ${seed}: ${name} on each ${namespace}` };
    }
  }
}

/** A name on a container that depends on a gate. */
const isGated = ({ namespace, name }: NestedName, rules: CompiledRules): boolean =>
  rules.wanted(`${namespace}:`, bitOf(rules.numberOf(name) ?? 0)).gates.length > 0;

interface JoinCounts {
  true: number;
  false: number;
  undefined: number;
  /** Names on containers, and those of them that depend on a gate. */
  nested: number;
  gated: number;
}

const NO_COUNTS: JoinCounts = { true: 0, false: 0, undefined: 0, nested: 0, gated: 0 };

/** The first object on which the join is wrong; undefined: none is. */
function differenceIn(each: JoinCase, counts: JoinCounts): string | undefined {
  const { what, ruleSet, rules, join, grants, subjects, objects } = each;
  const { namespace, name, nesting } = join;
  counts.nested += nesting.length;
  counts.gated += nesting.filter((node) => isGated(node, rules)).length;
  const mirrored = withoutConditions(grants, join);
  for (const subject of subjects) {
    const model = naiveModel(ruleSet, grants, subject);
    const known = naiveModel(ruleSet, mirrored, subject);
    const naive = new NaiveJoin(join, grants, setsOf(each, subject, model));
    for (const object of objects.filter((every) => namespaceOf(every) === namespace)) {
      const found = naive.truthOf(object);
      const right = found === 'undefined' ? known.truthOf(name, object) : model.truthOf(name, object);
      counts[`${found}`] += 1;
      if (found !== right) return `${what}, ${subject}, ${object}: ${found} instead of ${right}`;
    }
  }
  return undefined;
}

export function testJoins(kind: CaseKind, seeds: number): void {
  it(`say what the rules say: ${kind}`, () => {
    const counts = { ...NO_COUNTS };
    for (const each of joinCases(kind, seeds)) assert.equal(differenceIn(each, counts), undefined);
    const none = { union: ['undefined', 'gated'], conditions: ['gated'], whole: [] }[kind];
    const vacuous = Object.entries(counts).filter(([, count]) => count === 0);
    assert.deepEqual(
      vacuous.map(([what]) => what),
      none,
    );
  });
}

type JoinFault = (join: Join, rules: CompiledRules) => Join;

const withNodes = (join: Join, change: (node: JoinedNode) => JoinedNode): Join => ({
  ...join,
  atoms: Object.fromEntries(Object.entries(join.atoms).map(([key, atom]) => [key, change(atom)])),
  nesting: join.nesting.map(({ namespace, name, ...node }) => ({ namespace, name, ...change(node) })),
});

/** What they exclude counts. */
const withoutExclusions = (formula: Formula): Formula => {
  if (typeof formula === 'string') return formula;
  if ('any_of' in formula) return { any_of: formula.any_of.map(withoutExclusions) };
  return { all_of: formula.all_of.map(withoutExclusions) };
};

/** Gates on containers are ignored: what is granted there suffices. */
const withoutGates: JoinFault = (join, rules) => {
  const nesting = join.nesting.map((node): NestedName => {
    if (!isGated(node, rules)) return node;
    const { namespace, name } = node;
    const { relations } = rules.wanted(`${namespace}:`, bitOf(rules.numberOf(name) ?? 0));
    return { namespace, name, relations: relations.map((each) => rules.describe(each)), own: [], from: [] };
  });
  return { ...join, nesting, mirror: [...join.mirror, ...nesting] };
};

/** Faults that a join may have. Those of a service or a statement are planted in their tests. */
const JOIN_FAULTS: Readonly<Record<string, JoinFault>> = {
  'gates on containers are ignored': withoutGates,
  'states are left out': (join, rules) =>
    withNodes(join, ({ relations, ...node }) => ({
      ...node,
      relations: relations.filter((relation) => !rules.isState(rules.numberOf(relation) ?? 0)),
    })),
  'the subject itself is left out': (join) => withNodes(join, (node) => ({ ...node, own: [] })),
  'containers are not followed': (join) => withNodes(join, (node) => ({ ...node, from: [] })),
  'containers of a namespace without rules do not count': (join) => {
    const isNested = (namespace: string, name: string): boolean =>
      join.nesting.some((node) => node.namespace === namespace && node.name === name);
    const others = ['user', 'folder', 'document'].flatMap((namespace) =>
      join.ask.filter((name) => !isNested(namespace, name)).map((name) => ({ namespace, name })),
    );
    return {
      ...join,
      nesting: [...join.nesting, ...others.map((each) => ({ ...each, relations: [], own: [], from: [] }))],
    };
  },
  'one entity with the name suffices instead of all': (join) => withNodes(join, ({ every: _, ...node }) => node),
  'what is excluded counts': (join) => ({ ...join, formula: withoutExclusions(join.formula) }),
  'groups are containers': (join) => ({ ...join, groups: false }),
  'all subjects of a public namespace are a container': (join) => ({ ...join, public: [] }),
  'a relation is not mirrored': (join) => ({
    ...join,
    mirror: join.mirror.map(({ namespace, relations }) => ({ namespace, relations: relations.slice(1) })),
  }),
};

export function testJoinFaults(seeds: number): void {
  for (const [what, plant] of Object.entries(JOIN_FAULTS)) {
    it(`finds it if ${what}`, () => {
      const faults = joinCases('whole', seeds).map((each) => ({ ...each, join: plant(each.join, each.rules) }));
      assert.ok(faults.some((each) => differenceIn(each, { ...NO_COUNTS }) !== undefined));
    });
  }
}
