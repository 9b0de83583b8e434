// Answers that are kept over commits, against the definition of what rules mean: one grant comes or goes, again and
// again, and all that was asked before is asked once more. `test/unit` runs a few of the cases, `test/property/slow`
// more.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareUtf8 } from '../../../../src/core/tuples.ts';
import type { NamedTuple } from '../../../../src/rules/questions.ts';
import type { NaiveGrant } from '../../../kit/naive-rules.ts';
import { type CaseKind, type RandomCase, randomCase, randomGrant, randomOf } from '../../rules/random-rules.ts';
import { distinct, pickOf } from './definition-cases.ts';
import { Definition, RuledSlot } from './ruled-slot.ts';

const COMMITS = 25;
const QUESTIONS = 60;
const PER_CALL = 6;
const LISTINGS = 4;
const RELATIONS = ['owner', 'editor', 'viewer', 'member', 'parent'];

/** Of each listing, to find a long one: a short one has no third page. */
const DRAWS = 40;

type Random = (count: number) => number;

const textOf = ({ subject, relation, object }: NamedTuple): string => `${subject} ${relation} ${object}`;

/** Without those that are undecided: they are refused. */
const withoutUndecided = (definition: Definition, questions: readonly NamedTuple[]): readonly NamedTuple[] =>
  questions.filter((each) => definition.truthOf(each) !== 'undefined');

/** Returns how many answers were known without an evaluation. */
async function compareChecks(
  ruled: RuledSlot,
  definition: Definition,
  questions: readonly NamedTuple[],
  what: string,
): Promise<number> {
  const decided = withoutUndecided(definition, questions);
  let known = 0;
  for (const each of decided) {
    const answer = ruled.slot.connection.checkKnown(ruled.handle, each);
    if (answer === undefined) continue;
    const authorized = typeof answer === 'boolean' ? answer : answer.authorized;
    assert.equal(authorized, definition.holds(each), `${what}, known: ${textOf(each)}`);
    known += 1;
  }
  for (let start = 0; start < decided.length; start += PER_CALL) {
    // In one half of the calls alone, and in the other half together.
    const some = decided.slice(start, start + PER_CALL);
    const calls = (start / PER_CALL) % 2 === 0 ? [some] : some.map((each) => [each]);
    for (const call of calls) {
      const { authorized } = await ruled.named(call);
      const answers = call.map((each, index) => `${textOf(each)}: ${authorized[index]}`);
      const expected = call.map((each) => `${textOf(each)}: ${definition.holds(each)}`);
      assert.deepEqual(answers, expected, what);
    }
  }
  return known;
}

async function compareListings(
  ruled: RuledSlot,
  definition: Definition,
  of: RandomCase,
  listings: readonly NamedTuple[],
  what: string,
): Promise<void> {
  for (const { subject, relation, object } of listings) {
    const places = [...new Set([...of.objects, subject])];
    const questions = places.map((each) => ({ subject, relation, object: each }));
    if (withoutUndecided(definition, questions).length < questions.length) continue;
    const expected = places.filter((each) => definition.holds({ subject, relation, object: each })).sort(compareUtf8);
    // Pages of one, of two, and of all: the first keep what the next ones need.
    for (const limit of [1, 2, 100]) {
      const found = await ruled.objects(subject, relation, limit);
      assert.deepEqual(found, expected, `${what}: objects of ${subject} ${relation} by ${limit}`);
    }
    if (definition.hasGates) continue;
    const whole = await ruled.holders(object, relation, 100);
    for (const each of whole) {
      assert.ok(definition.holds({ subject: each, relation, object }), `${what}: ${each} ${relation} ${object}`);
    }
    for (const each of of.subjects) {
      const isListed = whole.includes(each) || each.startsWith(`${object}#`) || definition.isOneOfAll(each);
      assert.ok(isListed || !definition.holds({ subject: each, relation, object }) || whole.includes('*'), what);
    }
    assert.deepEqual(await ruled.holders(object, relation, 1), whole, `${what}: holders of ${object} by 1`);
  }
}

function changed(of: RandomCase, grants: readonly NaiveGrant[], random: Random) {
  const pick = pickOf(random);
  const isRevoked = grants.length > 0 && random(2) === 0;
  const grant = isRevoked ? pick(grants) : randomGrant(random, of, RELATIONS);
  return { grant, isRevoked };
}

/** `seeds`: of random cases, from 1 on. */
export function testKeptAnswers(kind: CaseKind, seeds: number): void {
  test(`answers are kept over commits that cannot change them, and no others: ${kind}`, async () => {
    let known = 0;
    let asked = 0;
    for (let seed = 1; seed <= seeds; seed += 1) {
      const of = randomCase(seed, kind);
      const random = randomOf(5000 + seed);
      const pick = pickOf(random);
      let grants = distinct(of.grants);
      const ruled = await RuledSlot.open({ rules: [] }, [], {});
      await ruled.setRuleSet(of.ruleSet);
      await ruled.write(grants);
      const question = (): NamedTuple => ({
        subject: pick(of.subjects),
        relation: pick(of.names),
        object: pick(of.objects),
      });
      const questions = Array.from({ length: QUESTIONS }, question);
      const first = new Definition(of.ruleSet, grants);
      const lengthOf = ({ subject, relation }: NamedTuple): number =>
        of.objects.filter((object) => first.holds({ subject, relation, object })).length;
      const listings = Array.from({ length: LISTINGS }, () => {
        const drawn = Array.from({ length: DRAWS }, question);
        return drawn.reduce((longest, each) => (lengthOf(each) > lengthOf(longest) ? each : longest));
      });
      for (let commit = 0; commit < COMMITS; commit += 1) {
        const what = `seed ${seed}, after ${commit} commits`;
        const definition = new Definition(of.ruleSet, grants);
        known += await compareChecks(ruled, definition, questions, what);
        asked += questions.length;
        await compareListings(ruled, definition, of, listings, what);
        const { grant, isRevoked } = changed(of, grants, random);
        await ruled.write([grant], isRevoked);
        const others = grants.filter((each) => textOf(each) !== textOf(grant));
        grants = isRevoked ? others : [...others, grant];
      }
      ruled.slot.kill();
    }
    assert.ok(known > asked / 3, `${known} of ${asked} answers were known`);
  });
}
