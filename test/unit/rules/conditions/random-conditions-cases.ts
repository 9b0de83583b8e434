// Random conditions over random values. What an answer without some of the parameters says must hold however they are
// filled in, and patterns must match what they match elsewhere. `test/unit` runs some cases, `test/property/slow` many.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../../src/core/json-members.ts';
import type { ConditionResult } from '../../../../src/rules/conditions/evaluate-condition.ts';
import { Pattern } from '../../../../src/rules/conditions/patterns.ts';
import { StepMeter } from '../../../../src/rules/conditions/step-meter.ts';
import { answer, compiled } from './condition-kit.ts';

const PARAMETERS = { p: 'bool', q: 'bool', i: 'int', j: 'int', s: 'string', l: 'list<int>', m: 'map<int>', d: 'any' };

const context = fc.record({
  p: fc.boolean(),
  q: fc.boolean(),
  i: fc.integer({ min: -2, max: 2 }),
  j: fc.integer({ min: -2, max: 2 }),
  s: fc.constantFrom('', 'a', 'ab', '1'),
  l: fc.array(fc.integer({ min: -2, max: 2 }), { maxLength: 4 }),
  m: fc.dictionary(fc.constantFrom('a', 'b'), fc.integer({ min: -2, max: 2 })),
  d: fc.constantFrom<unknown>(null, true, 1, 'a', [], [0], { a: 1 }),
});

interface Expressions {
  bool: string;
  int: string;
  list: string;
}

const { bool } = fc.letrec<Expressions>((tie) => ({
  bool: fc.oneof(
    { maxDepth: 4, depthSize: 'medium' },
    fc.constantFrom(
      'p',
      'q',
      'true',
      'false',
      'd',
      'd.a == 1',
      'has(m.a)',
      'has(d.a)',
      'int(s) > 0',
      's.startsWith("a")',
      '"a" in m',
    ),
    fc
      .tuple(tie('bool'), fc.constantFrom('&&', '||'), tie('bool'))
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    tie('bool').map((operand) => `!(${operand})`),
    fc
      .tuple(tie('bool'), tie('bool'), tie('bool'))
      .map(([condition, left, right]) => `(${condition} ? ${left} : ${right})`),
    fc
      .tuple(tie('int'), fc.constantFrom('<', '<=', '==', '!=', '>'), tie('int'))
      .map((parts) => `(${parts.join(' ')})`),
    fc.tuple(tie('int'), tie('list')).map(([element, list]) => `(${element} in ${list})`),
    fc
      .tuple(tie('list'), fc.constantFrom('all', 'exists', 'exists_one'), tie('bool'))
      .map(([list, name, test]) => `${list}.${name}(i, ${test})`),
  ),
  int: fc.oneof(
    { maxDepth: 3, depthSize: 'medium' },
    fc.constantFrom('i', 'j', '0', '1', 'm.a', 'l[0]', 'd[0]', 's.size()'),
    fc.tuple(tie('int'), fc.constantFrom('+', '-', '*', '/', '%'), tie('int')).map((parts) => `(${parts.join(' ')})`),
    fc
      .tuple(tie('bool'), tie('int'), tie('int'))
      .map(([condition, left, right]) => `(${condition} ? ${left} : ${right})`),
    tie('list').map((list) => `${list}.size()`),
  ),
  list: fc.oneof(
    { maxDepth: 3, depthSize: 'medium' },
    fc.constantFrom('l', '[0, 1]', '[i]'),
    fc.tuple(tie('list'), tie('bool')).map(([list, test]) => `${list}.filter(j, ${test})`),
    fc.tuple(tie('list'), tie('int')).map(([list, transform]) => `${list}.map(j, ${transform})`),
    fc.tuple(tie('int'), tie('int')).map((elements) => `[${elements.join(', ')}]`),
  ),
}));

const kindOf = (result: ConditionResult): string => (typeof result === 'boolean' ? String(result) : result.kind);

/** The result with some of the members, and with all of them. */
function withAndWithout(expression: string, whole: JsonObject, removed: readonly string[]) {
  const condition = compiled(expression, PARAMETERS);
  const part = Object.fromEntries(Object.entries(whole).filter(([name]) => !removed.includes(name)));
  return { partial: answer(condition, part), complete: answer(condition, whole) };
}

/** `runs`: random cases of each property; of one, a third. */
export function testConditions(runs: number): void {
  describe('a condition without some of its parameters', () => {
    const removed = fc.subarray(Object.keys(PARAMETERS));

    it('has the answer that every completion has, or names only what is missing', () => {
      const seen = new Map<string, number>();
      fc.assert(
        fc.property(bool, context, removed, (expression, whole, names) => {
          fc.pre(expression.length < 1500);
          const { partial, complete } = withAndWithout(expression, whole, names);
          const kind = kindOf(partial);
          seen.set(kind, (seen.get(kind) ?? 0) + 1);
          if (typeof partial !== 'boolean' && partial.kind === 'missing') {
            assert.ok(partial.parameters.length > 0);
            assert.ok(
              partial.parameters.every((name) => names.includes(name)),
              expression,
            );
          } else {
            assert.equal(kindOf(complete), kind, expression);
          }
        }),
        { numRuns: runs },
      );
      for (const kind of ['true', 'false', 'missing', 'failed']) assert.ok((seen.get(kind) ?? 0) > runs / 50, kind);
    });

    it('is missing nothing that does not matter: with what it names, it has an answer', () => {
      fc.assert(
        fc.property(bool, context, removed, (expression, whole, names) => {
          fc.pre(expression.length < 1500);
          let left = names;
          for (;;) {
            const { partial } = withAndWithout(expression, whole, left);
            if (typeof partial === 'boolean' || partial.kind !== 'missing') break;
            const { parameters } = partial;
            left = left.filter((name) => !parameters.includes(name));
          }
        }),
        { numRuns: runs },
      );
    });

    it('does not depend on whether the grant or the request gives a value', () => {
      fc.assert(
        fc.property(bool, context, removed, (expression, whole, names) => {
          fc.pre(expression.length < 1500);
          const condition = compiled(expression, PARAMETERS);
          const stored = Object.fromEntries(Object.entries(whole).filter(([name]) => names.includes(name)));
          const rest = Object.fromEntries(Object.entries(whole).filter(([name]) => !names.includes(name)));
          assert.deepEqual(answer(condition, rest, stored), answer(condition, whole));
        }),
        { numRuns: Math.ceil(runs / 3) },
      );
    });
  });

  describe('a pattern', () => {
    const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
      pattern: fc.oneof(
        { maxDepth: 4, depthSize: 'medium' },
        fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^a]', '\\d', '\\w', '^', '$', '\\b', 'ä', '\\.'),
        fc.tuple(tie('pattern'), tie('pattern')).map((parts) => parts.join('')),
        fc.tuple(tie('pattern'), tie('pattern')).map((parts) => `(?:${parts.join('|')})`),
        fc
          .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{0,2}', '*?'))
          .map(([part, count]) => `(?:${part})${count}`),
      ),
    }));
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', '1', '.', ' ', 'ä'), { maxLength: 8 })
      .map((parts) => parts.join(''));

    it('matches what the same pattern matches in JavaScript, where their syntax is the same', () => {
      fc.assert(
        fc.property(pattern, text, (source, subject) => {
          fc.pre(source.length < 150);
          const meter = new StepMeter(1_000_000);
          assert.equal(Pattern.compile(source).matches(subject, meter), new RegExp(source, 'u').test(subject));
        }),
        { numRuns: runs },
      );
    });
  });
}
