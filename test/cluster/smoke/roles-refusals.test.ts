// The parts of a cluster where they cannot do their work: wrong settings and taken addresses end a start with one
// message; what may still come (Cassandra, shards) is waited for, alive, not ready and saying so.

import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:net';
import { basename } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Clock } from '../../../src/core/async/clock.ts';
import { systemClock } from '../../../src/roles/process/system.ts';
import { BARE_ENVIRONMENT } from '../../kit/bare-environment.ts';
import { DevProcess } from '../../kit/dev-process.ts';
import { createRecordingLog } from '../../kit/store/store-directory.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { migrateHere, refusalOf, startHere } from '../support/roles-here.ts';

const NO_SHARD = 'cannot reach any shard';
const TOKEN = 'correct-horse-battery-staple-0123456789';

/** A listener on a free port of loopback. */
async function listen(): Promise<{ server: Server; address: string }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  assert.ok(typeof bound === 'object' && bound !== null);
  return { server, address: `127.0.0.1:${bound.port}` };
}

const close = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

/** The address of the ops port in a log. */
const opsUrlIn = (log: string): string | undefined => /"ops":"([^"]+)"/.exec(log)?.[1];

/** Where nobody listens. */
async function deadAddress(): Promise<string> {
  const { server, address } = await listen();
  await close(server);
  return address;
}

