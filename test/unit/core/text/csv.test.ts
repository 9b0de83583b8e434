// Lines of CSV: what is written is read again, and no line takes long to refuse.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatCsvLine, parseCsvLine } from '../../../../src/core/text/csv.ts';

test('fields come without the spaces around them, and with what stands in quotes', () => {
  for (const [text, fields] of [
    ['a,b,c', ['a', 'b', 'c']],
    [' a , b,\tc ', ['a', 'b', 'c']],
    ['"a,b", "c ""d""" ,e', ['a,b', 'c "d"', 'e']],
    ['', ['']],
    ['a,', ['a', '']],
    [',,', ['', '', '']],
    ['"",x', ['', 'x']],
  ] as const) {
    assert.deepEqual(parseCsvLine(text), fields, text);
  }
});

test('a quote that is not closed, not doubled or not around the whole field is refused', () => {
  for (const text of ['"a', 'a"b', '"a"b', 'a,"b"c,d', '"a""', '"""']) {
    assert.equal(parseCsvLine(text), undefined, text);
  }
});

test('what is written is read again', () => {
  const field = fc
    .string({ unit: fc.constantFrom('a', ',', '"', ' ', 'é', '😀'), maxLength: 6 })
    .map((text) => text.trim());
  fc.assert(
    fc.property(fc.array(field, { minLength: 1, maxLength: 5 }), (fields) => {
      assert.deepEqual(parseCsvLine(formatCsvLine(fields)), fields);
    }),
  );
});

test('a line as long as may be is soon refused, whatever it repeats', () => {
  for (const part of [' ', '"', '""', ' "', '" ', ',"', '"" ', '\t']) {
    const text = `${part.repeat((128 * 1024) / part.length)}x"`;
    const startedMs = process.threadCpuUsage().user / 1000;
    parseCsvLine(text);
    assert.ok(process.threadCpuUsage().user / 1000 - startedMs < 500, JSON.stringify(part));
  }
});
