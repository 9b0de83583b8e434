// Timestamps on the wire, and the assertions.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { assert as assertInCode, assertNever } from '../../../../src/core/assert.ts';
import { formatTimestamp } from '../../../../src/core/async/clock.ts';

describe('formatTimestamp', () => {
  it('is ISO 8601 in UTC with milliseconds and Z', () => {
    assert.equal(formatTimestamp(0), '1970-01-01T00:00:00.000Z');
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), (wallMs) => {
        const text = formatTimestamp(wallMs);
        assert.match(text, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
        assert.equal(Date.parse(text), wallMs);
      }),
    );
  });
});

describe('assertions', () => {
  it('throw with their message where the condition fails', () => {
    assertInCode(true, 'x');
    assert.throws(() => assertInCode(false, 'a bound holds'), /Assertion failed: a bound holds/);
  });

  it('throw for a case that was forgotten', () => {
    // @ts-expect-error a value that the compiler knows to be possible is refused at compile time too
    assert.throws(() => assertNever('x'), /Unexpected value: "x"/);
  });
});
