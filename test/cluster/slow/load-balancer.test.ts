// The configuration of HAProxy that the documentation gives, in front of two fronts, of which one is lost with its
// machine: how long until no request goes there, and what fails meanwhile.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { missingProgram } from '../../../tools/engines/debian-program.ts';
import { freePort } from '../../../tools/engines/free-port.ts';
import { BARE_ENVIRONMENT } from '../../kit/bare-environment.ts';
import { type DevFacts, DevProcess, MAIN, readDevFacts, startDev } from '../../kit/dev-process.ts';
import { judgeTimes, Strain } from '../../kit/strain.ts';
import { letRun, waitFor } from '../../kit/wait-for.ts';
import { takeNetwork } from '../support/loopback-network.ts';
import { LostMachine } from '../support/lost-machine.ts';

const CONFIGURATION = join(import.meta.dirname, '..', '..', '..', 'examples', 'load-balancers', 'haproxy.cfg');
const CLIENTS = 16;
const PAUSE_MS = 10;
const LOST_MS = 8000;
const HTTP_PORT = 8080;
const OPS_PORT = 8081;
/** What the documentation says: from the loss until every request is answered at once again. */
const RECOVERED_MS_MAX = 2500;
const SLOW_MS = 300;
/** Longer than anything waits. */
const REQUEST_MS_MAX = 20_000;

interface Call {
  readonly atMs: number;
  readonly latencyMs: number;
  /** 0: no response. */
  readonly status: number;
}

/** Asks over a connection that it keeps, again and again. */
class Client {
  readonly calls: Call[] = [];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #stopped = false;

  async run(port: number, path: string, key: string, body: () => object): Promise<void> {
    while (!this.#stopped) {
      const atMs = performance.now();
      const status = await this.#send(port, path, key, JSON.stringify(body()));
      this.calls.push({ atMs, latencyMs: performance.now() - atMs, status });
      await letRun(PAUSE_MS);
    }
    this.#agent.destroy();
  }

  stop(): void {
    this.#stopped = true;
  }

  #send(port: number, path: string, key: string, text: string): Promise<number> {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    };
    return new Promise((resolve) => {
      const options = { host: '127.0.0.1', port, path, method: 'POST', headers, agent: this.#agent };
      const request = httpRequest({ ...options, timeout: REQUEST_MS_MAX }, (response) => {
        response.resume().on('close', () => resolve(response.complete ? (response.statusCode ?? 0) : 0));
      });
      request.on('timeout', () => request.destroy());
      request.on('error', () => resolve(0));
      request.end(text);
    });
  }
}

const missing = await missingProgram('HAProxy in front of fronts', 'haproxy');

