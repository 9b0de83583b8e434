// Expressions and values that are made to be slow. A count of steps bounds them, so these tests judge counts.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../../src/core/json-members.ts';
import { ConditionContext, evaluateCondition } from '../../../../src/rules/conditions/evaluate-condition.ts';
import { ConditionBudget, EVALUATION_STEPS_MAX } from '../../../../src/rules/conditions/step-meter.ts';
import { answer, compiled, type Parameters, plentiful, problemsOf } from './condition-kit.ts';

const P: Parameters = { l: 'list<int>', s: 'string', t: 'string', a: 'any', b: 'any' };
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at % 7);
const TOO_LARGE = { kind: 'too-large', stepsMax: EVALUATION_STEPS_MAX };

describe('a hostile condition', () => {
  const LIST = numbers(10_000);
  const TEXT = 'a'.repeat(12_000);
  const CASES: readonly (readonly [expression: string, context: JsonObject])[] = [
    ['l.all(x, l.all(y, x + y >= 0))', { l: LIST }],
    [`${'l.all(x, '.repeat(20)}true${')'.repeat(20)}`, { l: numbers(10) }],
    ['l.map(x, l.map(y, l)).size() > 0', { l: LIST }],
    ['l.map(x, l + l).size() > 0', { l: LIST }],
    ['l.all(x, l == l)', { l: LIST }],
    ['l.all(x, !(9 in l))', { l: LIST }],
    ['l.all(x, (s + s + s).size() > 0)', { l: numbers(1000), s: TEXT }],
    ['l.all(x, s <= s + t)', { l: numbers(1000), s: TEXT, t: '' }],
    ['l.all(x, !s.contains(t))', { l: numbers(10), s: TEXT, t: `${'a'.repeat(4000)}b${'a'.repeat(4000)}` }],
    ['l.all(x, bytes(s) == bytes(s))', { l: numbers(1000), s: TEXT }],
    ['l.all(x, a == b)', { l: numbers(1000), a: numbers(1000), b: numbers(1000) }],
    ['l.all(x, 1 / 0 > x)', { l: LIST }],
    ['l.exists(x, 1 / 0 > x || a.b == x)', { l: LIST, a: {} }],
    ['s.matches("\\\\w{250}!")', { s: 'a'.repeat(1000) }],
    ['s.matches("(a|aa)+$")', { s: `${TEXT}b`, t: '' }],
    ['s.matches(t)', { s: `${TEXT}b`, t: '(a+)+$' }],
    ['l.all(x, !t.matches(string(x) + "((b{10}){10}|c)$"))', { l: numbers(1000), t: 'bbb' }],
    ['l.all(x, timestamp(x).getHours("Zone/" + string(x)) > 1 || true)', { l: numbers(1000) }],
  ];
  for (const [expression, context] of CASES) {
    it(`ends at the bound of steps: ${expression.slice(0, 60)}`, () =>
      assert.deepEqual(answer(compiled(expression, P), context), TOO_LARGE));
  }

  it('reads a text as a number in time in proportion to its length', () => {
    const digits = '9'.repeat(32_000);
    const before = process.threadCpuUsage().user;
    for (const text of [`${digits}x`, `${digits}.x`, `${digits}.${digits}x`, `.${digits}e${digits}x`]) {
      assert.deepEqual(answer(compiled('double(s) > 1.0', P), { s: text }), {
        kind: 'failed',
        reason: 'the argument of double() is not a number',
      });
    }
    assert.ok(process.threadCpuUsage().user - before < 400_000, 'digits took quadratic time: seconds');
  });

  it('cannot evade the measure of patterns', () => {
    const pattern = `\\Q[\\E|(?:${'a?a?a?a?a?b?b?b?b?b?'.repeat(40)}){1000}!`;
    assert.deepEqual(answer(compiled('s.matches(t)', P), { s: 'a'.repeat(1000), t: pattern }), {
      kind: 'failed',
      reason: 'The pattern has 402003 parts with its repetitions written out; at most 300 are allowed',
    });
    assert.match(
      problemsOf(`s.matches(r"${pattern}") || s.matches(r"${pattern}")`, P)
        .map(({ message }) => message)
        .join('\n'),
      /^The pattern has 402003 parts.*\nThe pattern has 402003 parts.*$/,
    );
  });

  it('cannot absorb the bound by an operand that decides', () => {
    const expression = 'l.all(x, l.all(y, x + y >= 0)) || true';
    assert.deepEqual(answer(compiled(expression, P), { l: LIST }), TOO_LARGE);
    assert.deepEqual(answer(compiled(`l.exists(z, ${expression})`, P), { l: LIST }), TOO_LARGE);
  });

  it('does not make a common one too large', () => {
    assert.equal(answer(compiled('l.all(x, x < 7) && l.exists(x, x == 6)', P), { l: numbers(1000) }), true);
    assert.equal(answer(compiled('s.contains(t)', P), { s: TEXT, t: 'b' }), false);
    assert.equal(answer(compiled('s.matches("^/[a-z0-9/_-]{1,100}$")', P), { s: `/${'a'.repeat(90)}` }), true);
  });
});

