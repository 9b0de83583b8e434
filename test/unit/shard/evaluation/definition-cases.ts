// Checks, reasons and listings of a shard against the definition of what rules mean, whatever part of the grants is in
// memory: everything, nothing, single tuples of entities that are too large, what a small budget leaves.
// `test/unit` runs a few of the cases, `test/property` all.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import { columnsBy, compareUtf8, isRelation, relationNumber } from '../../../../src/core/tuples.ts';
import type { NamedTuple } from '../../../../src/rules/questions.ts';
import type { NaiveGrant } from '../../../kit/naive-rules.ts';
import { type RandomCase, randomCase, randomOf } from '../../rules/random-rules.ts';
import type { SlotOptions } from '../tools.ts';
import { Definition, RuledSlot, relationOf } from './ruled-slot.ts';

const STATES: readonly { name: string; cold: boolean; options: SlotOptions; cases: number; refusal?: string }[] = [
  { name: 'everything in memory', cold: false, options: {}, cases: 25 },
  { name: 'nothing in memory', cold: true, options: {}, cases: 25 },
  {
    name: 'pages that are read in parts',
    cold: true,
    options: { pageLimits: { rowsPerRead: 1, readsBeforeWhole: 1_000_000 } },
    cases: 25,
  },
  {
    name: 'entities too large for a page',
    cold: true,
    options: { pageLimits: { rowsMax: 2, rowsPerRead: 1, rowsPerListing: 2 } },
    cases: 8,
    // Checks do not follow the groups of an object that is too large for a page. Listings do.
    refusal: 'evaluation-too-large',
  },
  {
    name: 'a budget that evicts',
    cold: true,
    options: { cacheBytesMax: 100_000 },
    cases: 8,
    // A call whose pages together exceed the budget.
    refusal: 'overloaded',
  },
];
/** Of one question in two: how often another is drawn that is answered with no. */
const DRAWS = 20;
const ROUNDS = 2;
const QUESTIONS = 120;
const CHECKS_PER_CALL = 12;
const SINGLES = 12;
const LISTINGS = 6;

type Random = (count: number) => number;
const pickOf =
  (random: Random) =>
  <Item>(items: readonly Item[]): Item => {
    const item = items[random(items.length)];
    assert.ok(item !== undefined);
    return item;
  };

/** What a state of memory may be too small for. Never a wrong answer. */
interface Refusals {
  readonly code: string | undefined;
  count: number;
}

async function unlessRefused<Result>(refusals: Refusals, call: Promise<Result>): Promise<Result | undefined> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof GrantdError) || error.code !== refusals.code) throw error;
    refusals.count += 1;
    return undefined;
  }
}

const textOf = ({ subject, relation, object }: NamedTuple): string => `${subject} ${relation} ${object}`;

