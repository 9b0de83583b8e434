// Joins of the sets that a shard answers against the definition of what rules mean, on random cases: what a join says
// of an object, over the grants that it mirrors and these sets, is what the rules say, whatever part of the grants the
// shard has in memory. `test/unit` runs a few of the cases, `test/property/slow` all.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import { namespaceOf, RELATIONS } from '../../../../src/core/tuples.ts';
import { CompiledRules } from '../../../../src/rules/compiled-rules.ts';
import { type Join, joinSteps } from '../../../../src/rules/join.ts';
import type { RuleSet } from '../../../../src/rules/rule-set.ts';
import { complete } from '../../../../src/rules/steps.ts';
import type { SetsQuery, SubjectSets } from '../../../../src/shard/shard.ts';
import { NaiveJoin } from '../../../kit/naive-join.ts';
import { type NaiveGrant, naiveModel } from '../../../kit/naive-rules.ts';
import { type CaseKind, type RandomCase, randomCase, randomOf } from '../../rules/random-rules.ts';
import {
  type Asked,
  CACHE_BYTES,
  changeSome,
  distinct,
  drawAsked,
  pickOf,
  type Refusals,
  STATES,
  unlessRefused,
} from './definition-cases.ts';
import { RuledSlot } from './ruled-slot.ts';

const CASES_MIN = 3;
const ASKED_PER_ROUND = 20;
/** How often another subject and name are drawn, so that the subject holds it somewhere. */
const DRAWS = 20;

interface Counts {
  true: number;
  false: number;
  undefined: number;
  refused: number;
  perhaps: number;
  held: number;
  groups: number;
}

const isMirrored = ({ mirror }: Join, { relation, object }: { readonly relation: string; readonly object: string }) =>
  mirror.some(({ namespace, relations }) => namespace === namespaceOf(object) && relations.includes(relation));

async function setsOf(ruled: RuledSlot, query: SetsQuery, code: readonly string[]): Promise<SubjectSets | undefined> {
  return ruled.slot.connection.readSets(ruled.handle, query).catch((error: unknown) => {
    if (error instanceof GrantdError && code.includes(error.code)) return undefined;
    throw error;
  });
}

const isNameOn = ({ relations, states, rules }: RuleSet, namespace: string, name: string): boolean =>
  [...RELATIONS, ...relations, ...states].some((relation) => relation === name) ||
  rules.some((rule) => rule.name === name && rule.namespace === namespace);

/** Whether something that is asked for the subject cannot be decided. */
function hasUndecided({ definition }: Asked, of: RandomCase, subject: string): boolean {
  const objects = [...of.objects, subject];
  return objects.some((object) =>
    of.names.some((relation) => definition.truthOf({ subject, relation, object }) === 'undefined'),
  );
}

