// Conditions mean what the same expressions mean in cel-go, which evaluates them in OpenFGA: ten thousand random ones.
// Another seed: `npm run fuzz -- conditions --seed N`. Each planted fault is found, and made small.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { installTool } from '../../../bench/compare/tools.ts';
import { reportMissing } from '../../../tools/engines/engine-script.ts';
import { answerOfGrantd, CelGo } from '../conditions/answers.ts';
import { compareConditions, renderConditionRun } from '../conditions/compare.ts';
import { DIFFERENCES } from '../conditions/differences.ts';

const SEED = 1;
const QUESTIONS = 10_000;
/** Errors, refusals and what is missing say less. */
const SAME_VALUE_MIN = 0.5;
const REFUSED_MAX = 0.15;
/** Of each documented difference. */
const DOCUMENTED_MAX = 0.01;
/** A planted fault is in the middle of what has to be there to see it. */
const SMALL = 80;

/** Faults of grantd: it evaluates the one as the other. */
const FAULTS: readonly (readonly [string, string])[] = [
  [' <= ', ' < '],
  [' && ', ' || '],
  ['startsWith', 'endsWith'],
  ['exists_one', 'exists'],
  ['getDayOfMonth', 'getDate'],
  ['getMilliseconds', 'getSeconds'],
  ['.filter(', '.map('],
  ['10.0.0.0/8', '10.0.0.0/7'],
];

const program = installTool('cel-go');
const missing =
  program === undefined ? reportMissing('conditions compared with cel-go', 'cel-go cannot be built here.') : false;

describe('conditions', { skip: missing }, () => {
  let celGo: CelGo;
  before(() => {
    celGo = new CelGo(program ?? '');
  });
  after(() => celGo[Symbol.asyncDispose]());

  test('have the value, the error or the missing parameter that they have in cel-go', async (context) => {
    const run = await compareConditions(answerOfGrantd, celGo, { seed: SEED, questions: QUESTIONS });
    assert.equal(run.difference, undefined);
    const share = (outcome: string): number => (run.outcomes.get(outcome) ?? 0) / QUESTIONS;
    assert.ok(share('same value') > SAME_VALUE_MIN, renderConditionRun(run));
    assert.ok(share('refused by grantd') + share('refused by cel-go alone') < REFUSED_MAX, renderConditionRun(run));
    for (const { expression, explains } of DIFFERENCES) {
      if (explains !== undefined) assert.ok(share(expression) < DOCUMENTED_MAX, renderConditionRun(run));
    }
    context.diagnostic(renderConditionRun(run));
  });

  for (const [right, wrong] of FAULTS) {
    test(`find that grantd takes "${right}" for "${wrong}"`, async () => {
      const own: typeof answerOfGrantd = (question) =>
        answerOfGrantd({ ...question, expression: question.expression.replaceAll(right, wrong) });
      const { smallest } = await compareConditions(own, celGo, { seed: SEED, questions: QUESTIONS });
      assert.ok(
        smallest?.expression.includes(right) && smallest.expression.length < SMALL,
        smallest?.expression ?? 'nothing',
      );
    });
  }

  test('have another answer in cel-go in each documented case', async () => {
    for (const { expression, explains, example } of DIFFERENCES) {
      assert.ok(explains === undefined || example !== undefined, expression);
      if (example === undefined) continue;
      const question = { expression: example, parameters: { a: 'any' }, context: { a: 'text' } };
      const [own, theirs] = [answerOfGrantd(question), await celGo.answer(question)];
      assert.ok(own !== undefined && own.kind !== 'refused' && theirs.kind !== 'refused', JSON.stringify(theirs));
      assert.notDeepEqual([own.kind, 'value' in own && own.value], [theirs.kind, 'value' in theirs && theirs.value]);
    }
  });
});
