// Front and console over the shards of a `grantd dev`: found by address and by name, ready once they reach every slot,
// and stopped without a failed request. One front is a process of its own.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { RunningRole } from '../../../src/roles/process/life-cycle.ts';
import { freePort } from '../../../tools/engines/free-port.ts';
import { BARE_ENVIRONMENT } from '../../kit/bare-environment.ts';
import { type DevFacts, DevProcess, readDevFacts, testEnvironment } from '../../kit/dev-process.ts';
import { createRecordingLog } from '../../kit/store/store-directory.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { startHere } from '../support/roles-here.ts';

const TOKEN = 'correct-horse-battery-staple-0123456789';
const BASE_URL = 'https://grantd.example.com';
const TUPLE = JSON.stringify({ subject: 'user:ada', relation: 'viewer', object: 'document:plan' });

/** The addresses in the log of a role that listens. */
const addressesIn = (log: string): { url: string; ops: string } | undefined => {
  const [, url = '', ops] = /"url":"([^"]+)","ops":"([^"]+)"/.exec(log) ?? [];
  return ops === undefined ? undefined : { url, ops };
};

const isReady = async (ops: string): Promise<boolean> => (await fetch(`${ops}/readyz`)).status === 200;

describe('over the shards of `grantd dev`', () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-roles-'));
  let shards: RunningRole;
  let facts: DevFacts;
  let rpcPort: number;

  const startShards = (folder: string, port: number): Promise<RunningRole> =>
    startHere('dev', { ...testEnvironment(folder), GRANTD_RPC_ADDRESS: `127.0.0.1:${port}` });
  const settings = (discovery: string): Record<string, string> => ({
    GRANTD_DISCOVERY: discovery,
    GRANTD_OPS_ADDRESS: '127.0.0.1:0',
    GRANTD_BASE_URL: BASE_URL,
    GRANTD_DRAIN_SECONDS: '0',
  });
  async function start(
    role: 'front' | 'console',
    environment: Readonly<Record<string, string>>,
  ): Promise<{ role: RunningRole; url: string; ops: string }> {
    const log = createRecordingLog();
    const running = await startHere(role, environment, log);
    return { role: running, ...(addressesIn(log.lines.join()) ?? assert.fail()) };
  }
  const startFront = (discovery: string) =>
    start('front', { ...settings(discovery), GRANTD_HTTP_ADDRESS: '127.0.0.1:0' });

  before(async () => {
    rpcPort = await freePort();
    shards = await startShards(directory, rpcPort);
    facts = readDevFacts(directory);
  });
  after(async () => {
    await shards.stop();
    rmSync(directory, { recursive: true });
  });

  const call = (url: string, path: string): Promise<Response> =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${facts.key}`, 'content-type': 'application/json' },
      body: TUPLE,
    });

  async function serves({ url, ops }: { url: string; ops: string }): Promise<void> {
    await waitFor('readiness', () => isReady(ops));
    assert.ok([200, 201].includes((await call(url, '/v1/grants')).status));
    const answer = await call(url, '/v1/check');
    assert.equal(((await answer.json()) as { authorized: boolean }).authorized, true);
    const problem = (await (await fetch(`${url}/v1/check`)).json()) as { type: string };
    assert.equal(problem.type, `${BASE_URL}/errors/unauthorized`);
  }

  it('a front that finds them by name serves once it is ready, and stops', async () => {
    const front = await startFront(`dns:localhost:${rpcPort}`);
    await serves(front);
    await front.role.stop();
  });

  it('a console lists slots, members and tenants, for the operator only', async () => {
    const { role, url, ops } = await start('console', {
      ...settings(`static:127.0.0.1:${rpcPort}`),
      GRANTD_CONSOLE_ADDRESS: '127.0.0.1:0',
      GRANTD_OPERATOR_TOKEN: TOKEN,
    });
    await waitFor('readiness', () => isReady(ops));
    const read = (path: string, token: string): Promise<Response> =>
      fetch(`${url}/operator/v1/${path}`, { headers: { authorization: `Bearer ${token}` } });
    for (const path of ['slots', 'members', 'tenants', 'plans']) {
      assert.equal((await read(path, TOKEN)).status, 200, path);
      assert.equal((await read(path, facts.operator_token)).status, 401, path);
    }
    await role.stop();
  });

  it('a front that finds them by address finishes what is asked during its drain, and asks for other connections', async (context) => {
    const drainSeconds = 5;
    const front = new DevProcess(['front'], {
      ...BARE_ENVIRONMENT,
      ...settings(`static:127.0.0.1:${rpcPort}`),
      GRANTD_HTTP_ADDRESS: '127.0.0.1:0',
      GRANTD_DRAIN_SECONDS: String(drainSeconds),
    });
    context.after(() => front.stop('SIGKILL'));
    await waitFor('its addresses', () => addressesIn(front.stderr) !== undefined || front.hasEnded);
    const { url, ops } = addressesIn(front.stderr) ?? assert.fail(front.stderr);
    await serves({ url, ops });
    assert.equal((await call(url, '/v1/check')).headers.get('connection'), 'keep-alive');
    const drainMs = performance.now();
    front.child.kill('SIGTERM');
    await waitFor('the drain', async () => !(await isReady(ops)));
    let answered = 0;
    while (answered < 20) {
      // Nobody is there any more once the drain is over, which a busy machine may reach before twenty are answered.
      const response = await call(url, '/v1/check').catch(() => undefined);
      if (response === undefined) break;
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('connection'), 'close');
      answered += 1;
    }
    assert.ok(answered === 20 || performance.now() - drainMs >= drainSeconds * 1000, 'it refuses during its drain');
    assert.ok(answered > 0);
    const { code, stderr } = await front.ended;
    assert.equal(code, 0, stderr);
  });

  it('a front is not ready for shards that are not there, and is once they are', async () => {
    const port = await freePort();
    const { role, url, ops } = await startFront(`static:127.0.0.1:${port}`);
    assert.equal(await isReady(ops), false);
    const other = join(directory, 'other');
    const late = await startShards(other, port);
    await waitFor('readiness', () => isReady(ops));
    const { key } = readDevFacts(other);
    const response = await fetch(`${url}/v1/namespaces`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(response.status, 200);
    await role.stop();
    await late.stop();
  });
});
