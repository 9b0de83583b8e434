// Query strings: decoded faithfully, and refused rather than guessed about.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseQuery, queryTextOf } from '../../../../src/http/pipeline/query-text.ts';
import { anyCharacter } from '../../support/any-character.ts';

describe('the query string', () => {
  it('is what stands behind the first "?"', () => {
    assert.equal(queryTextOf('/v1/objects'), '');
    assert.equal(queryTextOf('/v1/objects?'), '');
    assert.equal(queryTextOf('/v1/objects?a=b?c'), 'a=b?c');
    assert.throws(() => queryTextOf('/v1/objects?a=b#c'), { code: 'invalid-request' });
  });

  it('is decoded', () => {
    const values = parseQuery('a=x%3Ay+z&&b=%F0%9F%98%80&c', ['a', 'b', 'c']);
    assert.deepEqual({ ...values }, { a: 'x:y z', b: '😀', c: '' });
  });

  const refused: [string, RegExp][] = [
    ['a=1&a=2', /"a" is repeated/],
    ['%61=1&a=2', /"a" is repeated/],
    ['z=1', /"z" is unknown; known parameters: a, b/],
    ['=1', /"" is unknown/],
    ['__proto__=1', /"__proto__" is unknown/],
    ['constructor=1', /"constructor" is unknown/],
    ['a=%', /malformed percent-encoding/],
    ['a=%zz', /malformed percent-encoding/],
    ['a=%ff', /malformed percent-encoding/],
    ['a=%ed%a0%80', /malformed percent-encoding/],
  ];
  for (const [text, message] of refused) {
    it(`is refused: ${text}`, () => {
      assert.throws(() => parseQuery(text, ['a', 'b']), { code: 'invalid-request', message });
    });
  }

  it('brings every well-formed value over', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (value) => {
        fc.pre(value.isWellFormed());
        assert.equal(parseQuery(`a=${encodeURIComponent(value)}`, ['a']).a, value);
        assert.equal(parseQuery(new URLSearchParams({ a: value }).toString(), ['a']).a, value);
      }),
    );
  });
});
