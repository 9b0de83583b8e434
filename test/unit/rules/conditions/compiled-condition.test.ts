// Declarations of conditions: what compiles, and what is said of the rest.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileConditions, problemText } from '../../../../src/rules/conditions/compiled-condition.ts';
import { EXPRESSION_DEPTH_MAX } from '../../../../src/rules/conditions/parser.ts';
import { EXPRESSION_BYTES_MAX } from '../../../../src/rules/rule-set.ts';
import { compiled, type Parameters, problemsOf } from './condition-kit.ts';

const PARAMETERS: Parameters = {
  now: 'timestamp',
  zone: 'string',
  amount: 'int',
  ratio: 'double',
  tags: 'list<string>',
  ip: 'ipaddress',
  user: 'map<any>',
  payload: 'any',
};

/** Line, column and message of the only problem. */
function only(expression: string, parameters = PARAMETERS): string {
  const [first, ...rest] = problemsOf(expression, parameters);
  assert.deepEqual(rest, []);
  assert.equal(first?.field, 'expression');
  return `${first.line}:${first.column} ${first.message}`;
}

describe('the declaration of a condition', () => {
  it('has the types of OpenFGA and SpiceDB', () => {
    const types = ['any', 'bool', 'bytes', 'double', 'duration', 'int', 'ipaddress', 'string', 'timestamp', 'uint'];
    const parameters = Object.fromEntries(
      [...types, 'list<map<list<int>>>', 'map<any>'].map((type, at) => [`p${at}`, type]),
    );
    assert.deepEqual(compiled('true', parameters).declaration, { name: 'c', parameters, expression: 'true' });
  });

  it('is refused with every problem and its field', () => {
    const deep = `${'list<'.repeat(9)}int${'>'.repeat(9)}`;
    const problems = problemsOf('nothing', { if: 'int', 'a-b': 'int', c: 'strnig', d: deep });
    assert.deepEqual(
      problems.map(({ field }) => field),
      ['parameters.if', 'parameters.a-b', 'parameters.c', 'parameters.d'],
    );
    assert.match(problems[2]?.message ?? '', /the types are any, bool, .*, list<T>, map<T>/);
  });

  it('is bounded', () => {
    assert.ok(compiled(`true${' '.repeat(EXPRESSION_BYTES_MAX - 4)}`));
    const [problem] = problemsOf(`true${' '.repeat(EXPRESSION_BYTES_MAX - 3)}`);
    const text = '"conditions[1].expression" takes 2049 bytes; at most 2048 are allowed.';
    assert.equal(problem && problemText('conditions[1]', problem), text);
    assert.match(problemsOf(`"${'é'.repeat(1024)}" == ""`)[0]?.message ?? '', /2056 bytes/);
  });
});

describe('the conditions of a rule set', () => {
  const even = { name: 'even', parameters: { n: 'int' }, expression: 'n % 2 == 0' };

  it('are compiled by name', () => {
    assert.deepEqual([...compileConditions([even, { ...even, name: 'other' }]).keys()], ['even', 'other']);
  });

  it('are refused with the place of a problem', () => {
    assert.throws(() => compileConditions([even, { ...even, expression: 'n %\n m == 0' }]), {
      code: 'invalid-request',
      message: '"conditions[1].expression", line 2, column 2: "m" is unknown; the nearest known name is "n".',
    });
  });
});