async function compareChecks(
  ruled: RuledSlot,
  definition: Definition,
  random: Random,
  of: RandomCase,
  what: string,
  refusals: Refusals,
): Promise<number> {
  const pick = pickOf(random);
  const question = (): NamedTuple => ({
    subject: pick(of.subjects),
    relation: pick(of.names),
    object: pick(of.objects),
  });
  const questions = Array.from({ length: QUESTIONS }, (_, index) => {
    let drawn = question();
    for (let draws = 1; index % 2 === 0 && draws < DRAWS && !definition.holds(drawn); draws += 1) drawn = question();
    return drawn;
  }).filter((each) => definition.truthOf(each) !== 'undefined');
  const expected = (asked: readonly NamedTuple[]) => asked.map((each) => `${textOf(each)}: ${definition.holds(each)}`);
  const described = (asked: readonly NamedTuple[], answers: readonly boolean[]) =>
    asked.map((each, index) => `${textOf(each)}: ${answers[index]}`);
  for (let start = 0; start < questions.length; start += CHECKS_PER_CALL) {
    const some = questions.slice(start, start + CHECKS_PER_CALL);
    const several = await unlessRefused(refusals, ruled.named(some));
    if (several !== undefined)
      assert.deepEqual(described(some, several.authorized), expected(some), `${what}, several`);
    const built = some.filter(({ relation }) => isRelation(relation));
    const columns = columnsBy(
      built.map((each) => ({ ...each, relation: relationOf(each.relation) })),
      (relation) => relationNumber(relation) ?? 0,
    );
    const bulk = await unlessRefused(refusals, ruled.slot.connection.checkBulk(ruled.handle, columns));
    if (bulk !== undefined) assert.deepEqual(described(built, bulk.authorized), expected(built), `${what}, in bulk`);
  }
  for (const each of questions.slice(0, SINGLES)) {
    const { subject, relation, object } = each;
    const number = relationNumber(relation);
    if (number !== undefined) {
      const answer = await ruled.slot.connection.check(ruled.handle, subject, number, object);
      const authorized = typeof answer === 'boolean' ? answer : answer.authorized;
      assert.equal(authorized, definition.holds(each), `${what}, alone: ${textOf(each)}`);
    }
    const explained = await unlessRefused(refusals, ruled.named([each], true));
    if (explained === undefined) continue;
    const { authorized, because } = explained;
    assert.deepEqual(authorized, [definition.holds(each)], `${what}, explained: ${textOf(each)}`);
    if (definition.hasGates) continue;
    if (authorized[0] === true) definition.assertChain(each, because[0] ?? []);
    else assert.deepEqual(because, [[]]);
  }
  return questions.filter((each) => definition.holds(each)).length;
}

async function compareListings(
  ruled: RuledSlot,
  definition: Definition,
  random: Random,
  of: RandomCase,
  what: string,
  refusals: Refusals,
): Promise<void> {
  const pick = pickOf(random);
  for (let count = 0; count < LISTINGS; count += 1) {
    const [subject, object, relation] = [pick(of.subjects), pick(of.objects), pick(of.names)];
    const limit = 1 + random(3);
    const namespace = random(2) === 0 ? undefined : pick(['user', 'group', 'folder', 'document', 'us']);
    const inNamespace = (text: string) => namespace === undefined || text.startsWith(`${namespace}:`);
    const isUndefined = (each: NamedTuple): boolean => definition.truthOf(each) === 'undefined';
    const cyclic: Refusals = { code: 'evaluation-cyclic', count: 0 };
    const unlessCyclic = async <Result>(call: Promise<Result>, possible: boolean): Promise<Result | undefined> =>
      possible ? unlessRefused(cyclic, unlessRefused(refusals, call)) : unlessRefused(refusals, call);
    const objects = of.objects.filter((each) => definition.holds({ subject, relation, object: each }));
    const objectsCyclic = of.objects.some((each) => isUndefined({ subject, relation, object: each }));
    const found = await unlessCyclic(ruled.objects(subject, relation, limit, namespace), objectsCyclic);
    const all = objects.filter(inNamespace).sort(compareUtf8);
    if (found !== undefined) assert.deepEqual(found, all, `${what}: objects of ${subject} ${relation}`);
    const place = `${what}: who is ${relation} of ${object}`;
    const includeSelf = random(2) === 0;
    const excluded: string[] = [];
    const holdersCyclic = [...of.subjects, 'user:*', 'folder:*', 'document:*'].some((each) =>
      isUndefined({ subject: each, relation, object }),
    );
    const call = ruled.holders(object, relation, limit, namespace, includeSelf, excluded);
    const listed = await unlessCyclic(call, definition.hasGates || holdersCyclic);
    if (listed === undefined) continue;
    for (const each of excluded) {
      const question = { subject: each, relation, object };
      assert.ok(definition.isOneOfAll(each) && !definition.holds(question), `${place}: ${each} is excluded`);
    }
    assert.deepEqual(listed, [...new Set(listed)].sort(compareUtf8), place);
    for (const each of listed) {
      assert.ok(inNamespace(each) && definition.holds({ subject: each, relation, object }), `${place}: ${each}`);
    }
    for (const each of of.subjects.filter(inNamespace)) {
      if (!includeSelf && each.startsWith(`${object}#`)) {
        assert.ok(definition.isGranted(each) || !listed.includes(each), `${place}: ${each} of its own`);
        continue;
      }
      const everybody = `${each.slice(0, each.indexOf(':'))}:*`;
      const isForAll: boolean = definition.isOneOfAll(each) && listed.includes(everybody) && !excluded.includes(each);
      const isListed: boolean = listed.includes(each) || isForAll;
      assert.equal(isListed, definition.holds({ subject: each, relation, object }), `${place}: ${each}`);
    }
  }
}

