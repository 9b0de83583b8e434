// The error catalogue: sane, complete against the specification, and safe to publish.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERROR_CATALOGUE, type ErrorCode, GrantdError, isErrorCode } from '../../../src/core/errors.ts';

const entries = Object.entries(ERROR_CATALOGUE);

describe('the error catalogue', () => {
  it('names every type of the specification with its status', () => {
    for (const [code, status] of [
      ['invalid-subject', 400],
      ['invalid-relation', 400],
      ['invalid-object', 400],
      ['bulk-too-large', 400],
      ['unauthorized', 401],
      ['rate-limited', 429],
    ] as const) {
      assert.equal(ERROR_CATALOGUE[code].httpStatus, status);
    }
  });

  it('has these statuses for the types the specification leaves open', () => {
    const expected: Partial<Record<ErrorCode, number>> = {
      'invalid-request': 400,
      'invalid-cursor': 400,
      'insufficient-scope': 403,
      'tenant-suspended': 403,
      'namespace-limit-reached': 403,
      'key-limit-reached': 403,
      'grant-limit-reached': 403,
      'grant-not-found': 404,
      'key-not-found': 404,
      'not-found': 404,
      'method-not-allowed': 405,
      'request-timeout': 408,
      'cursor-too-old': 410,
      'payload-too-large': 413,
      'unsupported-media-type': 415,
      'header-fields-too-large': 431,
      internal: 500,
      unavailable: 503,
      overloaded: 503,
    };
    for (const [code, status] of Object.entries(expected)) {
      assert.ok(isErrorCode(code));
      assert.equal(ERROR_CATALOGUE[code].httpStatus, status, code);
    }
  });

  for (const [code, entry] of entries) {
    it(`${code} has a code fit for a URL, an error status, one line of title and a meaning of sentences`, () => {
      assert.match(code, /^[a-z]+(-[a-z]+)*$/);
      assert.ok(entry.httpStatus >= 400 && entry.httpStatus < 600);
      assert.match(entry.title, /^[A-Z][^\n.]*$/);
      assert.match(entry.meaning, /^[A-Z][^\n]*\.$/);
      assert.ok(Object.isFrozen(entry));
    });

    it(`${code} is retryable exactly where its status says so`, () => {
      assert.equal(entry.retryable, [408, 429, 503].includes(entry.httpStatus));
    });
  }

  it('has no title twice', () => {
    assert.equal(new Set(entries.map(([, entry]) => entry.title)).size, entries.length);
  });

  it('knows its own codes and not those of Object.prototype', () => {
    for (const [code] of entries) assert.ok(isErrorCode(code));
    for (const text of ['', 'toString', '__proto__', 'constructor', 'Unauthorized']) assert.ok(!isErrorCode(text));
  });
});

describe('GrantdError', () => {
  it('carries code, message, details and cause', () => {
    const cause = new Error('disk');
    const error = new GrantdError('unavailable', 'Try again.', { details: { field: 'x' }, cause });
    assert.equal(error.code, 'unavailable');
    assert.equal(error.message, 'Try again.');
    assert.deepEqual(error.details, { field: 'x' });
    assert.equal(error.cause, cause);
    assert.equal(error.retryable, true);
    assert.equal(new GrantdError('internal', 'x').retryable, false);
    assert.ok(!('cause' in new GrantdError('internal', 'x')));
  });

  it('takes in any thrown value and tells nothing of it', () => {
    const known = new GrantdError('not-found', 'Nothing there.');
    assert.equal(GrantdError.from(known), known);
    for (const thrown of [new TypeError('secret'), 'secret', undefined, null, { message: 'secret' }]) {
      const error = GrantdError.from(thrown);
      assert.equal(error.code, 'internal');
      assert.ok(!error.message.includes('secret'));
      assert.equal(error.cause, thrown);
    }
  });
});
