// YAML as nodes with their lines: what a file says, and what is refused because it could grow beyond the text.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CliFailure } from '../../../packages/cli/src/failures.ts';
import { parseYaml } from '../../../packages/cli/src/yaml-file.ts';

const parse = (text: string) => parseYaml('x.yaml', Buffer.from(text));

describe('YAML', () => {
  it('is read with the lines of its values, and of the text in a block', () => {
    const root = parse('a: 1\nb:\n  - x\n  - |\n    one\n    two\nc:\n"d": {e: true}\n');
    assert.ok(root.kind === 'map');
    const [a, b, c, d] = [...root.fields.values()];
    assert.deepEqual(a, { kind: 'value', value: 1, line: 1 });
    assert.ok(b?.kind === 'list');
    assert.deepEqual(b.items, [
      { kind: 'text', text: 'x', line: 3, textLine: 3 },
      { kind: 'text', text: 'one\ntwo\n', line: 4, textLine: 5 },
    ]);
    assert.equal(c?.kind, 'null');
    assert.equal(d?.kind, 'map');
  });

  it('is refused with file and line', () => {
    for (const [text, pattern] of [
      ['a: 1\nb: [1\n', /^x\.yaml:\d+: /],
      ['a: 1\nb: 2\na: 3\n', /^x\.yaml:3: The key "a" occurs twice\./],
      ['a: &x 1\nb: *x\n', /^x\.yaml:2: Aliases are not allowed/],
      ['a: 1\n? [1, 2]\n: 3\n', /^x\.yaml:1: A key must be a word\./],
      ['a: 1\n---\nb: 2\n', /^x\.yaml:\d+: /],
    ] as const) {
      assert.throws(
        () => parse(text),
        (error) => error instanceof CliFailure && pattern.test(error.message),
        text,
      );
    }
    assert.throws(() => parseYaml('x.yaml', Buffer.from([0xff])), CliFailure);
  });

  it('is refused if it would grow, is too deep, or has very many keys', () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x]'];
    for (let level = 0; level < 9; level += 1) {
      const name = String.fromCharCode(98 + level);
      const former = String.fromCharCode(97 + level);
      bomb.push(`${name}: &${name} [${Array(8).fill(`*${former}`).join(', ')}]`);
    }
    assert.throws(() => parse(bomb.join('\n')), CliFailure);
    for (const deep of ['['.repeat(100), '['.repeat(100_000), `${'{a: '.repeat(5000)}`, `${'- '.repeat(20_000)}x`]) {
      assert.throws(() => parse(deep), CliFailure);
    }
    const closed = `${'['.repeat(40)}${']'.repeat(40)}`;
    assert.throws(() => parse(closed), /More than 32 maps and lists/);
    const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}: 1`).join('\n');
    const startedMs = process.threadCpuUsage().user;
    const root = parse(keys);
    assert.ok(root.kind === 'map' && root.fields.size === 20_000);
    assert.ok(process.threadCpuUsage().user - startedMs < 8_000_000);
  });
});
