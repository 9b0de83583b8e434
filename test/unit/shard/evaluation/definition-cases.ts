// Checks, reasons and listings of a shard against the definition of what rules mean, whatever part of the grants is in
// memory: everything, nothing, single tuples of entities that are too large, what a small budget leaves.
// `test/unit` runs a few of the cases, `test/property/slow` all.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CallContext, hasContext } from '../../../../src/core/call-context.ts';
import { GrantdError } from '../../../../src/core/errors.ts';
import { columnsBy, compareUtf8, EVERY_SUBJECT, isRelation, relationNumber } from '../../../../src/core/tuples.ts';
import type { NamedTuple } from '../../../../src/rules/questions.ts';
import type { NamedAnswer } from '../../../../src/shard/shard.ts';
import type { NaiveGrant, Truth } from '../../../kit/naive-rules.ts';
import { type CaseKind, type RandomCase, randomCase, randomGrant, randomOf } from '../../rules/random-rules.ts';
import type { SlotOptions } from '../tools.ts';
import { conditionText, Definition, RuledSlot, relationOf } from './ruled-slot.ts';

/** Evicts pages of each kind of cases, and lets most calls through: the kinds read more and more. */
export const CACHE_BYTES: Readonly<Record<CaseKind, number>> = { union: 65_000, conditions: 80_000, whole: 120_000 };

export const STATES: readonly { name: string; cold: boolean; options: SlotOptions; cases: number; refusal?: string }[] =
  [
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
      options: { cacheBytesMax: CACHE_BYTES.whole },
      cases: 8,
      // A call whose pages together exceed the budget.
      refusal: 'overloaded',
    },
  ];
/** Of each state: a single case may hardly have an answer of yes. */
const CASES_MIN = 2;
/** Of one question in two: how often another is drawn that is answered with no. */
const DRAWS = 20;
const ROUNDS = 2;
const QUESTIONS = 120;
const CHECKS_PER_CALL = 12;
const SINGLES = 12;
const LISTINGS = 6;

type Random = (count: number) => number;
export const pickOf =
  (random: Random) =>
  <Item>(items: readonly Item[]): Item => {
    const item = items[random(items.length)];
    assert.ok(item !== undefined);
    return item;
  };

/** What a state of memory may be too small for. Never a wrong answer. */
export interface Refusals {
  readonly code: string | undefined;
  count: number;
}

export async function unlessRefused<Result>(refusals: Refusals, call: Promise<Result>): Promise<Result | undefined> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof GrantdError) || error.code !== refusals.code) throw error;
    refusals.count += 1;
    return undefined;
  }
}

/** What a call brings along, and the grants that it sees. */
export interface Asked {
  readonly call: CallContext;
  readonly definition: Definition;
  /** These, with the values of their conditions under the call. */
  readonly seen: readonly NaiveGrant[];
}

/** Of one call in three, nothing. */
export function drawAsked(of: RandomCase, grants: readonly NaiveGrant[], random: Random): Asked {
  const pick = pickOf(random);
  const hasConditions = of.ruleSet.conditions.length > 0;
  const sent = hasConditions ? pick<Truth>(['undefined', true, false]) : 'undefined';
  const seen = (grant: NaiveGrant): NaiveGrant =>
    grant.condition === 'undefined' ? { ...grant, condition: sent } : grant;
  const added: NaiveGrant[] = Array.from({ length: hasConditions && random(2) === 0 ? 1 + random(4) : 0 }, () => {
    const condition = pick<Truth | 'none'>(['none', 'none', true, false, 'undefined']);
    const grant = randomGrant(random, of, ['editor', 'viewer', 'member', 'parent']);
    return condition === 'none' ? grant : { ...grant, condition };
  });
  const contextGrants = added.map(({ condition, relation, ...grant }) => ({
    ...grant,
    relation: relationOf(relation),
    ...(condition === undefined ? {} : { condition: conditionText(condition) }),
  }));
  const call = {
    ...(sent === 'undefined' ? {} : { context: `{"allowed":${sent}}` }),
    ...(contextGrants.length === 0 ? {} : { contextGrants }),
  };
  const all = [...grants, ...added].map(seen);
  return { call, definition: new Definition(of.ruleSet, all), seen: all };
}

/** Of what hangs on a missing parameter, or on its own `but_not`. */
const UNDECIDED = ['context-incomplete', 'evaluation-cyclic'];

const textOf = ({ subject, relation, object }: NamedTuple): string => `${subject} ${relation} ${object}`;

