// Contexts out of JSON: which values are taken for which types, and their bounds.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import { checkRequestContext, checkStoredContext, contextText } from '../../../../src/rules/conditions/contexts.ts';
import { answer, compiled } from './condition-kit.ts';

const CONDITION = compiled('true', {
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
});

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
    it(`may have ${name}: ${JSON.stringify(value)}`, () =>
      assert.deepEqual(checkStoredContext(CONDITION, { [name]: value }, 'context'), []));
  }

  const REFUSED: readonly (readonly [name: string, value: unknown, problem: RegExp])[] = [
    ['flag', 'true', /^"context\.flag" must be a bool/],
    ['id', 2 ** 53, /must be an int of 64 bits: beyond 2\^53, where JSON numbers lose digits, as a string of digits/],
    ['id', 1.5, /must be an int of 64 bits; it is 1\.5\./],
    ['id', '9223372036854775808', /must be an int of 64 bits; it is "9223372036854775808"\./],
    ['id', ' 1', /must be an int/],
    ['id', null, /must be an int of 64 bits; it is null\./],
    ['size', -1, /must be a uint/],
    ['ratio', 'NaN', /must be a double/],
    ['name', 1, /must be a string; it is 1\./],
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
    ['data', [{ a: 2 ** 53 }], /^"context\.data\[0\]\.a" must be a string of digits, since JSON numbers beyond 2\^53/],
    ['ids', { 0: 1 }, /must be a list, which is an array; it is an object\./],
    ['ids', [1, true], /^"context\.ids\[1\]" must be an int of 64 bits; it is true\./],
    ['limits', { a: 'x' }, /^"context\.limits\.a" must be an int/],
    ['limits', [], /must be a map, which is an object; it is an array\./],
  ];
  for (const [name, value, problem] of REFUSED) {
    it(`may not have ${name}: ${JSON.stringify(value)}`, () => {
      const [first, ...rest] = checkStoredContext(CONDITION, { [name]: value }, 'context');
      assert.match(first ?? '', problem);
      assert.deepEqual(rest, []);
    });
  }

  it('has no key that the condition does not declare', () => {
    const problems = checkStoredContext(CONDITION, { ration: 'x', id: 'x', other: 1 }, 'grants[3].condition.context');
    assert.equal(problems.length, 3);
    assert.match(
      problems[0] ?? '',
      /^"grants\[3\]\.condition\.context\.ration" is unknown; the nearest known name is "ratio"\.$/,
    );
    assert.match(problems[1] ?? '', /^"grants\[3\]\.condition\.context\.id" must be an int/);
    assert.match(problems[2] ?? '', /\.other" is unknown; known here: "flag", "id"/);
    const [problem] = checkStoredContext(compiled('true', {}, 'always'), { a: 1 }, 'context');
    assert.equal(problem, '"context.a" is unknown: "always" has no parameters.');
  });

  it('has at most 512 bytes as canonical JSON, and a bounded depth', () => {
    const text = (length: number) => ({ name: 'é'.repeat(length / 2) });
    assert.deepEqual(checkStoredContext(CONDITION, text(500), 'context'), []);
    assert.match(checkStoredContext(CONDITION, text(502), 'context')[0] ?? '', /takes 513 bytes as JSON; at most 512/);
    assert.deepEqual(checkStoredContext(CONDITION, { data: nested(31) }, 'context'), []);
    assert.match(checkStoredContext(CONDITION, { data: nested(32) }, 'context')[0] ?? '', /nested more than 32 deep/);
    assert.match(checkStoredContext(CONDITION, [], 'context')[0] ?? '', /"context" must be a JSON object\./);
  });
});

describe('the canonical text of a context', () => {
  it('does not depend on the order of members', () => {
    const text = '{"__proto__":{"a":[{"x":1,"y":2}],"b":1},"a":1}';
    assert.equal(contextText(JSON.parse('{"a":1,"__proto__":{"b":1,"a":[{"y":2,"x":1}]}}')), text);
    assert.equal(contextText(JSON.parse(text)), text);
  });
});

describe('the context of a request', () => {
  const refuses = (context: unknown, message: RegExp) =>
    assert.throws(
      () => checkRequestContext(context),
      (error) => error instanceof GrantdError && error.code === 'invalid-request' && message.test(error.message),
    );

  it('is an object of at most 32 KiB, and of a bounded depth', () => {
    for (const context of [null, [], 'x', 1]) refuses(context, /^"context" must be a JSON object\.$/);
    assert.ok(checkRequestContext({ a: 'x'.repeat(32 * 1024 - 8) }));
    refuses({ a: 'x'.repeat(32 * 1024 - 7) }, /takes 32769 bytes as JSON; at most 32768/);
    refuses({ a: nested(5000) }, /nested more than 32 deep/);
  });

  it('may have more members than a condition asks for', () => {
    assert.equal(answer(compiled('a == 1', { a: 'int' }), { a: 1, b: 2 ** 60, c: nested(20) }), true);
  });

  it('gives one member to conditions that declare different types', () => {
    const context = { a: '12' };
    assert.equal(answer(compiled('a == 12', { a: 'int' }), context), true);
    assert.equal(answer(compiled('a == "12"', { a: 'string' }), context), true);
    assert.equal(answer(compiled('a == 12.0', { a: 'double' }), context), true);
  });
});
