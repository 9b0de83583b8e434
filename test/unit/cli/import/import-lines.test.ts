// Lines of a file to import: the same whatever the chunks, numbered as an editor numbers them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  encodeLine,
  LINE_BYTES_MAX,
  readLines,
  type SourceLine,
} from '../../../../packages/cli/src/import/import-lines.ts';

async function linesOf(chunks: readonly Uint8Array[]): Promise<readonly SourceLine[]> {
  const lines: SourceLine[] = [];
  for await (const some of readLines(
    (async function* () {
      yield* chunks;
    })(),
  ))
    lines.push(...some);
  return lines;
}

test('lines do not depend on where the chunks are cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a\tb\tc', '', '\r', 'ü🦊\t', '\ufeff')),
      fc.constantFrom('', '\n', '\r\n', 'end'),
      fc.array(fc.nat(60)),
      async (parts, end, cuts) => {
        const bytes = Buffer.from(parts.join('\n') + end);
        const edges = [0, ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
        assert.deepEqual(await linesOf(chunks), await linesOf([bytes]));
      },
    ),
  );
});

test('the number of a line counts empty ones, and the last needs no end', async () => {
  const lines = await linesOf([Buffer.from('a\n\nb\r\nc')]);
  assert.deepEqual(
    lines.map(({ number, bytes }) => [number, bytes.toString()]),
    [
      [1, 'a'],
      [2, ''],
      [3, 'b'],
      [4, 'c'],
    ],
  );
  assert.deepEqual(await linesOf([]), []);
});

test('a line of any length costs no more than the bound', async () => {
  const chunk = Buffer.alloc(LINE_BYTES_MAX, 'x');
  const lines = await linesOf([...Array.from({ length: 50 }, () => chunk), Buffer.from('\nshort\n'), chunk]);
  assert.deepEqual(
    lines.map(({ bytes, cut }) => [bytes.length, cut]),
    [
      [LINE_BYTES_MAX, true],
      [5, false],
      [LINE_BYTES_MAX, false],
    ],
  );
});

test('three columns become JSON, whatever is in them, a fourth is the expiry, and a fifth the condition', () => {
  const encode = (text: string) => encodeLine({ number: 1, bytes: Buffer.from(text), cut: false }, 'tsv');
  assert.deepEqual(encode('a"b\tc\\d\té'), { json: '{"subject":"a\\"b","relation":"c\\\\d","object":"é"}' });
  assert.deepEqual(encode('a\tb\tc\td'), { json: '{"subject":"a","relation":"b","object":"c","expires_at":"d"}' });
  assert.deepEqual(encode('a\tb\tc\t'), { json: '{"subject":"a","relation":"b","object":"c"}' });
  assert.deepEqual(encode('a\tb\tc\t\tx {"y": 1}'), {
    json: '{"subject":"a","relation":"b","object":"c","condition":{"name":"x","context":{"y":1}}}',
  });
  assert.deepEqual(encode('a\tb\tc\td\tx'), {
    json: '{"subject":"a","relation":"b","object":"c","expires_at":"d","condition":{"name":"x"}}',
  });
  assert.equal(encode(''), undefined);
  for (const text of ['a', 'a\tb', `a${'\tb'.repeat(20)}`, 'a\tb\tc\t\tx {', 'a\tb\tc\t\tx {"y":1,"y":2}', ' '])
    assert.ok('refusal' in (encode(text) ?? {}), text);
});
