// Front and console as processes of their own, over the shards of a `grantd dev`: found by address and by name, ready
// once they reach every slot, and stopped without a failed request.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freePort } from '../../../tools/engines/free-port.ts';
import { BARE_ENVIRONMENT } from '../../kit/bare-environment.ts';
import { type DevFacts, DevProcess, readDevFacts, startDev } from '../../kit/dev-process.ts';
import { waitFor } from '../../kit/wait-for.ts';

const TOKEN = 'correct-horse-battery-staple-0123456789';
const BASE_URL = 'https://grantd.example.com';
const TUPLE = JSON.stringify({ subject: 'user:ada', relation: 'viewer', object: 'document:plan' });

/** The addresses that a process logs once it listens. */
async function listening(service: DevProcess): Promise<{ url: string; ops: string }> {
  const pattern = /"url":"(?<url>[^"]+)","ops":"(?<ops>[^"]+)"/;
  await waitFor('its addresses', () => pattern.test(service.stderr) || service.hasEnded);
  const { url = '', ops = '' } = pattern.exec(service.stderr)?.groups ?? assert.fail(service.stderr);
  return { url, ops };
}

const isReady = async (ops: string): Promise<boolean> => (await fetch(`${ops}/readyz`)).status === 200;

describe('over the shards of another process', () => {
  let directory: string;
  let shards: DevProcess;
  let facts: DevFacts;
  let rpcPort: number;
  const running: DevProcess[] = [];

  const start = (role: 'front' | 'console', environment: Readonly<Record<string, string>>): DevProcess => {
    const service = new DevProcess([role], {
      ...BARE_ENVIRONMENT,
      GRANTD_OPS_ADDRESS: '127.0.0.1:0',
      GRANTD_BASE_URL: BASE_URL,
      ...environment,
    });
    running.push(service);
    return service;
  };
  const startFront = (environment: Readonly<Record<string, string>>): DevProcess =>
    start('front', { GRANTD_HTTP_ADDRESS: '127.0.0.1:0', ...environment });

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'grantd-roles-'));
    rpcPort = await freePort();
    shards = await startDev(directory, {
      args: ['--shards', '1'],
      environment: { GRANTD_RPC_ADDRESS: `127.0.0.1:${rpcPort}` },
    });
    facts = readDevFacts(directory);
  });
  after(async () => {
    for (const each of running) if (!each.hasEnded) await each.stop('SIGKILL');
    await shards.stop('SIGKILL');
    rmSync(directory, { recursive: true });
  });

  const call = (url: string, path: string): Promise<Response> =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${facts.key}`, 'content-type': 'application/json' },
      body: TUPLE,
    });

  for (const [how, discovery] of [
    ['address', () => `static:127.0.0.1:${rpcPort}`],
    ['name', () => `dns:localhost:${rpcPort}`],
  ] as const) {
    it(`a front that finds them by ${how} serves once it is ready, and stops cleanly`, async () => {
      const front = startFront({ GRANTD_DISCOVERY: discovery(), GRANTD_DRAIN_SECONDS: '0' });
      const { url, ops } = await listening(front);
      await waitFor('readiness', () => isReady(ops));
      assert.ok([200, 201].includes((await call(url, '/v1/grants')).status));
      const answer = await call(url, '/v1/check');
      assert.equal(((await answer.json()) as { authorized: boolean }).authorized, true);
      const problem = (await (await fetch(`${url}/v1/check`)).json()) as { type: string };
      assert.equal(problem.type, `${BASE_URL}/errors/unauthorized`);
      assert.equal((await front.stop()).code, 0, front.stderr);
    });
  }

  it('a console lists slots, members and tenants, for the operator only', async () => {
    const service = start('console', {
      GRANTD_CONSOLE_ADDRESS: '127.0.0.1:0',
      GRANTD_DISCOVERY: `static:127.0.0.1:${rpcPort}`,
      GRANTD_OPERATOR_TOKEN: TOKEN,
      GRANTD_DRAIN_SECONDS: '0',
    });
    const { url, ops } = await listening(service);
    await waitFor('readiness', () => isReady(ops));
    const read = (path: string, token: string): Promise<Response> =>
      fetch(`${url}/operator/v1/${path}`, { headers: { authorization: `Bearer ${token}` } });
    for (const path of ['slots', 'members', 'tenants', 'plans']) {
      assert.equal((await read(path, TOKEN)).status, 200, path);
      assert.equal((await read(path, facts.operator_token)).status, 401, path);
    }
    assert.equal((await service.stop()).code, 0, service.stderr);
  });

  it('a front finishes what is asked during its drain, and asks for other connections', async () => {
    const drainSeconds = 5;
    const front = startFront({
      GRANTD_DISCOVERY: `static:127.0.0.1:${rpcPort}`,
      GRANTD_DRAIN_SECONDS: String(drainSeconds),
    });
    const { url, ops } = await listening(front);
    await waitFor('readiness', () => isReady(ops));
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
    const front = startFront({ GRANTD_DISCOVERY: `static:127.0.0.1:${port}`, GRANTD_DRAIN_SECONDS: '0' });
    const { url, ops } = await listening(front);
    assert.equal(await isReady(ops), false);
    const other = join(directory, 'other');
    const late = await startDev(other, {
      args: ['--shards', '1'],
      environment: { GRANTD_RPC_ADDRESS: `127.0.0.1:${port}` },
    });
    running.push(late);
    await waitFor('readiness', () => isReady(ops));
    const { key } = readDevFacts(other);
    const response = await fetch(`${url}/v1/namespaces`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(response.status, 200);
    assert.equal((await front.stop()).code, 0);
    assert.equal((await late.stop()).code, 0);
  });
});
