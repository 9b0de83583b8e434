// Starts that cannot be: each ends with status 1 and one message that names what is wrong and what to do, and leaves
// nothing behind that would stop the next start.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { DevProcess, readDevFacts, startDev, testEnvironment } from '../../kit/dev-process.ts';
import { refusalOf, startHere } from '../support/roles-here.ts';

describe('a start is refused', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'grantd-refused-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const environmentWith = (change: Record<string, string> = {}): Record<string, string> => ({
    ...testEnvironment(join(directory, 'data')),
    GRANTD_SLOTS: '8',
    ...change,
  });
  const refusal = (change?: Record<string, string>): Promise<string> => refusalOf('dev', environmentWith(change));
  const startAndStop = async (): Promise<void> => (await startHere('dev', environmentWith())).stop();

  // This very process; elsewhere than on Linux nobody can tell.
  const holderName =
    process.platform === 'linux' ? `${basename(process.execPath)} (pid ${process.pid})` : 'another process';
  for (const setting of ['GRANTD_HTTP_ADDRESS', 'GRANTD_OPS_ADDRESS', 'GRANTD_CONSOLE_ADDRESS', 'GRANTD_RPC_ADDRESS']) {
    it(`where the address of ${setting} is in use`, async (context) => {
      const holder = createServer();
      await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
      context.after(() => holder.close());
      const bound = holder.address();
      assert.ok(typeof bound === 'object' && bound !== null);
      const address = `127.0.0.1:${bound.port}`;
      assert.equal(
        await refusal({ [setting]: address }),
        `grantd: The address ${address} is in use by ${holderName}. Set ${setting} to another address.`,
      );
      await startAndStop();
    });
  }

  it('where another process serves at the address or holds the data directory, which goes on serving', async (context) => {
    const holder = await startDev(join(directory, 'data'), { environment: environmentWith() });
    context.after(() => holder.stop('SIGKILL'));
    const { base_url: baseUrl } = readDevFacts(join(directory, 'data'));
    const taken = { GRANTD_HTTP_ADDRESS: new URL(baseUrl).host, GRANTD_DATA_DIR: join(directory, 'another') };
    const name = process.platform === 'linux' ? `grantd \\(pid ${holder.child.pid}\\)` : 'another process';
    assert.match(await refusal(taken), new RegExp(`is in use by ${name}\\. Set GRANTD_HTTP_ADDRESS`));

    const ended = await new DevProcess(['dev'], environmentWith({ GRANTD_LOG_LEVEL: 'error' })).ended;
    assert.deepEqual([ended.code, ended.stdout], [1, ''], ended.stderr);
    assert.match(
      ended.stderr,
      new RegExp(
        `^grantd: The data directory .*data cannot be used: it is held by another process \\(pid ${holder.child.pid}\\).*\n$`,
      ),
    );
    assert.equal(holder.hasEnded, false);
    assert.equal((await holder.stop()).code, 0);
    await startAndStop();
  });

  it('where settings are wrong, with all of them in one message', async () => {
    const wrong = {
      GRANTD_SLOTS: 'many',
      GRANTD_STORE: 'cassandra',
      GRANTD_HTTP_ADRESS: '127.0.0.1:1',
      GRANTD_OPERATOR_TOKEN: 'too-short',
    };
    const { code, stdout, stderr } = await new DevProcess(['dev', '--shards', '1'], environmentWith(wrong)).ended;
    assert.deepEqual([code, stdout], [1, '']);
    assert.equal(
      stderr,
      [
        'grantd: 4 settings are wrong:',
        '  GRANTD_STORE is cassandra, but grantd dev supports only the embedded store; with cassandra, run grantd migrate, shard, front and console',
        '  GRANTD_SLOTS must be a whole number from 1 to 4096; it is "many"',
        '  GRANTD_OPERATOR_TOKEN must be 32 to 8192 printable ASCII characters without spaces; it has 9 characters',
        '  GRANTD_HTTP_ADRESS is not a setting; did you mean GRANTD_HTTP_ADDRESS?\n',
      ].join('\n'),
    );
  });
});
