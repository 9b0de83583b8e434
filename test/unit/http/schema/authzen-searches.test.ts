// Tokens of searches: bound to the whole request, whatever the order of its members.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson, parseSearchPage } from '../../../../src/http/schema/authzen-searches.ts';

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, reversed(member)] as const);
  return Object.fromEntries(members.reverse());
}

const attributes = fc.dictionary(fc.string(), fc.jsonValue());

test('equal values have the same text, whatever the order of their members, and others do not', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (value, other) => {
      const text = canonicalJson(value);
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
      assert.equal(canonicalJson(reversed(value)), text);
      const same = JSON.stringify(JSON.parse(canonicalJson(other))) === JSON.stringify(JSON.parse(text));
      assert.equal(canonicalJson(other) === text, same);
    }),
  );
});

test('values are read however deep they are', () => {
  const depth = 200_000;
  let [list, tree]: unknown[] = [[], {}];
  for (let level = 1; level < depth; level += 1) [list, tree] = [[list], { a: tree }];
  assert.ok(canonicalJson(list) === `${'['.repeat(depth)}${']'.repeat(depth)}`);
  assert.ok(canonicalJson(tree) === `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`);
});

test('a token leads on for its own request, and for no other', () => {
  const requests = fc.record({
    asked: fc.array(fc.jsonValue(), { maxLength: 3 }),
    context: fc.option(attributes, { nil: undefined }),
    properties: fc.option(attributes, { nil: undefined }),
    limit: fc.option(fc.integer({ min: 0, max: 2000 }), { nil: undefined }),
  });
  const parse = ({ asked, context, properties, limit }: Record<string, unknown>, token?: string) =>
    parseSearchPage({ context, page: { limit, properties, token } }, asked as unknown[]);
  const textOf = ({ limit, ...request }: { readonly limit: number | undefined }): string =>
    canonicalJson([request, limit === undefined ? null : Math.min(limit, 1000)]);
  fc.assert(
    fc.property(requests, requests, (request, other) => {
      const token = parse(request).tokenAt('abc_-1');
      const next = parse(request, token);
      assert.deepEqual([next.cursor, next.limit], ['abc_-1', parse(request).limit]);
      assert.equal(next.tokenAt('abc_-1'), token);
      const withoutLimit = parse({ ...request, limit: undefined }, token);
      assert.equal(withoutLimit.limit, request.limit === 0 ? 1000 : next.limit);
      if (textOf(other) === textOf(request)) assert.equal(parse(other, token).cursor, 'abc_-1');
      else if (textOf({ ...other, limit: request.limit }) !== textOf(request) || other.limit !== undefined)
        assert.throws(() => parse(other, token), { code: 'invalid-cursor' });
    }),
  );
});

test('a token whose limit no search can have is none, although its digest fits', () => {
  const forged = (limit: string) => {
    const digest = hash('sha256', canonicalJson([[], null, null, limit]), 'base64url').slice(0, 22);
    return { page: { token: `${limit}.${digest}.abc` } };
  };
  for (const limit of ['1', '1000']) assert.equal(parseSearchPage(forged(limit), []).limit, Number(limit));
  for (const limit of ['1001', '9999', '01', '0000', '00']) {
    assert.throws(() => parseSearchPage(forged(limit), []), { code: 'invalid-cursor' }, limit);
  }
});
