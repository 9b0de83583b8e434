// Timestamps in JSON.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatTimestamp } from '../../../../src/core/text/timestamps.ts';

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