/** The result, or undefined where it was refused as undecided. */
const orUndecided = <Result>(call: Promise<Result>): Promise<Result | undefined> =>
  call.catch((error: unknown) => {
    if (error instanceof GrantdError && UNDECIDED.includes(error.code)) return undefined;
    throw error;
  });

async function assertUndecided(call: Promise<NamedAnswer>): Promise<void> {
  const answered = await orUndecided(call);
  assert.equal(answered, undefined, 'what cannot be decided is refused');
}

async function compareChecks(
  ruled: RuledSlot,
  { call, definition }: Asked,
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
  const drawn = Array.from({ length: QUESTIONS }, (_, index) => {
    let each = question();
    for (let draws = 1; index % 2 === 0 && draws < DRAWS && !definition.holds(each); draws += 1) each = question();
    return each;
  });
  const undecided = drawn.filter((each) => definition.truthOf(each) === 'undefined');
  for (const each of undecided.slice(0, SINGLES)) {
    await unlessRefused(refusals, assertUndecided(ruled.named([each], random(2) === 0, false, call)));
  }
  const questions = drawn.filter((each) => !undecided.includes(each));
  const expected = (asked: readonly NamedTuple[]) => asked.map((each) => `${textOf(each)}: ${definition.holds(each)}`);
  const described = (asked: readonly NamedTuple[], answers: readonly boolean[]) =>
    asked.map((each, index) => `${textOf(each)}: ${answers[index]}`);
  for (let start = 0; start < questions.length; start += CHECKS_PER_CALL) {
    const some = questions.slice(start, start + CHECKS_PER_CALL);
    const several = await unlessRefused(refusals, ruled.named(some, false, false, call));
    if (several !== undefined)
      assert.deepEqual(described(some, several.authorized), expected(some), `${what}, several`);
    if (hasContext(call)) continue;
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
    if (number !== undefined && !hasContext(call)) {
      const answer = await ruled.slot.connection.check(ruled.handle, subject, number, object);
      const authorized = typeof answer === 'boolean' ? answer : answer.authorized;
      assert.equal(authorized, definition.holds(each), `${what}, alone: ${textOf(each)}`);
    }
    const explained = await unlessRefused(refusals, ruled.named([each], true, false, call));
    if (explained === undefined) continue;
    const { authorized, because } = explained;
    assert.deepEqual(authorized, [definition.holds(each)], `${what}, explained: ${textOf(each)}`);
    if (definition.hasGates || of.ruleSet.conditions.length > 0) continue;
    if (authorized[0] === true) definition.assertChain(each, because[0] ?? []);
    else assert.deepEqual(because, [[]]);
  }
  return questions.filter((each) => definition.holds(each)).length;
}

/** The subject of states is of each namespace. */
const isIn = (namespace: string | undefined, text: string): boolean =>
  namespace === undefined || text === EVERY_SUBJECT || text.startsWith(`${namespace}:`);

/** Listings of grants alone. */
async function compareDirect(
  ruled: RuledSlot,
  { call, definition }: Pick<Asked, 'call' | 'definition'>,
  { subject, object, relation }: NamedTuple,
  { limit, namespace }: { readonly limit: number; readonly namespace: string | undefined },
  what: string,
  refusals: Refusals,
): Promise<void> {
  if (!definition.isGrantable(relation)) return;
  const direct = { ...call, direct: true };
  const lists = [
    ['subject', subject, () => ruled.objects(subject, relation, limit, namespace, direct)],
    ['object', object, () => ruled.holders(object, relation, limit, namespace, false, [], direct)],
  ] as const;
  for (const [side, entity, list] of lists) {
    const listed = (value: true | 'undefined') =>
      definition.counterparts(side, entity, relation, value).filter((text) => isIn(namespace, text));
    const isUndecided = listed('undefined').length > 0;
    const granted = await unlessRefused(refusals, isUndecided ? orUndecided(list()) : list());
    if (isUndecided) assert.equal(granted, undefined, `${what}: what is granted cannot be decided`);
    else if (granted !== undefined) {
      const expected = listed(true).sort(compareUtf8);
      assert.deepEqual(granted, expected, `${what}: grants of the ${side} ${entity}, ${relation}`);
    }
  }
}

