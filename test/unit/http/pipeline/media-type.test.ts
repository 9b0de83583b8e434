// The media types of bodies that are taken, and those that only look like one.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findMediaTypeError } from '../../../../src/http/pipeline/media-type.ts';

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
    it(`is taken: ${type}`, () => assert.equal(findMediaTypeError({ 'content-type': type }), undefined));
  }
  for (const type of refused) {
    it(`is refused: ${type}`, () => {
      assert.equal(findMediaTypeError({ 'content-type': type })?.code, 'unsupported-media-type');
    });
  }
  it('is named where it is refused, unless it is of no ordinary form', () => {
    const detailOf = (type: string | undefined) => findMediaTypeError({ 'content-type': type })?.message ?? '';
    assert.match(detailOf('application/x-www-form-urlencoded'), /it has "application\/x-www-form-urlencoded"\.$/);
    assert.match(detailOf('text/plain; charset=utf-8'), /it has "text\/plain; charset=utf-8"\.$/);
    assert.match(detailOf(undefined), /it has none\.$/);
    for (const type of ['', 'ä', 'x'.repeat(129), 'a b c']) assert.match(detailOf(type), /it has another\.$/);
  });
  it('is looked at once, however many spaces and semicolons it is made of', () => {
    // Were there two ways to read each part, this would take longer than the universe has lasted.
    for (const part of [';  ', '; ; charset=utf-8  ', ' \t']) {
      const type = `application/json${part.repeat(16 * 1024)}x`;
      assert.equal(findMediaTypeError({ 'content-type': type })?.code, 'unsupported-media-type');
    }
  });
  it('comes without a content encoding', () => {
    const type = { 'content-type': 'application/json' };
    assert.equal(findMediaTypeError({ ...type, 'content-encoding': 'identity' }), undefined);
    for (const encoding of ['gzip', 'br', 'identity, gzip', '']) {
      assert.equal(
        findMediaTypeError({ ...type, 'content-encoding': encoding })?.code,
        'unsupported-media-type',
        encoding,
      );
    }
  });
});
