// What a check or a listing brings along: its bounds, and what binds a cursor to it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CALL_CONTEXT_BYTES_MAX, contextScope, hasContext, parseCallContext } from '../../../src/core/call-context.ts';
import { GrantdError } from '../../../src/core/errors.ts';

const GRANT = { subject: 'user:ann', relation: 'viewer', object: 'doc:1' } as const;

const refusal = (body: Readonly<Record<string, unknown>>): string => {
  try {
    parseCallContext(body);
  } catch (error) {
    if (error instanceof GrantdError) return `${error.code}: ${error.message}`;
  }
  return '';
};

test('nothing, and what is empty, is no context', () => {
  for (const body of [{}, { context: {} }, { context_grants: [] }, { context: {}, context_grants: [] }]) {
    assert.deepEqual(parseCallContext(body), {});
    assert.equal(hasContext(parseCallContext(body)), false);
  }
});

test('a context is canonical, and grants carry their conditions', () => {
  const body = {
    context: { b: 2, a: 1 },
    context_grants: [GRANT, { ...GRANT, object: 'doc:2', condition: { name: 'open', context: { zone: 'CET' } } }],
  };
  assert.deepEqual(parseCallContext(body), {
    context: '{"a":1,"b":2}',
    contextGrants: [GRANT, { ...GRANT, object: 'doc:2', condition: 'open {"zone":"CET"}' }],
  });
  assert.deepEqual(parseCallContext({ context_grants: [{ ...GRANT, condition: null }] }), { contextGrants: [GRANT] });
});

test('bounds are exact, and what is beyond them is refused with its place', () => {
  const context = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
  assert.equal(parseCallContext({ context: context(CALL_CONTEXT_BYTES_MAX) }).context?.length, CALL_CONTEXT_BYTES_MAX);
  assert.match(
    refusal({ context: context(CALL_CONTEXT_BYTES_MAX + 1) }),
    /^invalid-request: "context" takes 32769 bytes/,
  );
  const grants = (count: number) => ({ context_grants: Array.from({ length: count }, () => GRANT) });
  assert.equal(parseCallContext(grants(100)).contextGrants?.length, 100);
  assert.match(refusal(grants(101)), /^bulk-too-large: "context_grants" holds 101/);
  assert.match(
    refusal({ context_grants: [GRANT, { ...GRANT, expires_at: null }] }),
    /"context_grants\[1\].expires_at"/,
  );
  assert.match(
    refusal({ context_grants: [{ ...GRANT, subject: 'x' }] }),
    /^invalid-subject: "context_grants\[0\].subject"/,
  );
  assert.match(refusal({ context_grants: [{ ...GRANT, relation: 7 }] }), /^invalid-relation: "context_grants\[0\]/);
  assert.match(refusal({ context_grants: [1] }), /^invalid-request: "context_grants\[0\]" must be an object/);
  assert.match(refusal({ context_grants: GRANT }), /^invalid-request: "context_grants" must be an array/);
  const long = { name: 'open', context: { a: 'x'.repeat(600) } };
  assert.match(
    refusal({ context_grants: [{ ...GRANT, condition: long }] }),
    /"context_grants\[0\].condition.context" takes/,
  );
  assert.match(refusal({ context: [] }), /^invalid-request: "context" must be a JSON object/);
});

test('a cursor is bound to everything that a call brings along, and to nothing where it brings nothing', () => {
  assert.deepEqual(contextScope({}), []);
  const scopes = [
    { context: '{"a":1}' },
    { context: '{"a":2}' },
    { contextGrants: [GRANT] },
    { contextGrants: [GRANT, GRANT] },
    { contextGrants: [{ ...GRANT, condition: 'open' }] },
    { contextGrants: [{ ...GRANT, object: 'doc:2' }] },
    { context: '{"a":1}', contextGrants: [GRANT] },
  ].map((call) => contextScope(call).join(' '));
  assert.equal(new Set([...scopes, '']).size, 8);
});
