// Answers under rules that are kept: until what they rest on changes, within their bounds, as part of the budget.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { AnswerCache } from '../../../../src/shard/memory/answer-cache.ts';
import { GrantReads } from '../../../../src/shard/memory/grant-reads.ts';
import { MemoryBudget } from '../../../../src/shard/memory/memory-budget.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

const MIB = 1024 * 1024;
const BUDGET_BYTES = 64 * MIB;
/** Of one tenant. */
const ANSWERS_BYTES_MAX = MIB;

function create() {
  const budget = new MemoryBudget(BUDGET_BYTES, new FairTurns(new VirtualClock()));
  return { budget, answers: new AnswerCache(budget) };
}

const VIEWER = 3;

const readsOf = (...tuples: readonly (readonly [string, string])[]) => {
  const reads = new GrantReads(10_000);
  for (const [subject, object] of tuples) reads.tuple(subject, object);
  return [reads];
};

test('an answer goes with a commit of a grant that it rests on, and others stay', () => {
  const { answers } = create();
  const keep = (): void => {
    answers.keepCheck('both', true, [...readsOf(['user:a', 'doc:1']), ...readsOf(['user:a', 'team:1'])]);
    answers.keepCheck('other', false, readsOf(['user:b', 'doc:1']));
    answers.keepCheck('any', true);
    answers.keepPage('both', ['doc:1'], readsOf(['user:a', 'doc:1'], ['user:a', 'team:1']));
    answers.keepPage('other', ['doc:2'], readsOf(['user:b', 'doc:1']));
  };
  for (const object of ['doc:1', 'team:1']) {
    keep();
    answers.commit('user:c', VIEWER, 'doc:1');
    assert.deepEqual([answers.check('both'), answers.check('other'), answers.check('any')], [true, false, undefined]);
    assert.deepEqual([answers.page('both'), answers.page('other')], [['doc:1'], ['doc:2']]);
    answers.commit('user:a', VIEWER, object);
    assert.deepEqual([answers.check('both'), answers.check('other')], [undefined, false]);
    assert.deepEqual([answers.page('both'), answers.page('other')], [undefined, ['doc:2']]);
  }
  keep();
  answers.clear();
  assert.deepEqual([answers.check('other'), answers.page('other')], [undefined, undefined]);
});

test('an answer rests on its grants wherever it is kept', () => {
  const { answers } = create();
  for (let number = 0; number < 50_000; number += 1) {
    const subject = `user:${number}`;
    answers.keepCheck(subject, true, readsOf([subject, 'doc:1'], [subject, 'doc:2']));
    answers.keepPage(subject, [subject], readsOf([subject, 'doc:1'], [subject, 'doc:2']));
    const earlier = `user:${number - 900}`;
    // Of these, some are in the old generation, and move to the young one.
    if (number % 1000 === 999) {
      answers.commit(earlier, VIEWER, 'doc:2');
      assert.equal(answers.check(earlier), undefined, earlier);
      assert.equal(answers.page(earlier), undefined, earlier);
      assert.equal(answers.check(`user:${number - 899}`), true);
    }
    if (number % 1000 === 500) {
      assert.equal(answers.check(`user:${number - 200}`), true);
      answers.commit(`user:${number - 200}`, VIEWER, 'doc:1');
      assert.equal(answers.check(`user:${number - 200}`), undefined);
    }
  }
});

test('an answer that rests on too much is kept until the next commit', () => {
  const { answers } = create();
  const many = Array.from({ length: 6000 }, (_, number) => ['user:a', `doc:${number}`] as const);
  answers.keepCheck('many', true, readsOf(...many));
  answers.keepPage('many', ['doc:1'], readsOf(...many));
  assert.deepEqual([answers.check('many'), answers.page('many')], [true, ['doc:1']]);
  answers.commit('user:z', VIEWER, 'doc:z');
  assert.deepEqual([answers.check('many'), answers.page('many')], [undefined, undefined]);
});

test('an answer is kept until rules change, and costs nothing afterwards', () => {
  const { budget, answers } = create();
  assert.equal(answers.check('1 user:a doc:1'), undefined);
  answers.keepCheck('1 user:a doc:1', true);
  answers.keepCheck('1 user:b doc:1', false);
  answers.keepPage('objects user:a', ['doc:1']);
  assert.equal(answers.check('1 user:a doc:1'), true);
  assert.equal(answers.check('1 user:b doc:1'), false);
  assert.deepEqual(answers.page('objects user:a'), ['doc:1']);
  assert.ok(budget.pageBytes > 0);
  answers.clear();
  assert.equal(answers.check('1 user:a doc:1'), undefined);
  assert.equal(answers.check('1 user:b doc:1'), undefined);
  assert.equal(answers.page('objects user:a'), undefined);
  assert.equal(budget.pageBytes, 0);
});

test('frequent answers stay and the others are evicted, within the bytes of a tenant', () => {
  const { budget, answers } = create();
  answers.keepCheck('often', true);
  answers.keepPage('often', ['doc:1']);
  for (let number = 0; number < 100_000; number += 1) {
    answers.keepCheck(`1 user:${number} doc:${number}`, number % 2 === 0);
    assert.equal(answers.check('often'), true);
    if (number % 1000 === 0) assert.deepEqual(answers.page('often'), ['doc:1']);
    assert.ok(budget.pageBytes <= ANSWERS_BYTES_MAX + 1000);
  }
  assert.equal(answers.check('1 user:0 doc:0'), undefined);
  assert.equal(answers.check('1 user:99999 doc:99999'), false);
});

test('a page that is too large is not kept', () => {
  const { budget, answers } = create();
  answers.keepPage(
    'objects user:a',
    Array.from({ length: 1000 }, (_, number) => `doc:${'x'.repeat(250)}${number}`),
  );
  assert.equal(answers.page('objects user:a'), undefined);
  assert.equal(budget.pageBytes, 0);
});

test('the budget evicts it like a page, and it continues', () => {
  const { budget, answers } = create();
  for (let number = 0; number < 1000; number += 1) answers.keepCheck(`1 user:${number} doc:1`, true);
  // Pages keep a quarter of the budget, so the rest must be pages for the hand to need their bytes.
  const { pageBytes } = budget;
  const other = new AnswerCache(budget);
  budget.add(other, BUDGET_BYTES - pageBytes);
  budget.hold(pageBytes + 1);
  budget.hold(1);
  assert.equal(answers.check('1 user:1 doc:1'), undefined);
  answers.keepCheck('1 user:1 doc:1', true);
  assert.equal(answers.check('1 user:1 doc:1'), true);
});

test('after the end of the tenure nothing is kept', () => {
  const { budget, answers } = create();
  answers.keepCheck('1 user:a doc:1', true);
  answers.drop();
  answers.keepCheck('1 user:a doc:1', true);
  assert.equal(answers.check('1 user:a doc:1'), undefined);
  assert.equal(budget.pageBytes, 0);
});
