// The grants of a load test and the questions about them: every answer that is expected follows from the grants.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { grantAt, listing, negativeQuestion, positiveQuestion, question, type Tuple } from '../../loadtest/data-set.ts';

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
