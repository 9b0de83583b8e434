// The assertions.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assert as assertInCode, assertNever } from '../../../src/core/assert.ts';

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
