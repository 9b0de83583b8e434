// The error catalogue: sane, complete against the specification, and safe to publish.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERROR_CATALOGUE, GrantdError, isErrorCode } from '../../../src/core/errors.ts';

const entries = Object.entries(ERROR_CATALOGUE);

describe('the error catalogue', () => {
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
