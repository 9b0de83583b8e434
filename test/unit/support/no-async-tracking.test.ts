// What `npm test` loads before each file: no error goes unseen for it.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const PRELOAD = fileURLToPath(import.meta.resolve('../../support/no-async-tracking.mjs'));

describe('tests without async tracking', () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-tracking-'));
  after(() => rmSync(directory, { recursive: true }));

  const runFile = (name: string, body: string): { status: number | null; output: string } => {
    const file = join(directory, `${name}.test.mjs`);
    writeFileSync(
      file,
      `import asyncHooks from 'node:async_hooks';\nimport { it } from 'node:test';\nit('a test', async () => {\n${body}\n});\n`,
    );
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { status, stdout } = spawnSync(process.execPath, ['--import', PRELOAD, '--test', file], {
      env,
      encoding: 'utf8',
    });
    return { status, output: stdout };
  };
  const PAUSE = 'await new Promise((resolve) => setTimeout(resolve, 50));';

  for (const [what, body] of [
    ['an assertion', "throw new Error('seen');"],
    ['an error that nobody catches', `setImmediate(() => { throw new Error('seen'); });\n${PAUSE}`],
    ['a rejection that nobody handles', `void Promise.reject(new Error('seen'));\n${PAUSE}`],
  ] as const) {
    it(`fail by ${what}`, () => {
      const { status, output } = runFile('failing', body);
      assert.equal(status, 1, output);
      assert.match(output, /seen/);
    });
  }

  it('pass where nothing is wrong, follow no promise, and leave hooks to whoever wants them', () => {
    const { status, output } = runFile(
      'passing',
      `let followed = 0;
      const hook = asyncHooks.createHook({ init: () => { followed += 1; } });
      // A promise that is followed has a number of its own, which the promise after it exceeds.
      const idOf = () => Promise.resolve().then(() => asyncHooks.executionAsyncId());
      const [first, second] = [await idOf(), await idOf()];
      if (second !== first) throw new Error('promises are followed');
      hook.enable();
      await Promise.resolve();
      hook.disable();
      if (followed === 0) throw new Error('hooks do not work');`,
    );
    assert.equal(status, 0, output);
  });
});
