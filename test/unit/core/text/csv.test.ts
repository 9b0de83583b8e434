// Lines of CSV: what is written is read again, and no line takes long to refuse.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatCsvLine, holdsFormula, inertJson, parseCsvLine } from '../../../../src/core/text/csv.ts';

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

/** The cells that a spreadsheet makes of a line with this separator: quotes count only at the beginning of a cell. */
function spreadsheetCells(line: string, separator: string): readonly string[] {
  const cells: string[] = [];
  let cell = '';
  let state: 'start' | 'quoted' | 'plain' = 'start';
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (state === 'quoted') {
      if (character !== '"') cell += character;
      else if (line.charAt(at + 1) === '"') {
        cell += '"';
        at += 1;
      } else state = 'plain';
    } else if (character === separator || character === '\n' || character === '\r') {
      cells.push(cell);
      cell = '';
      state = 'start';
    } else if (character === '"' && state === 'start') state = 'quoted';
    else {
      cell += character;
      state = 'plain';
    }
  }
  return [...cells, cell];
}

const hostile = fc.string({ unit: fc.constantFrom(...'a1;,|\t\r\n"\'=+-@＝＠ :\\'), maxLength: 12 });
const isFormula = (cell: string): boolean => /^[\s"]*[=+\-@＝＋－＠]/u.test(cell);

test('no text becomes a formula, whichever separator a spreadsheet takes', () => {
  fc.assert(
    fc.property(fc.array(hostile, { minLength: 1, maxLength: 5 }), hostile, (fields, value) => {
      const json = JSON.stringify({ value: [value, `x${value}`] });
      const line = formatCsvLine(['2030-01-01T00:00:00.000Z', ...fields, 7, inertJson(json)]);
      for (const separator of ',;|\t') {
        for (const cell of spreadsheetCells(line, separator)) assert.ok(!isFormula(cell), JSON.stringify([cell, line]));
      }
      assert.deepEqual(JSON.parse(inertJson(json)), JSON.parse(json));
    }),
    { numRuns: 5000 },
  );
  const [cell = ''] = spreadsheetCells(formatCsvLine(["user:x;=cmd|'/Ccalc'!A0;"]), ',');
  assert.equal(cell, "user:x;'=cmd|'/Ccalc'!A0;");
});

test('a text that could be no formula is written as it is', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      fc.pre(!holdsFormula(text));
      assert.deepEqual(
        spreadsheetCells(formatCsvLine(['a', text]), ',').join('\n'),
        `a\n${text.replaceAll('\r', '\r')}`,
      );
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