describe('HAProxy in front of two fronts', { skip: missing ?? false }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-balancer-'));
  const socket = join(directory, 'haproxy.sock');
  let machine: LostMachine;
  let network: Awaited<ReturnType<typeof takeNetwork>>;
  let shards: DevProcess;
  let facts: DevFacts;
  let port: number;
  let balancer: ChildProcess;
  const fronts: DevProcess[] = [];

  const startFront = async (host: string, discovery: string, command: readonly string[]): Promise<void> => {
    const [program = '', ...args] = [...command, process.execPath, MAIN];
    const environment = {
      ...BARE_ENVIRONMENT,
      GRANTD_HTTP_ADDRESS: `${host}:${HTTP_PORT}`,
      GRANTD_OPS_ADDRESS: `${host}:${OPS_PORT}`,
      GRANTD_BASE_URL: 'https://grantd.example.com',
      GRANTD_DISCOVERY: `static:${discovery}`,
      GRANTD_RPC_INSECURE: 'true',
    };
    const front = new DevProcess(['front'], environment, [program, ...args]);
    fronts.push(front);
    await waitFor(
      `the front at ${host}`,
      async () => (await fetch(`http://${host}:${OPS_PORT}/readyz`).catch(() => undefined))?.status === 200,
      undefined,
      () => front.stderr,
    );
  };

  /** As HAProxy has it: the state of each front. */
  const states = (): Promise<Map<string, string>> =>
    new Promise((resolve, reject) => {
      let text = '';
      const connection = connect(socket, () => connection.write('show stat\n'));
      connection.setEncoding('utf8').on('data', (data: string) => {
        text += data;
      });
      connection.on('error', reject);
      connection.on('end', () => {
        const rows = text.split('\n').map((line) => line.split(','));
        const [header = []] = rows;
        const column = header.indexOf('status');
        resolve(new Map(rows.filter(([name]) => name === 'fronts').map((row) => [row[1] ?? '', row[column] ?? ''])));
      });
    });

  before(async () => {
    machine = await LostMachine.start();
    network = await takeNetwork();
    const rpc = `${machine.hostAddress}:${await freePort()}`;
    shards = await startDev(directory, {
      args: ['--shards', '1'],
      environment: { GRANTD_RPC_ADDRESS: rpc, GRANTD_RPC_INSECURE: 'true' },
    });
    facts = readDevFacts(directory);
    const near = `${network.network}.2`;
    await startFront(near, rpc, []);
    await startFront(machine.address, rpc, machine.command);
    port = await freePort();
    const watched = join(directory, 'stats.cfg');
    writeFileSync(watched, `global\n    stats socket ${socket}\n`);
    balancer = spawn('haproxy', ['-db', '-f', CONFIGURATION, '-f', watched], {
      env: {
        ...BARE_ENVIRONMENT,
        GRANTD_LISTEN: `127.0.0.1:${port}`,
        GRANTD_FRONT_1: near,
        GRANTD_FRONT_2: machine.address,
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    await waitFor('HAProxy to use both fronts', async () => {
      const found = await states().catch(() => undefined);
      return found?.get('front-1') === 'UP' && found.get('front-2') === 'UP';
    });
  });
  after(async () => {
    balancer?.kill('SIGKILL');
    await machine?.end();
    network?.release();
    for (const front of fronts) if (!front.hasEnded) await front.stop('SIGKILL');
    await shards?.stop('SIGKILL');
    rmSync(directory, { recursive: true });
  });

  it('a machine that is lost costs its requests a moment, and none fails', async (context) => {
    using strain = new Strain();
    let count = 0;
    const clients = Array.from({ length: CLIENTS }, () => new Client());
    const runs = clients.map((client, index) =>
      index % 4 === 0
        ? client.run(port, '/v1/grants', facts.key, () => {
            count += 1;
            return { subject: 'user:ada', relation: 'viewer', object: `document:${count}` };
          })
        : client.run(port, '/v1/check', facts.key, () => ({
            subject: 'user:ada',
            relation: 'viewer',
            object: 'document:1',
          })),
    );
    await letRun(2000);
    const lostAtMs = performance.now();
    await machine.lose();
    let downAtMs: number | undefined;
    while (performance.now() - lostAtMs < LOST_MS) {
      const state = (await states()).get('front-2') ?? '';
      if (!state.startsWith('UP')) downAtMs ??= performance.now();
      await letRun(20);
    }
    for (const client of clients) client.stop();
    await Promise.all(runs);
    const calls = clients.flatMap((client) => client.calls);
    const failed = calls.filter(({ status }) => status !== 200 && status !== 201);
    const slow = calls.filter(({ atMs, latencyMs }) => atMs + latencyMs > lostAtMs && latencyMs > SLOW_MS);
    const slowest = Math.max(...slow.map(({ latencyMs }) => latencyMs));
    const recoveredMs = Math.max(...slow.map(({ atMs, latencyMs }) => atMs + latencyMs)) - lostAtMs;
    const downMs = (downAtMs ?? Number.POSITIVE_INFINITY) - lostAtMs;
    const text = `out after ${downMs.toFixed(0)} ms; ${slow.length} of ${calls.length} calls waited, ${slowest.toFixed(0)} ms at most, the last until ${recoveredMs.toFixed(0)} ms after the loss; ${failed.length} failed: ${JSON.stringify(
      Object.groupBy(
        failed.map(({ status }) => status),
        String,
      ),
    )}`;
    context.diagnostic(text);
    assert.ok(slow.length > 0, 'the loss was felt');
    assert.equal(failed.length, 0, text);
    judgeTimes(strain.take(), () => assert.ok(recoveredMs <= RECOVERED_MS_MAX && downMs <= RECOVERED_MS_MAX, text));
  });
});