describe('an expression', () => {
  it('must be a bool', () => {
    assert.equal(only('amount + 1'), '1:1 The expression must be a bool, not int.');
    assert.equal(only('{"a": 1}'), '1:1 The expression must be a bool, not map<int>.');
    assert.ok(compiled('payload', PARAMETERS));
  });

  const SYNTAX: readonly (readonly [expression: string, problem: string])[] = [
    ['amount >', '1:9 Expected a value, but the expression ends.'],
    ['amount > 1 &&\n  (zone == "x"', '2:15 Expected `)`, but the expression ends.'],
    ['amount > 1 2', '1:12 Expected the end of the expression, but there is `a literal of type int`.'],
    ['zone == "x', '1:9 The text that begins here has no closing ".'],
    ['zone == "\\q"', '1:10 `\\q` is not an escape sequence.'],
    ['amount = 1', '1:8 "=" cannot be part of an expression.'],
    ['amount > 9223372036854775808', '1:10 The number is beyond the integers of 64 bits.'],
    ['ratio > 1e999', '1:9 `1e999` is beyond the doubles.'],
    ['amount > 12px', '1:12 A letter follows a number.'],
    ['package == 1', '1:1 `package` is a reserved word of CEL.'],
    ['Person{name: "x"}.name == ""', '1:7 Messages cannot be constructed; use a map.'],
    ['has(zone)', '1:5 The argument of `has` must be a field, such as `has(user.name)`.'],
    ['tags.all("x", true)', '1:10 The first argument of `all` must be the name of a variable.'],
  ];
  for (const [expression, problem] of SYNTAX) {
    it(`says where the syntax breaks: ${expression}`, () => assert.equal(only(expression), problem));
  }

  const TYPES: readonly (readonly [expression: string, problem: string])[] = [
    ['amount > 1 && zonne == zone', '1:15 "zonne" is unknown; the nearest known name is "zone".'],
    ['amount == "1"', '1:8 `==` does not apply to int and string.'],
    ['amount == null', '1:8 `==` does not apply to int and null.'],
    ['amount == 1.0', '1:8 `==` does not apply to int and double.'],
    ['amount + ratio > 1.0', '1:8 `+` does not apply to int and double.'],
    ['amount in tags', '1:8 `in` does not apply to int and list<string>.'],
    ['!amount', '1:1 `!` does not apply to int.'],
    ['amount && true', '1:1 An operand of `&&` must be a bool, not int.'],
    ['amount ? true : false', '1:1 The condition before `?` must be a bool, not int.'],
    ['(true ? 1 : "a") == 1', '1:2 The values behind `?` and `:` must have one type, not int and string.'],
    ['zone.name == ""', '1:6 A value of type string has no fields, so no "name".'],
    ['zone[0] == "x"', '1:5 A value of type string cannot be indexed by one of type int.'],
    ['tags["x"] == "x"', '1:5 A value of type list<string> cannot be indexed by one of type string.'],
    ['tags.all(t, t)', '1:13 The second argument of `all` must be a bool, not string.'],
    ['zone.all(t, true)', '1:1 `all` iterates over a list or the keys of a map, not over a value of type string.'],
    [
      'zone.startWith("x")',
      '1:6 There is no method "startWith" with 1 arguments; the nearest known name is "startsWith".',
    ],
    ['startsWith(zone, "x")', '1:1 "startsWith" is a method: write `value.startsWith(…)`.'],
    ['zone.timestamp() == now', '1:6 "timestamp" is a function, not a method: write `timestamp(…)`.'],
    ['zone.startsWith(1)', '1:6 `string.startsWith(int)` does not exist: the types do not fit.'],
    ['duration(amount) > duration("1h")', '1:1 `duration(int)` does not exist: the types do not fit.'],
    ['{1.5: true}.size() == 1', '1:2 A value of type double cannot be the key of a map.'],
  ];
  for (const [expression, problem] of TYPES) {
    it(`is type-checked: ${expression}`, () => assert.equal(only(expression), problem));
  }

  it('is refused for a constant that can never be read', () => {
    assert.match(only('now > timestamp("2024-01-01T00:00:00")'), /^1:17 .*has no time zone; append "Z"/);
    assert.match(only('now - now > duration("1 hour")'), /^1:22 .*"1h30m"/);
    assert.match(only('ip == ipaddress("10.0.0")'), /^1:17 .*is not an IP address/);
    assert.match(only('ip.in_cidr("10.0.0.0/33")'), /^1:12 "10\.0\.0\.0\/33" is not a network/);
    assert.match(only('zone.matches("(")'), /^1:14 The pattern is wrong/);
  });

  it('is refused with all problems of types, in their order, up to 20', () => {
    const columns = problemsOf('a > 1 || b > 2 || zone + 1 == ""', { zone: 'string' }).map(({ column }) => column);
    assert.deepEqual(columns, [1, 10, 24]);
    assert.equal(problemsOf(Array.from({ length: 100 }, () => 'x').join('||')).length, 20);
  });

  it('is bounded in depth, whatever nests', () => {
    const tooDeep = /nested more than 100 deep/;
    for (const text of [
      '('.repeat(1000),
      `${'!'.repeat(1000)}true`,
      `1${'+1'.repeat(900)}`,
      `user${'.a'.repeat(900)}`,
    ]) {
      assert.match(only(text), tooDeep);
    }
    for (const [open, close] of [
      ['[', ']'],
      ['(', ')'],
      ['{1:', '}'],
      ['dyn(', ')'],
      ['tags.all(t,', ')'],
    ] as const) {
      assert.match(only(`${open.repeat(150)}1${close.repeat(150)}`), tooDeep);
    }
    const nested = EXPRESSION_DEPTH_MAX - 2;
    assert.ok(compiled(`${'('.repeat(nested)}true${')'.repeat(nested)}`));
    assert.ok(compiled(Array.from({ length: 300 }, () => 'true').join('&&')));
  });

  it('may have few patterns, none of them large', () => {
    const matches = (pattern: string) => `zone.matches("${pattern}")`;
    assert.ok(compiled(matches('^[a-z]{1,50}(-[0-9a-f]{8}){4}$'), PARAMETERS));
    assert.match(only(matches('(a{20}){20}')), /420 parts with its repetitions written out; at most 300/);
    assert.match(only(matches('a'.repeat(1001))), /1001 characters; at most 1000/);
    assert.match(only(matches('(?i)[à-ÿ]')), /must be in ASCII/);
    assert.match(only(matches('\\\\pL\\\\pN\\\\pS\\\\pP\\\\pM')), /more than 4 Unicode classes/);
    assert.match(
      only(Array.from({ length: 11 }, () => matches('a')).join('||')),
      /11 patterns with 11 parts; at most 10/,
    );
    assert.match(only(`${matches('a{200}')} || ${matches('b{200}')}`), /2 patterns with 400 parts/);
    for (const unsupported of ['(a)\\\\1', '(?=a)', '(?<!a)b'])
      assert.match(only(matches(unsupported)), /pattern is wrong/);
  });
});
