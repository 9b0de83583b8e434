// A body that has arrived whole, behind other bytes, or in pieces.

import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import type { GrantdError } from '../../../../src/core/errors.ts';
import { ArrivingText, takeBody } from '../../../../src/http/wire/request-body.ts';

function take(bytes: Buffer, start: number, bytesMax = 1000): { code: string | undefined; text: string } {
  const results: { code: string | undefined; text: string }[] = [];
  takeBody(bytes, start, bytesMax, (error: GrantdError | undefined, text) => results.push({ code: error?.code, text }));
  assert.equal(results.length, 1);
  return results[0] ?? { code: 'none', text: '' };
}

/** Characters of each length in UTF-8, the one that stands for what is ill-formed among them, cut anywhere. */
const nearlyText = fc
  .tuple(fc.string({ unit: fc.constantFrom('a', 'é', '\uFFFD', '\uFEFF', '€', '😀'), maxLength: 8 }), fc.nat(40))
  .map(([text, cut]) => Buffer.from(text).subarray(0, cut));

test('is the text that its bytes are, or refused where they are none', () => {
  const body = fc.oneof(nearlyText, fc.uint8Array({ minLength: 1, maxLength: 12 }).map(Buffer.from));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5 }), body, (before, bytes) => {
      const { code, text } = take(Buffer.concat([before, bytes]), before.length);
      if (isUtf8(bytes)) {
        assert.equal(code, undefined);
        assert.deepEqual(Buffer.from(text), Buffer.from(bytes));
      } else {
        assert.equal(code, 'invalid-request');
        assert.equal(text, '');
      }
    }),
    { numRuns: 500 },
  );
});

test('that is long is never decoded where it is no text', (context) => {
  const decode = context.mock.method(Buffer.prototype, 'toString');
  const bytes = Buffer.alloc(1024 * 1024, 0xff);
  assert.equal(take(bytes, 0, bytes.length).code, 'invalid-request');
  assert.equal(decode.mock.callCount(), 0);
  const text = '\uFFFD'.repeat(10_000);
  assert.equal(take(Buffer.from(text), 0, 1024 * 1024).text, text);
});

test('is refused beyond its bound, of which the bytes before it are no part', () => {
  assert.equal(take(Buffer.from('head1234'), 4, 4).text, '1234');
  assert.equal(take(Buffer.from('head12345'), 4, 4).code, 'payload-too-large');
});

test('in pieces is the text of the whole, or none where that is none', () => {
  const bytesOf = fc.oneof(nearlyText, fc.uint8Array({ minLength: 1, maxLength: 12 }).map(Buffer.from));
  fc.assert(
    fc.property(bytesOf, fc.array(fc.nat(12)), (bytes, cuts) => {
      const arriving = new ArrivingText();
      const places = [0, ...cuts.sort((left, right) => left - right), bytes.length];
      for (const [index, place] of places.entries()) arriving.add(bytes.subarray(place, places[index + 1] ?? place));
      const text = arriving.end();
      assert.equal(text !== undefined, isUtf8(bytes));
      if (text !== undefined) assert.deepEqual(Buffer.from(text), bytes);
    }),
    { numRuns: 1000 },
  );
});