describe('a list of texts', () => {
  const COUNT = 100;
  const TEXTS = {
    duration: '1h1m1s1ms1us1ns',
    ipaddress: '1111:2222:3333:4444:5555:6666:255.255.255.255',
    timestamp: '2026-02-28T23:59:59.123456789+05:30',
  };
  for (const [type, text] of Object.entries(TEXTS)) {
    it(`costs the same in a context as in an expression: ${type}`, () => {
      const spentBy = (expression: string, parameter: string): number => {
        const budget = plentiful();
        const context = { l: Array.from({ length: COUNT }, () => text) };
        assert.equal(answer(compiled(expression, { l: `list<${parameter}>` }), context, undefined, budget), true);
        return budget.spent;
      };
      const converted = spentBy('l.all(x, x == x)', type) - spentBy('l.all(x, x == x)', 'string');
      const read = spentBy(`l.all(x, ${type}(x) == ${type}(x))`, 'string') - spentBy('l.all(x, x == x)', 'string');
      assert.ok(converted >= 4 * COUNT, `${converted} steps`);
      assert.ok(converted >= read / 2 - 10 * COUNT, `${converted} steps, ${read} in an expression`);
    });
  }

  it('ends at the bound of steps, however it is read', () => {
    const l = Array.from({ length: 2500 }, () => '1h1m1s');
    assert.deepEqual(answer(compiled('l.size() > 0', { l: 'list<duration>' }), { l }), TOO_LARGE);
  });
});

describe('the budget of a check', () => {
  const condition = compiled('l.all(x, x >= 0)', P);
  const request = new ConditionContext({ l: numbers(100) }, 'context');

  it('is spent by all evaluations together, and then none has an answer', () => {
    const once = new ConditionBudget(10_000);
    assert.equal(evaluateCondition(condition, undefined, request, once), true);
    // The context is converted only once.
    const budget = new ConditionBudget(once.spent * 3);
    const answers = Array.from({ length: 6 }, () => evaluateCondition(condition, undefined, request, budget));
    assert.equal(answers[0], true);
    assert.deepEqual(answers.at(-1), { kind: 'too-large', stepsMax: budget.stepsMax });
    assert.equal(budget.remaining, 0);
  });

  it('is spent in the same steps each time', () => {
    const steps = Array.from({ length: 3 }, () => {
      const budget = new ConditionBudget(10_000);
      evaluateCondition(condition, undefined, new ConditionContext({ l: numbers(100) }, 'context'), budget);
      return budget.spent;
    });
    assert.deepEqual(new Set(steps).size, 1);
  });

  it('is spent by what the grant stores too', () => {
    const stored = { l: numbers(100) };
    const budget = new ConditionBudget(10_000);
    const spent = [1, 2].map(() => {
      const before = budget.spent;
      evaluateCondition(condition, stored, request, budget);
      return budget.spent - before;
    });
    assert.equal(spent[0], spent[1]);
    assert.ok((spent[0] ?? 0) > 200);
  });
});
