// The difference of two texts by lines: whole, in order, and the fewest lines.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { diffLines } from '../../../packages/console/src/line-diff.ts';
import { SeededRandom } from '../../simulation/seeded-random.ts';

const SIGNS = { same: ' ', removed: '-', added: '+' };
const shown = (before: string, after: string): readonly string[] =>
  diffLines(before, after).map(({ kind, text }) => `${SIGNS[kind]}${text}`);

it('has every line of both, in order', () => {
  const random = new SeededRandom('line-diff');
  const text = (): string => Array.from({ length: random.word() % 12 }, () => `line ${random.word() % 4}`).join('\n');
  for (let round = 0; round < 500; round += 1) {
    const [before, after] = [text(), text()];
    const lines = diffLines(before, after);
    const without = (kind: string): string =>
      lines
        .filter((line) => line.kind !== kind)
        .map((line) => line.text)
        .join('\n');
    assert.equal(without('added'), before);
    assert.equal(without('removed'), after);
  }
});

it('shows what was changed and nothing else; a last line break, and its kind, are no change', () => {
  assert.deepEqual(shown('a\nb\nc\nd', 'a\nx\nc\ny\nd\n'), [' a', '-b', '+x', ' c', '+y', ' d']);
  assert.deepEqual(shown('a\r\nb\r\n', 'a\nb'), [' a', ' b']);
  assert.deepEqual(shown('a\nb\na\nb', 'b\na'), ['-a', ' b', ' a', '-b']);
});

it('shows all of a change that is too long to be compared line by line', () => {
  const [before, after] = ['old', 'new'].map((word) =>
    Array.from({ length: 1100 }, (_, at) => `${word} ${at}`).join('\n'),
  );
  const lines = shown(`first\n${before}\nlast`, `first\n${after}\nlast`);
  assert.equal(lines.length, 2202);
  assert.deepEqual(
    [lines[0], lines[1], lines[1100], lines[1101], lines.at(-1)],
    [' first', '-old 0', '-old 1099', '+new 0', ' last'],
  );
});
