// Joins against the definition of what rules mean, on random cases: over the mirrored grants and the sets of a subject,
// a join says of every object what the rules say, and nothing only where a mirrored grant has a condition.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EVERY_SUBJECT, namespaceOf } from '../../../src/core/tuples.ts';
import { bitOf, CompiledRules, parseGroup } from '../../../src/rules/compiled-rules.ts';
import { type Join, joinOf } from '../../../src/rules/join.ts';
import { type RuleSet, SELF, type SubjectType, textOfSubjectType } from '../../../src/rules/rule-set.ts';
import { NaiveJoin, type NaiveSets } from '../../kit/naive-join.ts';
import { type NaiveGrant, type NaiveModel, naiveModel, type Truth } from '../../kit/naive-rules.ts';
import { randomCase, type RandomCase } from './random-rules.ts';

/** The sets of a subject, where `held` has no more than it must. */
export function setsOf(
  { ruleSet, grants, objects, names }: RandomCase,
  rules: CompiledRules,
  join: Join,
  subject: string,
  model: NaiveModel,
): NaiveSets {
  const everyone = rules.subjectsOf(subject);
  const groups = objects.flatMap((object) =>
    names.filter((name) => !ruleSet.states.some((state) => state === name)).map((name) => ({ object, name })),
  );
  const inGroup = (truth: unknown): string[] =>
    ruleSet.groups
      ? groups.filter((each) => model.truthOf(each.name, each.object) === truth).map((each) => `${each.object}#${each.name}`)
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
  const valueOf = (object: string, name: string): Truth =>
    name === SELF ? object === self : model.truthOf(name, object);
  const held = asked.filter(
    ({ object, name, isPart }) =>
      valueOf(object, name) === true && (!isPart || isGiven(object, name, subjects)),
  );
  const heldPerhaps = asked.filter(
    ({ object, name, isPart }) =>
      valueOf(object, name) === 'undefined' && (!isPart || isGiven(object, name, [...subjects, ...perhaps])),
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

/** As the mirror knows them: what has a condition is undefined. */
function mirroredCase(grants: readonly NaiveGrant[], join: Join): readonly NaiveGrant[] {
  const isMirrored = ({ relation, object }: NaiveGrant): boolean =>
    join.mirror.some(({ namespace, relations }) => namespace === namespaceOf(object) && relations.includes(relation));
  return grants.map((grant) =>
    grant.condition !== undefined && isMirrored(grant) ? { ...grant, condition: 'undefined' } : grant,
  );
}

export function testJoins(kind: 'union' | 'conditions' | 'whole', cases: number): void {
  it(`say what the rules say: ${kind}`, () => {
    const counts = { true: 0, false: 0, undefined: 0, nested: 0, opaque: 0 };
    for (let seed = 1; seed <= cases; seed += 1) {
      const drawn = randomCase(seed, kind);
      const world = seed % 2 === 0 ? drawn : { ...drawn, ruleSet: typed(drawn) };
      const { ruleSet, grants, subjects, objects, names } = world;
      const rules = new CompiledRules(ruleSet);
      const name = names[seed % names.length] ?? '';
      const deep = seed % 3 === 0 ? ['folder'] : [];
      for (const namespace of ['document', 'folder']) {
        const number = rules.numberOf(name);
        if (number === undefined) continue;
        const join = joinOf(ruleSet, rules, { namespace, name, deep }, number);
        counts.nested += join.nesting.length;
        counts.opaque += join.nesting.filter((each) => each.namespace === namespace && each.held !== undefined).length;
        const mirrored = mirroredCase(grants, join);
        for (const subject of subjects) {
          const model = naiveModel(ruleSet, grants, subject);
          const known = naiveModel(ruleSet, mirrored, subject);
          const naive = new NaiveJoin(join, grants, setsOf(world, rules, join, subject, model));
          for (const object of objects.filter((each) => namespaceOf(each) === namespace)) {
            const found = naive.truthOf(object);
            const truth = model.truthOf(name, object);
            counts[`${found}`] += 1;
            const what = `seed ${seed}: ${subject} ${name} ${object}`;
            if (found === 'undefined') assert.equal(known.truthOf(name, object), 'undefined', what);
            else assert.equal(found, truth, what);
          }
        }
      }
    }
    for (const [what, count] of Object.entries(counts)) {
      if (kind === 'whole' || what !== 'undefined') assert.ok(count > 0 || what === 'opaque', `${what}: ${count}`);
    }
    console.log(counts);
  });
}
