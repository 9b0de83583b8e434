// A data directory that loses files under a running `grantd dev`, and starts on what is left: nothing more is
// acknowledged, readiness and the log say why, and no start serves less than was acknowledged unless it is told to.

import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { type DevFacts, DevProcess, readDevFacts, startDev, testEnvironment } from '../../kit/dev-process.ts';
import { useDirectory } from '../../kit/directory.ts';
import { waitFor } from '../../kit/wait-for.ts';

const FEW_SLOTS = { GRANTD_SLOTS: '8' };
const GRANT = { subject: 'user:eve', relation: 'viewer', object: 'document:d' };

const headersOf = ({ key }: DevFacts) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });
const callGrant = async (facts: DevFacts, method: 'POST' | 'DELETE', subject = GRANT.subject): Promise<number> => {
  const body = JSON.stringify({ ...GRANT, subject });
  return (await fetch(`${facts.base_url}/v1/grants`, { method, headers: headersOf(facts), body })).status;
};
const check = async (facts: DevFacts): Promise<unknown> => {
  const body = JSON.stringify(GRANT);
  const response = await fetch(`${facts.base_url}/v1/check`, { method: 'POST', headers: headersOf(facts), body });
  return ((await response.json()) as { readonly authorized?: unknown }).authorized;
};
const readiness = async ({ ops_url: url }: DevFacts) => {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, body: await response.text() };
};

describe('grantd dev, when files of its data directory are lost', () => {
  const root = useDirectory();
  const crashed = join(root, 'crashed');

  before(async () => {
    const dev = await startDev(crashed, { environment: FEW_SLOTS });
    const facts = readDevFacts(crashed);
    assert.equal(await callGrant(facts, 'POST'), 201);
    assert.equal(await callGrant(facts, 'DELETE'), 204);
    await dev.stop('SIGKILL');
  });

  const copy = (name: string): string => {
    const directory = join(root, name);
    cpSync(crashed, directory, { recursive: true });
    return directory;
  };
  const refusal = async (directory: string): Promise<string> => {
    const environment = { ...testEnvironment(directory), ...FEW_SLOTS, GRANTD_LOG_LEVEL: 'error' };
    const { code, stdout, stderr } = await new DevProcess(['dev'], environment).ended;
    assert.deepEqual([code, stdout], [1, ''], stderr);
    return stderr;
  };

  it('a start after a crash without the end of the write-ahead log is refused, and accepts the loss if told to', async (context) => {
    const directory = copy('cut');
    const wal = join(directory, 'grantd.db-wal');
    const bytes = readFileSync(wal);
    bytes.fill(0, bytes.indexOf('"kind":"grant-revoked"'));
    writeFileSync(wal, bytes);
    assert.match(
      await refusal(directory),
      /^grantd: The data directory .*cut cannot be used: it lacks \d+ acknowledged/,
    );
    assert.deepEqual(readFileSync(wal), bytes);
    const dev = await startDev(directory, { args: ['--accept-loss'], environment: FEW_SLOTS });
    context.after(() => dev.stop('SIGKILL'));
    assert.match(dev.stderr, /going on without what is missing/);
    assert.equal(await check(readDevFacts(directory)), true, 'the revocation is what was lost');
    assert.equal((await dev.stop()).code, 0);
    const again = await startDev(directory, { environment: FEW_SLOTS });
    assert.equal((await again.stop()).code, 0);
  });

  it('a start without the database beside the rest is refused', async () => {
    const directory = copy('gone');
    rmSync(join(directory, 'grantd.db'));
    assert.match(
      await refusal(directory),
      /grantd\.db is missing, but grantd\.log-ends, dev\.json, grantd\.db-wal are there/,
    );
  });

  it('while it runs, a cut write-ahead log ends every acknowledgement, and readiness', async (context) => {
    const directory = copy('running');
    const dev = await startDev(directory, { environment: FEW_SLOTS });
    context.after(() => dev.stop('SIGKILL'));
    const facts = readDevFacts(directory);
    assert.equal(await check(facts), false);
    assert.equal((await readiness(facts)).status, 200);
    truncateSync(join(directory, 'grantd.db-wal'), 0);
    const statuses = await Promise.all(['user:a', 'user:b'].map((subject) => callGrant(facts, 'POST', subject)));
    assert.deepEqual(statuses, [503, 503]);
    await waitFor('readiness to end', async () => (await readiness(facts)).status === 503);
    assert.match((await readiness(facts)).body, /the data directory is damaged: /);
    // From memory while the lease lasts, which no heartbeat renews; then a 503.
    assert.notEqual(await check(facts), true);
    const ended = await dev.stop();
    assert.match(ended.stderr, /The data directory .*running is damaged: .*put the whole folder back from a backup/);
    assert.match(await refusal(directory), /running cannot be used: /);
  });
});
