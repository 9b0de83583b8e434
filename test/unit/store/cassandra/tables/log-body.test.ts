// Bodies of log records in their column.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeBody, encodeBody } from '../../../../../src/store/cassandra/tables/rows.ts';

describe('the body of a log record', () => {
  it('comes back as it went, of any length', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'grapheme', minLength: 1000, size: 'large' }),
    );
    fc.assert(fc.property(text, (body) => assert.equal(decodeBody(encodeBody(body)), body)));
  });

  it('is readable while it is short, and deflated from 1 KiB on', () => {
    assert.equal(encodeBody('{"a":1}').toString('utf8'), '\0{"a":1}');
    const long = JSON.stringify(
      Array.from({ length: 64 }, (_, index) => ({ object: `doc:${index}`, relation: 'viewer' })),
    );
    assert.ok(encodeBody(long).length < long.length / 3);
  });

  it('that is damaged is refused: without a beginning, of another kind, cut short, or far too long', () => {
    const deflated = encodeBody('é'.repeat(5000));
    assert.throws(() => decodeBody(Buffer.of()));
    assert.throws(() => decodeBody(Buffer.of(2, 65)));
    assert.throws(() => decodeBody(deflated.subarray(0, -2)));
    assert.throws(() => decodeBody(encodeBody('x'.repeat(5 * 1024 * 1024))), { code: 'ERR_BUFFER_TOO_LARGE' });
  });
});
