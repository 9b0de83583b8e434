// Conditions that mean something else in cel-go, with which the peers evaluate them: rewritten so that they mean the
// same in grantd, or refused at their place.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compileConditions } from '../../../packages/convert/src/model/conditions.ts';
import { parseModel } from '../../../packages/convert/src/model/model-reader.ts';
import { parseDuration } from '../../../src/rules/conditions/times.ts';
import { answer, compiled } from '../rules/conditions/condition-kit.ts';

const PARAMETERS = 'now: timestamp, login: timestamp, d: duration, l: list<duration>, x: double, any: any, s: string';

/** The condition begins at line 4, column 3. */
function convert(expression: string, parameters = PARAMETERS) {
  const text = `model\n  schema 1.1\ncondition c(${parameters}) {\n  ${expression}\n}\ntype user\n`;
  const { usable, findings } = compileConditions(parseModel([{ file: 'm', text, origin: 'openfga' }]));
  const lines = findings.map(({ place, lost }) => `${place.line}:${place.column}${lost === undefined ? '' : ' lost'}`);
  return { expression: usable.get('c')?.expression, lines, texts: findings.map(({ text: each }) => each) };
}

const total = (receiver: string): string => `(${receiver}.getSeconds() * 1000 + ${receiver}.getMilliseconds())`;

describe('getMilliseconds() of a duration', () => {
  it('becomes its total, whatever the receiver is, with a finding at its place', () => {
    for (const [expression, expected, ...lines] of [
      ['d.getMilliseconds() < 1500', `${total('d')} < 1500`, '4:5'],
      ['(now - login).getMilliseconds() < 1500', `${total('(now - login)')} < 1500`, '4:17'],
      ['5 > -l[0] . getMilliseconds( )', `5 > -${total('l[0] ')}`, '4:15'],
      ['l.exists(e, e.getMilliseconds() > 1)', `l.exists(e, ${total('e')} > 1)`, '4:17'],
      [
        '{"a": d}["a"].getMilliseconds() in [(d).getMilliseconds()]',
        `${total('{"a": d}["a"]')} in [${total('(d)')}]`,
        '4:17',
        '4:43',
      ],
      ['1 in ([d])[0].getMilliseconds() == true ? true : d.getMilliseconds() == 1', undefined, '3:11 lost'],
      ['duration("1s").getMilliseconds() == 1000', `${total('duration("1s")')} == 1000`, '4:18'],
      ['l.map(e, e)[0].getMilliseconds() > 1', `${total('l.map(e, e)[0]')} > 1`, '4:18'],
      ['(true ? d : l[1]).getMilliseconds() > 1', `${total('(true ? d : l[1])')} > 1`, '4:21'],
      [
        '(now - duration(string(d.getMilliseconds()) + "ms") - now).getMilliseconds() > 0',
        `${total(`(now - duration(string(${total('d')}) + "ms") - now)`)} > 0`,
        '4:28',
        '4:62',
      ],
    ] as const) {
      const converted = convert(expression);
      assert.deepEqual([converted.expression, converted.lines], [expected, lines], expression);
    }
  });

  it('is exact', () => {
    const condition = compiled(`${total('d')} == t`, { d: 'duration', t: 'int' });
    const nanos = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    const near = fc.bigInt({ min: -3_000_000_000n, max: 3_000_000_000n });
    fc.assert(
      fc.property(fc.oneof(nanos, near), (each) => {
        const d = `${each}ns`;
        assert.ok(parseDuration(d) !== undefined);
        assert.equal(answer(condition, { d, t: String(each / 1_000_000n) }), true, d);
      }),
      { numRuns: 500 },
    );
  });

  it('of a timestamp stays, and of what may be either is refused', () => {
    assert.deepEqual(convert('now.getMilliseconds() < 500').lines, []);
    const converted = convert('any.getMilliseconds() < 500 && s == "x"');
    assert.deepEqual([converted.expression, converted.lines], [undefined, ['4:7 lost']]);
  });

  it('is refused where the total would be too long, within a moment', () => {
    let nested = 'd';
    while (nested.length < 1900) nested = `duration(string(${nested}.getMilliseconds()) + "ms")`;
    const converted = convert(`${nested} > d`);
    assert.equal(converted.expression, undefined);
    assert.ok(converted.lines.every((line) => line.endsWith('lost')));
  });
});

describe('string()', () => {
  it('is refused of what cel-go writes otherwise', () => {
    for (const value of ['x', 'now', 'd', 'any', 'x + 1.0', 'dyn(1)']) {
      const converted = convert(`s != string(${value})`);
      assert.deepEqual([converted.expression, converted.lines], [undefined, ['4:8 lost']], value);
      assert.match(converted.texts[0] ?? '', /^The condition "c" means something else in cel-go, .*`string\(\)` of a/);
    }
  });

  it('of anything else stays', () => {
    for (const value of ['1', '1u', 's', 'b"a"', 'true', 'd.getSeconds()']) {
      assert.deepEqual(convert(`s != string(${value})`).lines, [], value);
    }
  });
});

it('finds nothing in comments and texts, and keeps the expression as it is', () => {
  const expression = 's == "d.getMilliseconds()" // string(x)';
  assert.deepEqual(convert(expression), { expression, lines: [], texts: [] });
});
