// The API key in an Authorization header: what carries one, and what does not.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearerTokenOf } from '../../../../src/http/pipeline/bearer-token.ts';

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
