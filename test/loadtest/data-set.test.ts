// The grants of a load test and the questions about them: every answer that is expected follows from the grants.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  grantAt,
  listing,
  negativeQuestion,
  positiveQuestion,
  question,
  type Tuple,
  writtenTuple,
} from '../../loadtest/data-set.ts';
import { paretoIndex } from '../../loadtest/pareto.ts';
import { isIdentifier, isRelation } from '../../src/core/tuples.ts';

const GRANTS = 200;
const TRIES = 5000;

/** The same numbers at every run, all over the range. */
function createRandom(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const textOf = ({ subject, relation, object }: Tuple): string => `${subject} ${relation} ${object}`;
const grants = Array.from({ length: GRANTS }, (_, number) => grantAt(number));
const granted = new Set(grants.map(textOf));

describe('the grants of a load test', () => {
  it('are all different, and well-formed', () => {
    assert.equal(granted.size, GRANTS);
    for (const { subject, relation, object } of [...grants, writtenTuple(1)]) {
      assert.ok(isIdentifier(subject) && isRelation(relation) && isIdentifier(object));
    }
  });

  it('leave alone what is written meanwhile', () => {
    const subjects = new Set(grants.map(({ subject }) => subject));
    assert.notEqual(writtenTuple(1).object, writtenTuple(2).object);
    assert.ok(!subjects.has(writtenTuple(0).subject));
  });
});

describe('a question', () => {
  it('expects what the grants say', () => {
    const random = createRandom();
    for (const [ask, authorized] of [
      [positiveQuestion, true],
      [negativeQuestion, false],
    ] as const) {
      for (let each = 0; each < TRIES; each += 1) {
        const asked = ask(GRANTS, random);
        assert.equal(asked.authorized, authorized);
        assert.equal(granted.has(textOf(asked.tuple)), authorized, textOf(asked.tuple));
      }
    }
  });

  it('is about every grant in the end, and half of all are positive', () => {
    const random = createRandom();
    const all = Array.from({ length: TRIES }, () => question(GRANTS, random));
    const positive = all.filter(({ authorized }) => authorized);
    assert.equal(new Set(positive.map(({ tuple }) => textOf(tuple))).size, GRANTS);
    assert.ok(Math.abs(positive.length / TRIES - 0.5) < 0.05);
  });

  it('that is negative has half the time a subject and an object that belong together', () => {
    const random = createRandom();
    const pairs = new Set(grants.map(({ subject, object }) => `${subject} ${object}`));
    const all = Array.from({ length: TRIES }, () => negativeQuestion(GRANTS, random).tuple);
    const related = all.filter(({ subject, object }) => pairs.has(`${subject} ${object}`));
    assert.ok(Math.abs(related.length / TRIES - 0.5) < 0.05);
  });

  it('stays within ten grants, the fewest that a tenant has', () => {
    const ten = new Set(grants.slice(0, 10).map(textOf));
    const random = createRandom();
    for (let each = 0; each < TRIES; each += 1) assert.ok(ten.has(textOf(positiveQuestion(10, random).tuple)));
  });
});

describe('a listing', () => {
  it('expects the objects of its subject, in the order of their bytes', () => {
    const random = createRandom();
    for (let each = 0; each < TRIES; each += 1) {
      const { subject, relation, objects } = listing(GRANTS, random);
      const own = grants.filter((tuple) => tuple.subject === subject && tuple.relation === relation);
      assert.deepEqual(objects, own.map(({ object }) => object).sort());
    }
  });
});

describe('the tenant that asks', () => {
  const COUNT = 10_000;
  const indexes = (shape: number): number[] =>
    Array.from({ length: 100_000 }, (_, each) => paretoIndex(COUNT, shape, each / 100_000));
  const shareOfFirst = (part: number, all: readonly number[]): number =>
    all.filter((index) => index < COUNT * part).length / all.length;

  it('is one of the first fifth four times of five', () => {
    assert.ok(Math.abs(shareOfFirst(0.2, indexes(1.16)) - 0.8) < 0.01);
  });

  it('is more evenly chosen with a greater shape', () => {
    assert.ok(shareOfFirst(0.2, indexes(3)) < 0.4);
  });

  it('is always one that there is, and may be any', () => {
    const all = indexes(1.16);
    assert.ok(all.every((index) => Number.isInteger(index) && index >= 0 && index < COUNT));
    assert.equal(Math.min(...all), 0);
    assert.ok(Math.max(...all) > COUNT - 10);
    assert.equal(paretoIndex(COUNT, 1.16, 1 - 2 ** -53), COUNT - 1);
  });
});
