// 100,000 random texts to each client, with another seed in each run: the suites send some of them.

import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { ROOT } from '../../kit/source-tree.ts';

const run = promisify(execFile);
const TEXTS = 100_000;

describe('random texts', () => {
  for (const client of ['typescript', 'go', 'python', 'java']) {
    it(`arrive as they are, or are refused, with the client of ${client}`, async () => {
      const args = ['--test', '--test-name-pattern', 'random texts', `test/clients/${client}.test.ts`];
      const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
      const env = { ...inherited, CLIENT_TEXTS: String(TEXTS) };
      await run(process.execPath, args, { cwd: ROOT, env, maxBuffer: 1 << 26 });
    });
  }
});