describe('a part of a cluster', () => {
  let dead: string;
  let minimal: Record<'front' | 'shard' | 'console' | 'migrate', Record<string, string>>;
  let running: DevProcess[] = [];

  beforeEach(async () => {
    dead = await deadAddress();
    const ops = { GRANTD_OPS_ADDRESS: '127.0.0.1:0', GRANTD_DRAIN_SECONDS: '0' };
    const cassandra = {
      GRANTD_STORE: 'cassandra',
      GRANTD_CASSANDRA_CONTACT_POINTS: dead,
      GRANTD_CASSANDRA_LOCAL_DATACENTER: 'dc1',
    };
    const front = { GRANTD_DISCOVERY: `static:${dead}`, GRANTD_BASE_URL: 'https://grantd.example.com' };
    minimal = {
      front: { ...ops, ...front, GRANTD_HTTP_ADDRESS: '127.0.0.1:0' },
      shard: { ...ops, ...cassandra, GRANTD_RPC_ADDRESS: '127.0.0.1:0', GRANTD_SHARD_NAME: 'shard-1' },
      console: { ...ops, ...front, GRANTD_CONSOLE_ADDRESS: '127.0.0.1:0', GRANTD_OPERATOR_TOKEN: TOKEN },
      migrate: cassandra,
    };
  });
  afterEach(async () => {
    for (const each of running) if (!each.hasEnded) await each.stop('SIGKILL');
    running = [];
  });

  function start(args: readonly string[], environment: Readonly<Record<string, string>>): DevProcess {
    const started = new DevProcess(args, { ...BARE_ENVIRONMENT, ...environment });
    running.push(started);
    return started;
  }

  /** Its ops address, from the log. */
  async function opsUrlOf(service: DevProcess): Promise<string> {
    await waitFor('the address of the ops port', () => opsUrlIn(service.stderr) !== undefined || service.hasEnded);
    return opsUrlIn(service.stderr) ?? assert.fail(service.stderr);
  }

  async function readiness(opsUrl: string): Promise<{ status: number; reasons: readonly string[] }> {
    const response = await fetch(`${opsUrl}/readyz`);
    const { reasons = [] } = (await response.json()) as { reasons?: readonly string[] };
    return { status: response.status, reasons };
  }

  for (const [role, setting] of [
    ['front', 'GRANTD_OPS_ADDRESS'],
    ['front', 'GRANTD_HTTP_ADDRESS'],
    ['console', 'GRANTD_CONSOLE_ADDRESS'],
    ['shard', 'GRANTD_OPS_ADDRESS'],
    ['shard', 'GRANTD_RPC_ADDRESS'],
  ] as const) {
    it(`${role} does not start where the address of ${setting} is in use`, async (context) => {
      const { server, address } = await listen();
      context.after(() => close(server));
      // It is this very process; elsewhere than on Linux nobody can tell.
      const holder =
        process.platform === 'linux' ? `${basename(process.execPath)} (pid ${process.pid})` : 'another process';
      assert.equal(
        await refusalOf(role, { ...minimal[role], [setting]: address }),
        `grantd: The address ${address} is in use by ${holder}. Set ${setting} to another address.`,
      );
    });
  }

  it('does not start with certificates that cannot be used', async () => {
    const pem = (kind: string): string => `-----BEGIN ${kind}-----\nMIIB\n-----END ${kind}-----`;
    const message = await refusalOf('front', {
      ...minimal.front,
      GRANTD_RPC_TLS_CERT: pem('CERTIFICATE'),
      GRANTD_RPC_TLS_KEY: pem('PRIVATE KEY'),
      GRANTD_RPC_TLS_CA: pem('CERTIFICATE'),
    });
    assert.match(message, /^grantd: The certificates of GRANTD_RPC_TLS_CERT, _KEY and _CA cannot be used: /);
  });

  it('console is alive, not ready and says why while it reaches no shard', async () => {
    const log = createRecordingLog();
    const role = await startHere('console', minimal.console, log);
    const opsUrl = opsUrlIn(log.lines.join()) ?? assert.fail();
    assert.equal((await fetch(`${opsUrl}/livez`)).status, 200);
    assert.deepEqual(await readiness(opsUrl), { status: 503, reasons: [NO_SHARD] });
    await role.stop();
  });

  it('front is so too, stays open for its drain, and a second signal ends it at once', async () => {
    const service = start(['front'], {
      ...minimal.front,
      GRANTD_DRAIN_SECONDS: '200',
      GRANTD_SHUTDOWN_SECONDS: '300',
    });
    const opsUrl = await opsUrlOf(service);
    assert.equal((await fetch(`${opsUrl}/livez`)).status, 200);
    assert.deepEqual(await readiness(opsUrl), { status: 503, reasons: [NO_SHARD] });
    const [, url = ''] = /"url":"(http:[^"]+)"/.exec(service.stderr) ?? [];
    service.child.kill('SIGTERM');
    await waitFor('the drain', async () => (await readiness(opsUrl)).reasons[0] === 'stopping');
    const response = await fetch(`${url}/v1/check`, { method: 'POST' });
    assert.equal(response.status, 401);
    assert.equal(response.headers.get('connection'), 'close');
    service.child.kill('SIGTERM');
    const { code } = await service.ended;
    assert.equal(code, 143);
  });

  it('shard waits for a Cassandra that is not there, saying so, and stops cleanly; beyond loopback it warns', async () => {
    const ops = await deadAddress();
    const service = start(['shard'], {
      ...minimal.shard,
      GRANTD_OPS_ADDRESS: ops,
      GRANTD_RPC_ADDRESS: '0.0.0.0:0',
      GRANTD_RPC_INSECURE: 'true',
    });
    const opsUrl = `http://${ops}`;
    await waitFor('the reason', async () => {
      const { reasons } = await readiness(opsUrl).catch(() => ({ reasons: [] }));
      return /^waiting for Cassandra: /.test(reasons[0] ?? '') || service.hasEnded;
    });
    assert.equal((await fetch(`${opsUrl}/livez`)).status, 200);
    assert.match(service.stderr, /"reason":"waiting for Cassandra: /);
    assert.match(service.stderr, /"level":"warn".*"address":"0\.0\.0\.0:0".*GRANTD_RPC_INSECURE: /);
    const { code, stderr } = await service.stop();
    assert.equal(code, 0, stderr);
  });

  it('migrate gives up on a Cassandra that is not there when told to, with a status of its own', async () => {
    const { code, stdout } = await start(['migrate', '--timeout', '1'], minimal.migrate).ended;
    assert.equal(code, 3, stdout);
    assert.match(stdout, /^Timed out after 1 s/m);
    // How long the first attempt takes, the machine decides: here the time is up once it has failed.
    const timeoutMs = 600_000;
    let timeOut = (): void => {};
    const clock: Clock = {
      ...systemClock,
      setTimer: (callback, milliseconds) => {
        if (milliseconds !== timeoutMs) return systemClock.setTimer(callback, milliseconds);
        timeOut = callback;
        return { cancel: () => {} };
      },
    };
    const onPrint = (line: string): void => {
      if (line.startsWith('Waiting: ')) timeOut();
    };
    const waiting = await migrateHere(minimal.migrate, { task: 'wait', timeoutMs, onPrint, clock });
    assert.equal(waiting.code, 3);
    assert.match(waiting.stdout, /^Waiting: (.+)\nTimed out after 600 s; last reason: \1$/);
  });

  it('migrate ends with the code of the signal that ended it', async () => {
    const service = start(['migrate', '--wait'], minimal.migrate);
    await waitFor('the wait', () => service.stdout.includes('Waiting') || service.hasEnded);
    assert.equal((await service.stop()).code, 143);
  });
});
