// What is read of the head of a request: the key, the media type of the body, and the query.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseQuery } from '../../../../src/core/text/query.ts';
import {
  bearerTokenOf,
  findMediaTypeError,
  JSON_ALONE,
  queryTextOf,
} from '../../../../src/http/pipeline/request-head.ts';
import { anyCharacter } from '../../support/any-character.ts';

describe('the bearer token of a request', () => {
  for (const [header, token] of [
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['BEARER abc', 'abc'],
    ['Bearer   abc', 'abc'],
  ]) {
    it(`is found in ${JSON.stringify(header)}`, () => assert.equal(bearerTokenOf(header), token));
  }

  for (const header of [undefined, '', 'Bearer', 'Bearer ', 'Bearer a b', 'Bearer a ', 'Basic abc', 'xBearer abc']) {
    it(`is not found in ${JSON.stringify(header)}`, () => assert.equal(bearerTokenOf(header), undefined));
  }
});

const taken = [
  'application/json',
  'Application/JSON',
  'application/json;charset=utf-8',
  'application/json; charset=UTF-8',
  'application/json ; charset="utf-8"',
  'application/json;',
  'application/json\t; ;;\tcharset=utf-8 ; ',
];
const refused = [
  undefined,
  '',
  'text/plain',
  'text/json',
  'application/problem+json',
  'application/jsonx',
  'application/json; charset=latin1',
  'application/json; charset=utf-16',
  'application/json; charset=utf-8; profile=x',
  'application/json, application/json',
  'multipart/form-data; boundary=application/json',
];

describe('the media type of a body', () => {
  for (const type of taken) {
    it(`is taken: ${type}`, () => assert.equal(findMediaTypeError({ 'content-type': type }, JSON_ALONE), undefined));
  }
  for (const type of refused) {
    it(`is refused: ${type}`, () => {
      assert.equal(findMediaTypeError({ 'content-type': type }, JSON_ALONE)?.code, 'unsupported-media-type');
    });
  }
  it('is named where it is refused, unless it is of no ordinary form', () => {
    const detailOf = (type: string | undefined) =>
      findMediaTypeError({ 'content-type': type }, JSON_ALONE)?.message ?? '';
    assert.match(detailOf('application/x-www-form-urlencoded'), /it has "application\/x-www-form-urlencoded"\.$/);
    assert.match(detailOf('text/plain; charset=utf-8'), /it has "text\/plain; charset=utf-8"\.$/);
    assert.match(detailOf(undefined), /it has none\.$/);
    for (const type of ['', 'ä', 'x'.repeat(129), 'a b c']) assert.match(detailOf(type), /it has another\.$/);
  });
  it('is looked at once, however many spaces and semicolons it is made of', () => {
    // Were there two ways to read each part, this would take longer than the universe has lasted.
    for (const part of [';  ', '; ; charset=utf-8  ', ' \t']) {
      const type = `application/json${part.repeat(16 * 1024)}x`;
      assert.equal(findMediaTypeError({ 'content-type': type }, JSON_ALONE)?.code, 'unsupported-media-type');
    }
  });
  it('comes without a content encoding', () => {
    const type = { 'content-type': 'application/json' };
    assert.equal(findMediaTypeError({ ...type, 'content-encoding': 'identity' }, JSON_ALONE), undefined);
    for (const encoding of ['gzip', 'br', 'identity, gzip', '']) {
      assert.equal(
        findMediaTypeError({ ...type, 'content-encoding': encoding }, JSON_ALONE)?.code,
        'unsupported-media-type',
        encoding,
      );
    }
  });
});

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
