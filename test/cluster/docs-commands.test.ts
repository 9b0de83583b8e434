// The commands of the README, run as they stand there (but for the address, since a test takes a free port), in one
// shell, in their order.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { shellBlocks } from '../support/shell-blocks.ts';
import { type DevProcess, readDevFacts, startDev, testEnvironment } from './support/dev-process.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');

describe('the commands of the README', () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-docs-'));
  let grantd: DevProcess;
  before(async () => {
    grantd = await startDev(directory);
  });
  after(async () => {
    await grantd.stop('SIGTERM');
    rmSync(directory, { recursive: true });
  });

  it('work in their order', async () => {
    const { base_url: baseUrl } = readDevFacts(directory);
    const blocks = shellBlocks('README.md');
    assert.ok(blocks.length >= 2);
    const script = blocks
      .join('\n')
      .replaceAll('http://127.0.0.1:8080', baseUrl)
      .replaceAll('.grantd/dev.json', join(directory, 'dev.json'));
    const { stdout } = await run('bash', ['-euc', script], { cwd: ROOT, env: testEnvironment(directory) });
    assert.match(stdout, /"authorized":true.*"authorized":false/s);
    assert.match(stdout, /Acme/);
    assert.match(stdout, /serving/);
  });
});
