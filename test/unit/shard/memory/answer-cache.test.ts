// Answers under rules that are kept: until something is committed, within their bounds, as part of the budget.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { AnswerCache } from '../../../../src/shard/memory/answer-cache.ts';
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

test('an answer is kept until a commit, and costs nothing afterwards', () => {
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