/** Some grants come, some go. */
async function changeSome(ruled: RuledSlot, of: RandomCase, grants: readonly NaiveGrant[], random: Random) {
  const pick = pickOf(random);
  const left = grants.filter(() => random(4) > 0);
  const come = Array.from({ length: 4 }, () => ({
    subject: pick(of.subjects),
    relation: pick(['owner', 'editor', 'viewer', 'member', 'parent']),
    object: pick(of.objects),
  }));
  await ruled.write(
    grants.filter((each) => !left.includes(each)),
    true,
  );
  await ruled.write(come);
  return distinct([...left, ...come]);
}

const distinct = (grants: readonly NaiveGrant[]): NaiveGrant[] => [
  ...new Map(grants.map((each) => [textOf(each), each])).values(),
];

/** With built-in relations in place of own ones, and without conditions. */
function gatesOf(of: RandomCase): RandomCase {
  const text = JSON.stringify(of).replaceAll('approver', 'owner').replaceAll('blocked', 'guest');
  const { ruleSet, grants, ...rest }: RandomCase = JSON.parse(text);
  return {
    ...rest,
    ruleSet: { ...ruleSet, relations: [], conditions: [] },
    grants: grants.filter(({ condition }) => condition !== false).map(({ condition: _, ...grant }) => grant),
  };
}

/** `share`: of the cases, from 0 to 1. */
export function testDefinition(share: number, kind: 'union' | 'gates' = 'union'): void {
  for (const { name, cold, options, cases: casesMax, refusal } of STATES) {
    const cases = Math.ceil(casesMax * share);
    test(`a shard answers as the definition of rules does: ${kind}, ${name}`, async () => {
      const refusals: Refusals = { code: refusal, count: 0 };
      const listingRefusals = refusal === 'overloaded' ? refusals : { code: undefined, count: 0 };
      let authorized = 0;
      let evicted = 0;
      for (let seed = 1; seed <= cases; seed += 1) {
        const of = kind === 'union' ? randomCase(seed) : gatesOf(randomCase(seed, 'whole'));
        const random = randomOf(1000 + seed);
        let grants: readonly NaiveGrant[] = distinct(of.grants);
        const ruled = await RuledSlot.open({ rules: [] }, grants, options);
        await ruled.setRuleSet(of.ruleSet);
        for (let round = 0; round < ROUNDS; round += 1) {
          if (cold) await ruled.goCold();
          const definition = new Definition(of.ruleSet, grants);
          const what = `seed ${seed}, round ${round}`;
          if (round === 1) await compareListings(ruled, definition, random, of, what, listingRefusals);
          authorized += await compareChecks(ruled, definition, random, of, what, refusals);
          grants = await changeSome(ruled, of, grants, random);
          const changed = new Definition(of.ruleSet, grants);
          authorized += await compareChecks(ruled, changed, random, of, `${what}, changed`, refusals);
          await compareListings(ruled, changed, random, of, `${what}, changed`, listingRefusals);
        }
        evicted += ruled.slot.budget.evictions;
        ruled.slot.kill();
      }
      assert.ok(options.cacheBytesMax === undefined || evicted > 0, 'pages were evicted');
      assert.ok(refusals.count < 10 * cases, `${refusals.count} calls were refused`);
      assert.ok(authorized > 20 * cases, `only ${authorized} checks were authorized`);
    });
  }
}
