// Problem documents: the members RFC 9457 and the specification ask for, the headers each status asks for, and nothing
// of the cause.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERROR_CATALOGUE, GrantdError, isErrorCode } from '../../../src/core/errors.ts';
import { problemOf } from '../../../src/core/problem.ts';

const OPTIONS = { errorsBase: 'https://example.com/errors', requestId: 'req_01jd0000000000000000000000' };

describe('a problem document', () => {
  for (const code of Object.keys(ERROR_CATALOGUE)) {
    it(`of ${code} has type, title, status, detail and instance, and its headers`, () => {
      assert.ok(isErrorCode(code));
      const { status, headers, body } = problemOf(new GrantdError(code, 'What is wrong.'), OPTIONS);
      const { httpStatus, title } = ERROR_CATALOGUE[code];
      assert.deepEqual(body, {
        type: `https://example.com/errors/${code}`,
        title,
        status: httpStatus,
        detail: 'What is wrong.',
        instance: OPTIONS.requestId,
      });
      assert.equal(status, httpStatus);
      assert.equal(headers['Content-Type'], 'application/problem+json');
      assert.equal(headers['X-Service-Request-Id'], OPTIONS.requestId);
      assert.equal(headers['Cache-Control'], 'no-store');
      assert.equal(headers['WWW-Authenticate'] !== undefined, status === 401);
      assert.equal(headers['Retry-After'] !== undefined, status === 429 || status === 503);
    });
  }

  it('gives Retry-After in whole seconds, rounded up, at least 1', () => {
    for (const [given, header] of [
      [0, '1'],
      [-5, '1'],
      [1, '1'],
      [1.2, '2'],
      [59, '59'],
    ] as const) {
      const error = new GrantdError('rate-limited', 'x', { details: { retryAfterSeconds: given } });
      assert.equal(problemOf(error, OPTIONS).headers['Retry-After'], header);
    }
  });

  it('gives Allow with a 405', () => {
    const error = new GrantdError('method-not-allowed', 'x', { details: { allow: 'GET, POST' } });
    assert.equal(problemOf(error, OPTIONS).headers.Allow, 'GET, POST');
  });

  it('says nothing of an unexpected error', () => {
    const { status, body } = problemOf(new Error('password=hunter2'), OPTIONS);
    assert.equal(status, 500);
    assert.ok(!JSON.stringify(body).includes('hunter2'));
  });
});
