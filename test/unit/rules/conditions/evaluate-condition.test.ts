// What conditions answer for given values, without some of them, and where they fail.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../../src/core/json-members.ts';
import { ConditionContext, contextSeen } from '../../../../src/rules/conditions/evaluate-condition.ts';
import { answer, compiled, type Parameters } from './condition-kit.ts';

const missing = (...parameters: readonly string[]) => ({ kind: 'missing', parameters });
const failed = (reason: string) => ({ kind: 'failed', reason });

describe('a condition', () => {
  const TRUE: readonly (readonly [expression: string, parameters: Parameters, context: JsonObject])[] = [
    [
      'now.getHours(zone) == 9',
      { now: 'timestamp', zone: 'string' },
      { now: '2026-07-01T07:30:00Z', zone: 'Europe/Berlin' },
    ],
    [
      'now.getHours(zone) == 8',
      { now: 'timestamp', zone: 'string' },
      { now: '2026-01-01T07:30:00Z', zone: 'Europe/Berlin' },
    ],
    ['now.getDayOfYear("-02:30") == 364', { now: 'timestamp' }, { now: '2026-01-01T00:00:00Z' }],
    ['now.getFullYear() == 50', { now: 'timestamp' }, { now: '0050-01-01T00:00:00Z' }],
    [
      'now < granted + duration("1h")',
      { now: 'timestamp', granted: 'timestamp' },
      { now: '2026-01-01T00:59:59.999999999Z', granted: '2026-01-01T01:00:00+01:00' },
    ],
    ['wait - duration("1s") == duration("-500ms")', { wait: 'duration' }, { wait: '0.5s' }],
    ['id == 9007199254740993', { id: 'int' }, { id: '9007199254740993' }],
    ['id != 9007199254740992', { id: 'int' }, { id: '9007199254740993' }],
    ['id > 9223372036854775807u', { id: 'uint' }, { id: '18446744073709551615' }],
    ['ip.in_cidr("10.0.0.0/8")', { ip: 'ipaddress' }, { ip: '10.255.0.1' }],
    ['ip.in_cidr(net)', { ip: 'ipaddress', net: 'string' }, { ip: '2001:db8::1:0:0:1', net: '2001:db8::ffff/48' }],
    ['ip == ipaddress("2001:db8:0:0:0:0:0:1")', { ip: 'ipaddress' }, { ip: '2001:DB8::1' }],
    ['ip.in_cidr("10.0.0.0/8") && !ip.in_cidr("::/0")', { ip: 'ipaddress' }, { ip: '::ffff:10.0.0.1' }],
    ['digest == b"\\x00\\xff"', { digest: 'bytes' }, { digest: 'AP8=' }],
    [
      'user.roles.exists(r, r in allowed)',
      { user: 'any', allowed: 'list<string>' },
      { user: { roles: ['a', 'b'] }, allowed: ['b'] },
    ],
    ['has(user.a) && user.a == null && !has(user.b)', { user: 'map<any>' }, { user: { a: null } }],
    [
      '"__proto__" in user && user.__proto__ == 1.0 && !has(user.toString)',
      { user: 'map<any>' },
      JSON.parse('{"user": {"__proto__": 1}}'),
    ],
    ['path.matches("^/api/v[0-9]+/")', { path: 'string' }, { path: '/api/v1/users' }],
    [
      'at != null && null != wait && !(ip == null)',
      { at: 'timestamp', wait: 'duration', ip: 'ipaddress' },
      { at: '2026-01-01T00:00:00Z', wait: '0', ip: '::' },
    ],
    ['path.matches(pattern)', { path: 'string', pattern: 'string' }, { path: '/api/v1', pattern: 'v\\d$' }],
    ['name.size() == 2 && name.contains("😀")', { name: 'string' }, { name: 'a😀' }],
    ['left < right', { left: 'string', right: 'string' }, { left: '\uffff', right: '😀' }],
    ['limits.map(x, x * 2).filter(x, x > 2) == [4, 6]', { limits: 'list<int>' }, { limits: [1, '2', 3] }],
  ];
  for (const [expression, parameters, context] of TRUE) {
    it(`holds: ${expression}`, () => assert.equal(answer(compiled(expression, parameters), context), true));
  }

  it('sees what the grant stores rather than what the request gives', () => {
    const condition = compiled('region == "eu" && limit > 5', { region: 'string', limit: 'int' });
    assert.equal(answer(condition, { region: 'us', limit: 9 }, { region: 'eu' }), true);
    assert.equal(answer(condition, { region: 'eu', limit: 9 }, { region: 'us' }), false);
    // A stored value is not replaced even by one that is refused.
    assert.equal(answer(condition, { region: 1, limit: 9 }, { region: 'eu' }), true);
    const seen = contextSeen(
      condition,
      { region: 'eu' },
      new ConditionContext({ region: 'us', limit: 9, other: 1 }, 'context'),
    );
    assert.deepEqual(seen, { region: 'eu', limit: 9 });
  });

  it('sees no member that an object inherits', () => {
    const condition = compiled('constructor == "x" || toString == "x"', { constructor: 'string', toString: 'string' });
    assert.deepEqual(answer(condition, {}, {}), missing('constructor', 'toString'));
  });

  it('sees no value of an earlier evaluation', () => {
    const condition = compiled('tags.exists(t, t == wanted)', { tags: 'list<string>', wanted: 'string' });
    assert.equal(answer(condition, { tags: ['a', 'b'], wanted: 'b' }), true);
    assert.deepEqual(answer(condition, { tags: ['a', 'b'] }), missing('wanted'));
    assert.equal(answer(condition, { tags: [], wanted: 'b' }), false);
  });

  it('refuses a value of a wrong type and names its place', () => {
    const condition = compiled('ids.all(i, i > 0) || other', { ids: 'list<int>', other: 'bool' });
    const result = answer(condition, { ids: [1, 'x'], other: true });
    assert.deepEqual(result, {
      kind: 'invalid',
      parameter: 'ids',
      message: '"context.ids[1]" must be an int of 64 bits; it is "x".',
    });
  });

  it('does not refuse what it is not asked for', () => {
    assert.equal(answer(compiled('a', { a: 'bool', b: 'int' }), { a: true, b: 'no number', c: {} }), true);
  });

  it('fails, if a conversion to a number is out of its range', () => {
    for (const [expression, holds] of [
      ['uint(x) == 0u', { x: 0.5 }],
      ['uint(x) == 0u', { x: 0 }],
      ['double(s) > 1.0', { s: '1e308' }],
      ['uint(s) == 1u', { s: '1' }],
    ] as const) {
      assert.equal(answer(compiled(expression, { x: 'double', s: 'string' }), holds), true, expression);
    }
    for (const [expression, fails] of [
      ['uint(x) == 0u', { x: -0.5 }],
      ['double(s) > 1.0', { s: '1e309' }],
      ['double(s) < 1.0', { s: '-1e309' }],
      ['uint(s) == 1u', { s: '+1' }],
      ['uint(s) == 0u', { s: '-0' }],
    ] as const) {
      const result = answer(compiled(expression, { x: 'double', s: 'string' }), fails);
      assert.equal(typeof result === 'object' && result.kind, 'failed', `${expression} ${JSON.stringify(fails)}`);
    }
  });

  it('fails, if the context of the grant does not fit its declaration any more', () => {
    const result = answer(compiled('a > 1 || true', { a: 'int' }), {}, { a: 'text' });
    assert.match(JSON.stringify(result), /^\{"kind":"failed","reason":"the context of the grant does not fit/);
  });
});

describe('a missing parameter', () => {
  const P: Parameters = { a: 'bool', b: 'bool', n: 'int', l: 'list<int>', m: 'map<int>' };
  const CASES: readonly (readonly [expression: string, context: JsonObject, expected: unknown])[] = [
    ['a || b', { b: true }, true],
    ['a || b', { a: true }, true],
    ['a || b', { b: false }, missing('a')],
    ['a || b', {}, missing('a', 'b')],
    ['a && b', { b: false }, false],
    ['a && b', { b: true }, missing('a')],
    ['!(a && b) && !a', {}, missing('a', 'b')],
    ['a ? b : true', {}, missing('a')],
    ['b ? a : true', { b: false }, true],
    ['n > 1 || l.exists(x, x == n) || b', { l: [1], b: true }, true],
    ['l.exists(x, x == 1 || x == n)', { l: [2, 1] }, true],
    ['l.exists(x, x == n)', { l: [2, 1] }, missing('n')],
    ['l.exists(x, x == n)', { l: [] }, false],
    ['l.all(x, x == 1 && x == n)', { l: [1, 2] }, false],
    ['l.exists_one(x, x == n)', { l: [1] }, missing('n')],
    ['n in l', { n: 1 }, missing('l')],
    ['[1, n].size() == 2', {}, missing('n')],
    ['{"a": n}.a == 1 || {1: 1, n: 2}.size() == 2', {}, missing('n')],
    ['has(m.x)', {}, missing('m')],
    ['n == n', {}, missing('n')],
  ];
  for (const [expression, context, expected] of CASES) {
    it(`of ${expression}, given ${JSON.stringify(context)}`, () =>
      assert.deepEqual(answer(compiled(expression, P), context), expected));
  }

  it('can overrule an error in another operand, but not in the same one', () => {
    assert.deepEqual(answer(compiled('1 / n > 0 || a', P), { n: 0 }), missing('a'));
    assert.deepEqual(answer(compiled('1 / n > 0 || a', P), { n: 0, a: true }), true);
    assert.deepEqual(answer(compiled('1 / n == l[0]', P), { n: 0 }), failed('division by zero'));
  });
});

describe('an error at run time', () => {
  const P: Parameters = { a: 'bool', n: 'int', l: 'list<int>', m: 'map<int>', any: 'any', s: 'string', t: 'timestamp' };
  const CASES: readonly (readonly [expression: string, context: JsonObject, reason: string])[] = [
    ['1 / n > 0', { n: 0 }, 'division by zero'],
    ['n + 1 > 0', { n: '9223372036854775807' }, 'a number is out of range'],
    ['l[n] > 0', { l: [1], n: -1 }, 'an index is outside the list'],
    ['m.x > 0', { m: {} }, 'no such key'],
    ['any.x', { any: { x: 1 } }, 'the result is not a bool'],
    ['any > 1', { any: 'text' }, 'an operator or a function does not apply to values of these types'],
    ['any || false', { any: 1 }, 'an operand is not a bool'],
    ['int(s) > 0', { s: '1e3' }, 'the argument of int() is not an integer'],
    ['s.matches(s)', { s: '(' }, 'The pattern is wrong: error parsing regexp: missing closing ): `(`'],
    ['t.getHours(s) > 0', { t: '2026-01-01T00:00:00Z', s: 'Europe/Berlni' }, 'there is no time zone of that name'],
    [
      'ipaddress("10.0.0.1").in_cidr(s)',
      { s: '10.0.0.0' },
      'the argument of in_cidr() must be a network such as "10.0.0.0/8"',
    ],
    ['t + duration(s) > t', { t: '9999-12-31T23:59:59Z', s: '1s' }, 'a timestamp is outside the years 1 to 9999'],
  ];
  for (const [expression, context, reason] of CASES) {
    it(`is neither true nor false: ${expression}`, () => {
      assert.deepEqual(answer(compiled(expression, P), context), failed(reason));
      assert.deepEqual(
        answer(compiled(`!(${expression})`, P), context),
        failed(
          expression.startsWith('any') && reason.startsWith('the result')
            ? 'an operator or a function does not apply to values of these types'
            : reason,
        ),
      );
    });
  }

  it('is absorbed by an operand that decides, on either side', () => {
    for (const expression of [
      '1 / n > 0 || true',
      'true || 1 / n > 0',
      '!(1 / n > 0 && false)',
      '!(false && 1 / n > 0)',
      '[0, 1].exists(x, 1 / x > 0)',
    ]) {
      assert.equal(answer(compiled(expression, P), { n: 0 }), true, expression);
    }
  });

  it('is not absorbed by an operand that does not', () => {
    for (const expression of [
      '1 / n > 0 || false',
      '1 / n > 0 && true',
      '[0, 1].all(x, 1 / x > 0)',
      '[0, 1].exists_one(x, 1 / x > 0)',
    ]) {
      assert.deepEqual(answer(compiled(expression, P), { n: 0 }), failed('division by zero'), expression);
    }
  });
});
