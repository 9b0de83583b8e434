// A README whose code is that of the examples, which something else compiles and runs.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Fewer blocks were not found. */
const BLOCKS_MIN = 8;

/** Without indentation and empty lines. */
const linesOf = (code: string): string =>
  code
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');

/** `examples`: files of the client. */
export function assertReadmeShowsExamples(client: string, language: string, examples: readonly string[]): void {
  const code = linesOf(examples.map((path) => readFileSync(join(client, path), 'utf8')).join('\n'));
  const fence = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms');
  const blocks = [...readFileSync(join(client, 'README.md'), 'utf8').matchAll(fence)];
  assert.ok(blocks.length >= BLOCKS_MIN);
  for (const [, block = ''] of blocks) assert.ok(code.includes(linesOf(block)), `no example has\n${block}`);
}
