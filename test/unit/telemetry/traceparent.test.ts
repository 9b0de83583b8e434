// The header traceparent: taken as its standard says, from whoever sends it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatTraceparent, parseTraceparent } from '../../../src/telemetry/tracing.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN_ID = 'b7ad6b7169203331';

describe('traceparent', () => {
  it('names a trace and a span, and says whether they are sampled', () => {
    const ids = { traceId: TRACE_ID, spanId: SPAN_ID };
    assert.deepEqual(parseTraceparent(`00-${TRACE_ID}-${SPAN_ID}-01`), { ...ids, sampled: true });
    assert.deepEqual(parseTraceparent(`00-${TRACE_ID}-${SPAN_ID}-00`), { ...ids, sampled: false });
    // Bits that are not known yet change nothing.
    assert.deepEqual(parseTraceparent(`00-${TRACE_ID}-${SPAN_ID}-ff`), { ...ids, sampled: true });
    assert.deepEqual(parseTraceparent(`00-${TRACE_ID}-${SPAN_ID}-fe`), { ...ids, sampled: false });
  });

  it('of a later version may say more', () => {
    const known = { traceId: TRACE_ID, spanId: SPAN_ID, sampled: true };
    assert.deepEqual(parseTraceparent(`cc-${TRACE_ID}-${SPAN_ID}-01`), known);
    assert.deepEqual(parseTraceparent(`cc-${TRACE_ID}-${SPAN_ID}-01-what-the-future-will-be-like`), known);
  });

  for (const [what, text] of [
    ['nothing', ''],
    ['the version that is forbidden', `ff-${TRACE_ID}-${SPAN_ID}-01`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN_ID}-01`],
    ['a span id of zeros', `00-${TRACE_ID}-${'0'.repeat(16)}-01`],
    ['capital letters', `00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`],
    ['a trace id that is too short', `00-${TRACE_ID.slice(1)}-${SPAN_ID}-01`],
    ['a trace id that is too long', `00-${TRACE_ID}0-${SPAN_ID}-01`],
    ['more than version 00 has', `00-${TRACE_ID}-${SPAN_ID}-01-more`],
    ['something behind the flags', `cc-${TRACE_ID}-${SPAN_ID}-01.more`],
    ['two headers in one', `00-${TRACE_ID}-${SPAN_ID}-01, 00-${TRACE_ID}-${SPAN_ID}-01`],
    ['spaces before it', ` 00-${TRACE_ID}-${SPAN_ID}-01`],
    ['a line break', `00-${TRACE_ID}-${SPAN_ID}-01\n`],
    ['letters that are not hexadecimal', `00-${TRACE_ID.replace('a', 'g')}-${SPAN_ID}-01`],
    ['megabytes', `cc-${TRACE_ID}-${SPAN_ID}-01-${'x'.repeat(2_000_000)}`],
  ] as const) {
    it(`that is ${what} counts as not sent`, () => {
      assert.equal(parseTraceparent(text), undefined);
    });
  }

  it('is read as it was written', () => {
    assert.deepEqual(parseTraceparent(formatTraceparent(TRACE_ID, SPAN_ID)), {
      traceId: TRACE_ID,
      spanId: SPAN_ID,
      sampled: true,
    });
  });
});