async function compareSets(
  ruled: RuledSlot,
  drawn: Asked,
  of: RandomCase,
  random: (count: number) => number,
  what: string,
  refusals: Refusals,
  counts: Counts,
): Promise<void> {
  const pick = pickOf(random);
  const rules = new CompiledRules(of.ruleSet);
  const draw = () => ({ subject: pick(of.subjects), name: pick(of.names), namespace: pick(['document', 'folder']) });
  let { subject, name, namespace } = draw();
  const holdsSome = (): boolean =>
    of.objects.some(
      (object) => namespaceOf(object) === namespace && drawn.definition.holds({ subject, relation: name, object }),
    );
  for (let draws = 1; draws < DRAWS && !holdsSome(); draws += 1) ({ subject, name, namespace } = draw());
  const deep = random(3) === 0 ? ['folder'] : [];
  const perhaps = random(2) === 0;
  const join = complete(joinSteps(of.ruleSet, rules, { namespace, name, deep }, rules.numberOf(name) ?? 0));
  const query = { subject, namespace, name, deep, perhaps };
  if (!isNameOn(of.ruleSet, namespace, name)) {
    await assert.rejects(setsOf(ruled, query, []), { code: 'invalid-relation' });
    return;
  }
  const { contextGrants = [], context } = drawn.call;
  const wrong = contextGrants.findIndex((each) => isMirrored(join, each));
  if (wrong >= 0) {
    const message = new RegExp(`"context_grants\\[${wrong}\\]"`);
    const refused = setsOf(ruled, { ...query, ...drawn.call }, []);
    await assert.rejects(
      refused,
      (error: GrantdError) => error.code === 'invalid-request' && message.test(error.message),
    );
  }
  const added = wrong < 0 ? drawn.call : context === undefined ? {} : { context };
  const seen = wrong < 0 ? drawn.seen : drawn.seen.slice(0, drawn.seen.length - contextGrants.length);
  const undecided = hasUndecided(drawn, of, subject);
  const codes = undecided ? ['evaluation-cyclic', ...(perhaps ? [] : ['context-incomplete'])] : [];
  const sets = await unlessRefused(refusals, setsOf(ruled, { ...query, ...added }, codes));
  if (sets === undefined) {
    counts.refused += 1;
    return;
  }
  assert.equal(sets.seq, ruled.slot.tenure.lastSeq);
  assert.ok(sets.through <= sets.seq);
  assert.deepEqual(perhaps ? [] : sets.perhaps, []);
  counts.perhaps += sets.perhaps.length;
  counts.held += sets.held.length;
  counts.groups += sets.subjects.length - 1;
  const stored = seen.slice(0, seen.length - (wrong < 0 ? contextGrants.length : 0));
  const unknown = ({ condition, ...grant }: NaiveGrant): NaiveGrant =>
    condition === undefined ? grant : { ...grant, condition: 'undefined' };
  const mirrored = seen.map((grant) => (isMirrored(join, grant) ? unknown(grant) : grant));
  const model = naiveModel(of.ruleSet, seen, subject);
  const known = naiveModel(of.ruleSet, mirrored, subject);
  const naive = new NaiveJoin(join, stored, sets);
  for (const object of of.objects.filter((each) => namespaceOf(each) === namespace)) {
    const found = naive.truthOf(object);
    counts[`${found}`] += 1;
    const place: string = `${what}: ${subject} ${name} ${object}, deep ${deep}, ${JSON.stringify(sets)}`;
    if (found === 'undefined') assert.equal(known.truthOf(name, object), 'undefined', place);
    else assert.equal(found, model.truthOf(name, object), place);
  }
}

/** `share`: of the cases, from 0 to 1. */
export function testSets(share: number, kind: CaseKind): void {
  for (const { name, cold, options: given, cases: casesMax, refusal } of STATES) {
    const options = given.cacheBytesMax === undefined ? given : { ...given, cacheBytesMax: CACHE_BYTES[kind] };
    const cases = Math.max(CASES_MIN, Math.ceil(casesMax * share));
    test(`joins of the sets that a shard answers say what the rules say: ${kind}, ${name}`, async () => {
      const refusals: Refusals = { code: refusal, count: 0 };
      const counts: Counts = { true: 0, false: 0, undefined: 0, refused: 0, perhaps: 0, held: 0, groups: 0 };
      for (let seed = 1; seed <= cases; seed += 1) {
        const of = randomCase(seed, kind);
        const random = randomOf(2000 + seed);
        // Where no group is below a container, what is there need not be looked at.
        const isFlat = seed % 2 === 0;
        let grants: readonly NaiveGrant[] = distinct(of.grants).filter(
          ({ subject }) => !(isFlat && /^(?:document|folder):.*#/.test(subject)),
        );
        const ruled = await RuledSlot.open({ rules: [] }, [], options);
        await ruled.setRuleSet(of.ruleSet);
        await ruled.write(grants);
        for (const changed of [false, true]) {
          if (cold) await ruled.goCold();
          if (changed) grants = await changeSome(ruled, of, grants, random);
          for (let count = 0; count < ASKED_PER_ROUND; count += 1) {
            const asked = drawAsked(of, grants, random);
            const what = `seed ${seed}, ${changed ? 'changed' : 'before'}`;
            const again = random(1_000_000);
            // The second answer may be one that was kept.
            for (let calls = 2; calls > 0; calls -= 1)
              await compareSets(ruled, asked, of, randomOf(again), what, refusals, counts);
          }
        }
        ruled.slot.kill();
      }
      for (const each of ['true', 'false', 'held', 'groups'] as const) assert.ok(counts[each] > 0, each);
      if (kind !== 'union') assert.ok(counts.undefined + counts.refused + counts.perhaps > 0);
    });
  }
}