async function compareListings(
  ruled: RuledSlot,
  { call, definition }: Asked,
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
    const inNamespace = (text: string) => isIn(namespace, text);
    const isUndefined = (each: NamedTuple): boolean => definition.truthOf(each) === 'undefined';
    const unlessUndecided = async <Result>(listed: Promise<Result>, possible: boolean): Promise<Result | undefined> =>
      unlessRefused(refusals, possible ? orUndecided(listed) : listed);
    // By `self`, a subject holds names on itself.
    const places = [...new Set([...of.objects, subject])];
    const objects = places.filter((each) => definition.holds({ subject, relation, object: each }));
    const objectsUndecided = places.some((each) => isUndefined({ subject, relation, object: each }));
    const found = await unlessUndecided(ruled.objects(subject, relation, limit, namespace, call), objectsUndecided);
    const all = objects.filter(inNamespace).sort(compareUtf8);
    if (found !== undefined) assert.deepEqual(found, all, `${what}: objects of ${subject} ${relation}`);
    await compareDirect(
      ruled,
      { call, definition },
      { subject, object, relation },
      { limit, namespace },
      what,
      refusals,
    );
    const place = `${what}: who is ${relation} of ${object}`;
    const includeSelf = random(2) === 0;
    const excluded: string[] = [];
    const holdersUndecided = [...of.subjects, 'user:*', 'folder:*', 'document:*', EVERY_SUBJECT].some((each) =>
      isUndefined({ subject: each, relation, object }),
    );
    const holders = ruled.holders(object, relation, limit, namespace, includeSelf, excluded, call);
    const listed = await unlessUndecided(holders, definition.hasGates || holdersUndecided);
    if (listed === undefined) continue;
    for (const each of excluded) {
      const question = { subject: each, relation, object };
      const isForAll = definition.isOneOfAll(each) || definition.holds({ ...question, subject: EVERY_SUBJECT });
      assert.ok(isForAll && !definition.holds(question), `${place}: ${each} is excluded`);
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
      const includes: boolean =
        listed.includes(EVERY_SUBJECT) || (definition.isOneOfAll(each) && listed.includes(everybody));
      const isForAll: boolean = includes && !excluded.includes(each);
      const isListed: boolean = listed.includes(each) || isForAll;
      assert.equal(isListed, definition.holds({ subject: each, relation, object }), `${place}: ${each}`);
    }
  }
}

/** Some grants come, some go. */
export async function changeSome(ruled: RuledSlot, of: RandomCase, grants: readonly NaiveGrant[], random: Random) {
  const left = grants.filter(() => random(4) > 0);
  const come = Array.from({ length: 4 }, () =>
    randomGrant(random, of, ['owner', 'editor', 'viewer', 'member', 'parent']),
  );
  await ruled.write(
    grants.filter((each) => !left.includes(each)),
    true,
  );
  await ruled.write(come);
  return distinct([...left, ...come]);
}

export const distinct = (grants: readonly NaiveGrant[]): NaiveGrant[] => [
  ...new Map(grants.map((each) => [textOf(each), each])).values(),
];

/** `share`: of the cases, from 0 to 1. */
export function testDefinition(share: number, kind: CaseKind = 'union'): void {
  for (const { name, cold, options: given, cases: casesMax, refusal } of STATES) {
    const options = given.cacheBytesMax === undefined ? given : { ...given, cacheBytesMax: CACHE_BYTES[kind] };
    const cases = Math.max(CASES_MIN, Math.ceil(casesMax * share));
    test(`a shard answers as the definition of rules does: ${kind}, ${name}`, async () => {
      const refusals: Refusals = { code: refusal, count: 0 };
      const listingRefusals = refusal === 'overloaded' ? refusals : { code: undefined, count: 0 };
      let authorized = 0;
      let evicted = 0;
      for (let seed = 1; seed <= cases; seed += 1) {
        const of = randomCase(seed, kind);
        const random = randomOf(1000 + seed);
        let grants: readonly NaiveGrant[] = distinct(of.grants);
        const ruled = await RuledSlot.open({ rules: [] }, [], options);
        await ruled.setRuleSet(of.ruleSet);
        await ruled.write(grants);
        for (let round = 0; round < ROUNDS; round += 1) {
          if (cold) await ruled.goCold();
          const compareAll = async (what: string, listsAfter: boolean): Promise<void> => {
            const questions = random(1_000_000);
            // The same questions once more: no answer to one call is that to another.
            for (let calls = kind === 'union' ? 1 : 2; calls > 0; calls -= 1) {
              const asked = drawAsked(of, grants, random);
              const sameRandom = randomOf(questions);
              if (!listsAfter) await compareListings(ruled, asked, sameRandom, of, what, listingRefusals);
              authorized += await compareChecks(ruled, asked, randomOf(questions), of, what, refusals);
              if (listsAfter) await compareListings(ruled, asked, sameRandom, of, what, listingRefusals);
            }
          };
          await compareAll(`seed ${seed}, round ${round}`, round === 0);
          grants = await changeSome(ruled, of, grants, random);
          await compareAll(`seed ${seed}, round ${round}, changed`, true);
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
