// Entity tags in conditions: read as RFC 9110 says, or refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEntityTags } from '../../../../src/core/text/header-fields.ts';

const parse = (text: string) => parseEntityTags('If-Match', text);

test('tags are read with their weakness, whatever they hold', () => {
  assert.deepEqual(parse('"a"'), [{ weak: false, value: 'a' }]);
  assert.deepEqual(parse('W/"a" ,\t"b,c",, "", "*"'), [
    { weak: true, value: 'a' },
    { weak: false, value: 'b,c' },
    { weak: false, value: '' },
    { weak: false, value: '*' },
  ]);
  assert.deepEqual(parse(' , "a",'), [{ weak: false, value: 'a' }]);
  assert.equal(parse('*'), '*');
  assert.equal(parse(' *\t'), '*');
});

test('anything else is refused, never read as no condition', () => {
  for (const text of [
    '',
    ' ',
    ',',
    'a',
    '"a',
    'a"',
    '"a" "b"',
    '"a"b',
    'w/"a"',
    'W/ "a"',
    '*, "a"',
    '"a", *',
    '"a b"',
  ]) {
    assert.throws(() => parse(text), { code: 'invalid-request', message: /If-Match/ }, text);
  }
});

test('a long header is read in a time that grows with it', () => {
  const long = Array.from({ length: 4000 }, (_, index) => `"${index}"`).join(',');
  assert.equal(parse(long).length, 4000);
  const startMs = performance.now();
  assert.throws(() => parse(`${', '.repeat(100_000)}"`), { code: 'invalid-request' });
  assert.throws(() => parse(`"a"${' '.repeat(300_000)}"b"`), { code: 'invalid-request' });
  assert.throws(() => parse(`${'"a"'.repeat(30_000)}`), { code: 'invalid-request' });
  assert.ok(performance.now() - startMs < 1000);
});
