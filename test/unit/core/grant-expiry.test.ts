// The expiry of a new grant, as callers write it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { refuseTerms } from '../../../src/core/grant-attributes.ts';
import { parseExpiry } from '../../../src/core/grant-terms.ts';
import { parseTimestamp } from '../../../src/core/text/timestamps.ts';

const NOW_MS = Date.UTC(2026, 10, 1);

test('a timestamp is read as what it says, in any time zone and to the millisecond', () => {
  for (const text of [
    '2030-01-31T12:00:00Z',
    '2030-01-31T12:00Z',
    '2030-01-31T12:00:00.5Z',
    '2030-01-31T12:00:00.123+05:30',
    '2028-02-29T23:59:59-11:00',
  ]) {
    assert.equal(parseTimestamp(text), Date.parse(text), text);
  }
  assert.equal(parseTimestamp('2030-01-31T12:00:00.123456789Z'), Date.parse('2030-01-31T12:00:00.123Z'));
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true }), (date) => {
      assert.equal(parseTimestamp(date.toISOString()), date.getTime());
    }),
  );
});

test('what is no timestamp with a time zone, or no day of the calendar, is none', () => {
  for (const text of [
    '',
    '2030',
    '2030-01-31',
    '2030-01-31T12:00:00',
    '2030-01-31 12:00:00Z',
    '2030-02-30T12:00:00Z',
    '2029-02-29T12:00:00Z',
    '2030-13-01T12:00:00Z',
    '2030-01-31T24:00:00Z',
    '2030-01-31T12:60:00Z',
    '2030-01-31T12:00:00+24:00',
    '2030-01-31T12:00:00Z ',
    '+002030-01-31T12:00:00Z',
  ]) {
    assert.equal(parseTimestamp(text), undefined, text);
  }
});

test('an expiry is absent, none at all, or a moment within a century', () => {
  assert.deepEqual(parseExpiry(undefined, NOW_MS), {});
  assert.deepEqual(parseExpiry(null, NOW_MS), { expiresAtMs: null });
  assert.deepEqual(parseExpiry('2126-11-01T00:00:00Z', NOW_MS), { expiresAtMs: Date.UTC(2126, 10, 1) });
  // Only the owner knows whether it has passed, by the time of the slot.
  assert.deepEqual(parseExpiry('2020-01-01T00:00:00Z', NOW_MS), { expiresAtMs: Date.UTC(2020, 0, 1) });
  for (const wrong of ['2126-11-05T00:00:00Z', '9999-12-31T00:00:00Z', '1960-01-01T00:00:00Z', 7, {}, [], true, '']) {
    assert.throws(() => parseExpiry(wrong, NOW_MS), { code: 'invalid-request', message: /^"expires_at" must be / });
  }
});

test('a revocation takes none', () => {
  refuseTerms({});
  for (const expires_at of [null, '2030-01-31T12:00:00Z']) {
    assert.throws(() => refuseTerms({ expires_at }), { code: 'invalid-request' });
  }
});
