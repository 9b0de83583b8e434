// Conditions of grants as requests send them: their bounds, and what reads back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  CONTEXT_DEPTH_MAX,
  canonicalContext,
  conditionRecord,
  contextIn,
  GRANT_CONTEXT_BYTES_MAX,
  isCondition,
  parseCondition,
} from '../../../src/core/grant-terms.ts';

const parsed = (value: unknown): string => parseCondition(value).condition ?? '';

const refusal = (value: unknown): string => {
  try {
    parseCondition(value);
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  return '';
};

test('absent keeps a condition, null removes it', () => {
  assert.deepEqual(parseCondition(undefined), {});
  assert.deepEqual(parseCondition(null), { condition: null });
});

test('members have one order, and an empty context is none', () => {
  assert.equal(parsed({ name: 'open' }), 'open');
  assert.equal(parsed({ name: 'open', context: {} }), 'open');
  assert.equal(
    parsed({ name: 'open', context: { b: [1, { d: 1, c: 2 }], a: 'x' } }),
    'open {"a":"x","b":[1,{"c":2,"d":1}]}',
  );
});

test('what is written reads back equal', () => {
  const context = fc
    .jsonValue({ maxDepth: 3, stringUnit: 'grapheme' })
    .filter((value) => typeof value === 'object' && value !== null && !Array.isArray(value));
  fc.assert(
    fc.property(context, (value) => {
      // What JSON itself does not tell apart.
      const sent: unknown = JSON.parse(JSON.stringify(value));
      let condition: string;
      try {
        condition = parsed({ name: 'open', context: sent });
      } catch {
        fc.pre(false);
        return;
      }
      assert.ok(isCondition(condition));
      assert.deepEqual(conditionRecord(condition), { name: 'open', context: sent });
      assert.equal(parsed(conditionRecord(condition)), condition);
    }),
  );
});

test('hostile members stay members', () => {
  const sent: unknown = JSON.parse('{"name":"open","context":{"__proto__":{"a":1},"constructor":"x"}}');
  assert.equal(parsed(sent), 'open {"__proto__":{"a":1},"constructor":"x"}');
});

test('a context holds exactly as many bytes as it may', () => {
  const context = (bytes: number) => ({ name: 'open', context: { a: 'x'.repeat(bytes - '{"a":""}'.length) } });
  assert.ok(isCondition(parsed(context(GRANT_CONTEXT_BYTES_MAX))));
  assert.match(refusal(context(GRANT_CONTEXT_BYTES_MAX + 1)), /^"condition.context" takes 513 bytes .*at most 512/);
  assert.match(refusal({ name: 'open', context: { a: 'ü'.repeat(253) } }), /takes 514 bytes/);
});

test('what JSON does not carry exactly stays what it is', () => {
  const read = (text: string) => canonicalContext(JSON.parse(text), 'context', 1000);
  assert.equal(
    parsed({ name: 'open', context: { a: 2 ** 53 - 1, b: 0.1, c: -0 } }),
    'open {"a":9007199254740991,"b":0.1,"c":0}',
  );
  for (const number of ['9007199254740993', '-9007199254740992', '1e300', '1e999', '-1e999']) {
    const written = read(`{"a":[0,{"b":${number}}]}`);
    assert.deepEqual(contextIn(written), { a: [0, { b: Number(number) }] });
    assert.equal(read(written), written);
  }
  for (const text of ['{"a":"\\ud800"}', '{"\\ud800":1}']) {
    assert.deepEqual(contextIn(read(text)), JSON.parse(text));
    assert.ok(read(text).isWellFormed());
  }
});

test('depth is cut where it is too deep for a condition', () => {
  const nested = (depth: number): unknown => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
  const read = (depth: number): string => canonicalContext(nested(depth), 'context', 1000);
  assert.equal(read(CONTEXT_DEPTH_MAX), JSON.stringify(nested(CONTEXT_DEPTH_MAX)));
  assert.equal(read(CONTEXT_DEPTH_MAX + 1), JSON.stringify(nested(CONTEXT_DEPTH_MAX + 1)).replace('{"a":1}', '{}'));
  assert.equal(read(4000), read(CONTEXT_DEPTH_MAX + 1));
});

test('what is no condition is refused with its place', () => {
  assert.match(refusal('open'), /^"condition" must be an object/);
  assert.match(refusal([]), /^"condition" must be an object/);
  assert.match(refusal({}), /^"condition.name" must be the name/);
  assert.match(refusal({ name: 'a b' }), /^"condition.name" must be the name/);
  assert.match(refusal({ name: 'a'.repeat(65) }), /^"condition.name" must be the name/);
  assert.match(refusal({ name: 'open', context: [] }), /^"condition.context" must be a JSON object/);
  assert.match(refusal({ name: 'open', context: null }), /^"condition.context" must be a JSON object/);
  assert.match(refusal({ name: 'open', contxt: {} }), /^"condition.contxt" is unknown; the nearest/);
});
