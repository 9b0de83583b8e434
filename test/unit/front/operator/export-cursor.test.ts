// Cursors of the export: they come back as they were, are bounded with the most slots, and are refused elsewhere.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LONG_CURSOR_LENGTH_MAX } from '../../../../src/core/text/cursors.ts';
import { ExportCursors } from '../../../../src/front/operator/audit-export.ts';

const keyOf = (byte: number): string => Buffer.alloc(32, byte).toString('base64url');
const cursors = new ExportCursors([keyOf(1)]);

test('a cursor is read as it was made, also with a key that is no longer the current one', () => {
  const count = fc.maxSafeNat();
  const position = fc.record(
    { sinceMs: count, startSlot: count, seqs: fc.array(count, { maxLength: 300 }) },
    { noNullPrototype: true },
  );
  const rotated = new ExportCursors([keyOf(2), keyOf(1)]);
  fc.assert(
    fc.property(position, (made) => {
      const cursor = cursors.cursorAt(made);
      assert.deepEqual(cursors.positionOf(cursor, made.seqs.length), made);
      assert.deepEqual(rotated.positionOf(cursor, made.seqs.length), made);
    }),
  );
});

test('a cursor of another cluster, for another number of slots, cut or changed is refused', () => {
  const cursor = cursors.cursorAt({ sinceMs: 0, startSlot: 1, seqs: [5, 300, 7, 9] });
  const strangers = [
    new ExportCursors([keyOf(2)]).cursorAt({ sinceMs: 0, startSlot: 1, seqs: [5, 300, 7, 9] }),
    cursor.slice(0, -1),
    cursor.slice(1),
    `${cursor}A`,
    '',
    'x'.repeat(LONG_CURSOR_LENGTH_MAX + 1),
  ];
  for (const stranger of strangers) assert.equal(cursors.positionOf(stranger, 4), undefined, stranger.slice(0, 40));
  assert.equal(cursors.positionOf(cursor, 3), undefined);
  assert.equal(cursors.positionOf(cursor, 5), undefined);
});

test('with the most slots, each with 268 million entries, a cursor is within its bound', () => {
  const seqs = Array.from({ length: 4096 }, () => 2 ** 28 - 1);
  const cursor = cursors.cursorAt({ sinceMs: Date.UTC(2100, 0), startSlot: 4095, seqs });
  assert.ok(cursor.length <= LONG_CURSOR_LENGTH_MAX, String(cursor.length));
  assert.deepEqual(cursors.positionOf(cursor, 4096)?.seqs, seqs);
});
