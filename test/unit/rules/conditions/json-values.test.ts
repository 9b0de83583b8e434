// Contexts out of JSON: which values are taken for which types.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseContext } from '../../../../src/core/call-context.ts';
import { contextIn } from '../../../../src/core/grant-terms.ts';
import { undeclaredIn } from '../../../../src/rules/allowed-grants.ts';
import { NO_RULES } from '../../../../src/rules/rule-set.ts';
import { answer, compiled } from './condition-kit.ts';

const PARAMETERS = {
  flag: 'bool',
  id: 'int',
  size: 'uint',
  ratio: 'double',
  name: 'string',
  digest: 'bytes',
  at: 'timestamp',
  wait: 'duration',
  ip: 'ipaddress',
  data: 'any',
  ids: 'list<int>',
  limits: 'map<int>',
};

/** Why a grant may not store this context; undefined: it may. */
function problemOf(context: object, parameters: Readonly<Record<string, string>> = PARAMETERS): string | undefined {
  const ruleSet = { ...NO_RULES, conditions: [{ name: 'c', parameters, expression: 'true' }] };
  return undeclaredIn(ruleSet, `c ${JSON.stringify(context)}`, 'grants[3]');
}

const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);

describe('a context that is stored with a grant', () => {
  const ACCEPTED: readonly (readonly [name: string, value: unknown])[] = [
    ['id', 2 ** 53 - 1],
    ['id', '-9223372036854775808'],
    ['size', '18446744073709551615'],
    ['ratio', 1e300],
    ['ratio', '0.5'],
    ['digest', ''],
    ['at', '2026-02-28T23:59:59.123456789+05:30'],
    ['at', '0001-01-01T00:00:00Z'],
    ['wait', '-1h30.5m'],
    ['wait', '0'],
    ['ip', '::'],
    ['ip', '::ffff:10.0.0.1'],
    ['data', { a: [null, true, 'x', 0.5] }],
    ['ids', [1, '2']],
    ['limits', { __proto__: 1 }],
  ];
  for (const [name, value] of ACCEPTED) {
    it(`may have ${name}: ${JSON.stringify(value)}`, () => assert.equal(problemOf({ [name]: value }), undefined));
  }

  const REFUSED: readonly (readonly [name: string, value: unknown, problem: RegExp])[] = [
    ['flag', 'true', /^"grants\[3\]\.condition\.context\.flag" must be a bool/],
    ['id', 2 ** 53, /must be an int of 64 bits: beyond 2\^53, where JSON numbers lose digits, as a string of digits/],
    ['id', 1.5, /must be an int of 64 bits; it is 1\.5\./],
    ['id', '9223372036854775808', /must be an int of 64 bits; it is "9223372036854775808"\./],
    ['id', ' 1', /must be an int/],
    ['id', null, /must be an int of 64 bits; it is null\./],
    ['size', -1, /must be a uint/],
    ['ratio', 'NaN', /must be a double/],
    ['name', 1, /must be a string; it is 1\./],
    ['name', '\ud800', /contains half of a surrogate pair\.$/],
    ['data', ['\ud800'], /data\[0\]" contains half of a surrogate pair\.$/],
    ['digest', 'AP8', /must be bytes in base64, with padding/],
    ['at', '2026-01-01T00:00:00', /must be a timestamp with a time zone, such as "Z" for UTC at its end/],
    ['at', '2026-02-30T00:00:00Z', /must be a timestamp such as/],
    ['at', '2026-01-01', /must be a timestamp such as/],
    ['at', '10000-01-01T00:00:00Z', /must be a timestamp such as/],
    ['at', 1_700_000_000, /must be a timestamp such as/],
    ['wait', '1 hour', /must be a duration such as "1h30m"/],
    ['wait', '9999999h', /must be a duration/],
    ['ip', '010.0.0.1', /must be an IP address/],
    ['ip', 'fe80::1%eth0', /must be an IP address/],
    [
      'data',
      [{ a: 2 ** 53 }],
      /^"grants\[3\]\.condition\.context\.data\[0\]\.a" is an integer beyond 2\^53, .*; declare the parameter as int, uint/,
    ],
    ['ids', { 0: 1 }, /must be a list, which is an array; it is an object\./],
    ['ids', [1, true], /^"grants\[3\]\.condition\.context\.ids\[1\]" must be an int of 64 bits; it is true\./],
    ['limits', { a: 'x' }, /^"grants\[3\]\.condition\.context\.limits\.a" must be an int/],
    ['limits', [], /must be a map, which is an object; it is an array\./],
  ];
  for (const [name, value, problem] of REFUSED) {
    it(`may not have ${name}: ${JSON.stringify(value)}`, () =>
      assert.match(problemOf({ [name]: value }) ?? '', problem));
  }

  it('has no key that the condition does not declare', () => {
    assert.equal(
      problemOf({ ration: 'x' }),
      '"grants[3].condition.context.ration" is not a parameter of the condition "c"; did you mean "ratio"?',
    );
    assert.match(problemOf({ other: 1 }) ?? '', /is not a parameter of the condition "c"; allowed: "flag", "id"/);
    assert.match(
      problemOf({ a: 1 }, {}) ?? '',
      /is not a parameter of the condition "c"; the condition has no parameters\.$/,
    );
  });
});

describe('the context of a request', () => {
  /** As a body of a request, through all that it passes on its way. */
  const sent = (text: string) => contextIn(parseContext(JSON.parse(text)).context ?? '{}');
  /** What no condition can use. */
  const UNUSABLE: readonly (readonly [value: string, refusal: RegExp])[] = [
    ['99999999999999999999', /beyond 2\^53/],
    ['1795891333161000000', /beyond 2\^53/],
    ['9007199254740992', /beyond 2\^53/],
    ['1e999', /a number beyond the doubles/],
    ['-1e999', /a number beyond the doubles/],
    ['"\\ud800"', /half of a surrogate pair/],
    ['{"a\\udc00": 1}', /half of a surrogate pair/],
    [JSON.stringify(nested(16)), /nested more than 16 deep/],
    [`${'{"a":'.repeat(20)}1${'}'.repeat(20)}`, /nested more than 16 deep/],
    ['[1, {"b": 99999999999999999999}]', /"context\.b\[1\]\.b" is an integer beyond 2\^53/],
  ];
  for (const [value, refusal] of UNUSABLE) {
    it(`may have a member that no condition asks for, whatever it is: ${value.slice(0, 40)}`, () => {
      const context = sent(`{"a": 1, "b": ${value}}`);
      assert.equal(answer(compiled('a == 1', { a: 'int' }), context), true);
      assert.equal(answer(compiled('a == 1 || b == 1', { a: 'int', b: 'int' }), { a: 1 }), true);
      // A condition that asks for it is never true: not even if what it compares it with lost the same digits.
      for (const expression of [
        'b == b',
        `b == 1e20 || b == null || b == [] || b == {} || b != 1`,
        'a == 1 || b == 1',
      ]) {
        const refused = answer(compiled(expression, { a: 'int', b: 'any' }), context);
        assert.ok(typeof refused === 'object' && refused.kind === 'invalid', expression);
        assert.match(refused.message, refusal);
      }
    });
  }

  it('gives a double the nearest one, and an int only what it is', () => {
    const double = compiled('a == 1e20', { a: 'double' });
    assert.equal(answer(double, sent('{"a": 100000000000000000000}')), true);
    assert.equal(answer(double, sent('{"a": "1e20"}')), true);
    const int = compiled('a == 9007199254740993', { a: 'int' });
    assert.equal(answer(int, sent('{"a": "9007199254740993"}')), true);
    const refused = answer(int, sent('{"a": 9007199254740993}'));
    assert.ok(typeof refused === 'object' && refused.kind === 'invalid');
    assert.match(refused.message, /^"context\.a" must be an int .* as a string of digits/);
  });

  it('gives one member to conditions that declare different types', () => {
    const context = { a: '12' };
    assert.equal(answer(compiled('a == 12', { a: 'int' }), context), true);
    assert.equal(answer(compiled('a == "12"', { a: 'string' }), context), true);
    assert.equal(answer(compiled('a == 12.0', { a: 'double' }), context), true);
  });
});
