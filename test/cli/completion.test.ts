// Completion in the shells that people use: what each offers for a line, by the script that the program prints for it.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { complete, missingShell, type Shell } from './support/shell-completion.ts';

let directory: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'grantd-completion-'));
  await writeFile(join(directory, 'grants.tsv'), '');
});
after(() => rm(directory, { recursive: true, force: true }));

/**
 * A command, a value with a colon and a file: each asks the program once. A line, what is offered for it, and what it
 * becomes where that is one word. What the program offers elsewhere, its unit tests say.
 */
const CASES: readonly (readonly [line: string, offered: string, completed: string])[] = [
  ['grantd tenants sus', 'suspend', 'grantd tenants suspend '],
  ['grantd keys create --scope check:', 'check:read', 'grantd keys create --scope check:read '],
  ['grantd import g', 'grants.tsv', 'grantd import grants.tsv '],
];

const lines = CASES.map(([line]) => line);

async function shellTest(shell: Shell, expected: readonly string[]): Promise<void> {
  const missing = await missingShell(shell);
  test(`${shell} completes commands, options and values`, { skip: missing ?? false }, async () => {
    assert.deepEqual(await complete(shell, directory, lines), expected);
  });
}

describe('completion', { concurrency: true }, async () => {
  // Bash replaces only what follows the colon.
  await shellTest(
    'bash',
    CASES.map(([, offered]) => offered.replace('check:', '')),
  );
  await shellTest(
    'fish',
    CASES.map(([, offered]) => offered),
  );
  await shellTest(
    'zsh',
    CASES.map(([, , completed]) => completed.trimEnd()),
  );

  test('bash offers every command, and evaluates nothing of what was typed', async () => {
    const [all = '', after = ''] = await complete('bash', directory, [
      'grantd tenants ',
      'grantd check $(touch typed) `touch typed` ',
    ]);
    assert.equal(all, 'list show create update suspend resume delete help');
    assert.equal(after, '');
    assert.ok(!existsSync(join(directory, 'typed')));
  });
});
