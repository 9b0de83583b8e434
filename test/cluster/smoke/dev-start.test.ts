// `grantd dev` as a newcomer meets it: the banner, the three requests, the demo tenant over restarts, the way it ends.

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { getHeapStatistics } from 'node:v8';
import type { RunningRole } from '../../../src/roles/process/life-cycle.ts';
import { freePort } from '../../../tools/engines/free-port.ts';
import {
  type DevProcess,
  MAIN,
  DevProcess as Process,
  readDevFacts,
  startDev,
  testEnvironment,
} from '../../kit/dev-process.ts';
import { linesOf } from '../../kit/shell-blocks.ts';
import { createRecordingLog } from '../../kit/store/store-directory.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { Balancer } from '../support/balancer.ts';
import { listeningPorts } from '../support/listening-ports.ts';
import { startHere } from '../support/roles-here.ts';

const run = promisify(execFile);
const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };

const newDirectory = (): string => mkdtempSync(join(tmpdir(), 'grantd-dev-'));

/** What the three requests of a banner are answered, each run by a shell as it stands there. */
async function runRequests(banner: string): Promise<unknown[]> {
  const lines = banner.replaceAll('\\\n', '').split('\n');
  const [key = ''] = lines.filter((line) => line.startsWith('GRANTD_KEY='));
  const requests = lines.filter((line) => line.startsWith('curl '));
  assert.equal(requests.length, 3);
  const answers: unknown[] = [];
  for (const line of requests) answers.push(JSON.parse((await run('bash', ['-c', `${key}\n${line}`])).stdout));
  return answers;
}

async function call(directory: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
  const { base_url: baseUrl, key } = readDevFacts(directory);
  const response = await fetch(`${baseUrl}${path}`, {
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

describe('a first start', () => {
  const directory = newDirectory();
  let grantd: DevProcess;
  before(async () => {
    const environment = { npm_config_user_agent: 'npm/11.0.0 node/v20.20.2 linux x64' };
    grantd = await startDev(directory, { environment });
  });
  after(async () => {
    await grantd.stop('SIGKILL');
    rmSync(directory, { recursive: true });
  });

  it('prints the addresses once, and not the key, where standard output is no terminal', () => {
    const { base_url: baseUrl, ops_url: opsUrl, console_url: consoleUrl, key } = readDevFacts(directory);
    for (const url of [baseUrl, opsUrl, consoleUrl]) assert.ok(grantd.stdout.includes(url));
    assert.equal(grantd.stdout.split('is ready').length, 2);
    assert.ok(!grantd.stdout.includes(key));
    assert.ok(!grantd.stderr.includes(key));
    assert.ok(grantd.stdout.includes(join(directory, 'dev.json')));
  });

  it('accepts no key of `grantd testing`', async () => {
    const headers = { Authorization: 'Bearer test_a' };
    const { base_url: baseUrl } = readDevFacts(directory);
    assert.equal((await fetch(`${baseUrl}/v1/grants?subject=user:ada`, { headers })).status, 401);
  });

  it('says in one line that npm runs on another Node', () => {
    const lines = grantd.stdout.split('\n').filter((line) => line.includes('20.20.2'));
    assert.deepEqual(lines, [
      `  Node       ${process.versions.node}, from node_modules (the Node of this machine, 20.20.2, only runs npm)`,
    ]);
  });

  it('prints three requests that work when pasted', async () => {
    const [grant, check, listing] = await runRequests(grantd.stdout);
    assert.deepEqual({ ...TUPLE, ...Object(grant) }, { ...Object(grant), ...TUPLE });
    assert.match(String(Object(grant).grant_id), /^grt_/);
    assert.equal(Object(check).authorized, true);
    assert.deepEqual(listing, { objects: ['document:plan'], next_cursor: null });
    // No log of decisions unless it is set.
    assert.ok(!grantd.stdout.includes('specversion'));
  });

  it('listens for nothing but the API, the console and the ops port', () => {
    const { base_url: baseUrl, ops_url: opsUrl, console_url: consoleUrl } = readDevFacts(directory);
    const told = [baseUrl, opsUrl, consoleUrl].map((url) => Number(new URL(url).port));
    assert.deepEqual(
      listeningPorts(grantd.child.pid ?? 0),
      told.sort((left, right) => left - right),
    );
  });

  it('spreads the slots over two shards', async () => {
    const { console_url: consoleUrl, operator_token: token } = readDevFacts(directory);
    const response = await fetch(`${consoleUrl}/operator/v1/members`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    const { members } = Object(await response.json());
    assert.deepEqual(members.map((member: { shard: string }) => member.shard).sort(), ['dev-1', 'dev-2']);
  });

  it('ends cleanly with SIGTERM and SIGINT; the next one has the data, the tenant, the key and the token', async () => {
    assert.equal((await call(directory, '/v1/grants', TUPLE)).status, 200);
    const { tenant_id, key, operator_token } = readDevFacts(directory);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const ended = await grantd.stop(signal);
      assert.deepEqual({ code: ended.code, signal: ended.signal }, { code: 0, signal: null });
      assert.ok(ended.stderr.includes('"stopped"'), ended.stderr);
      grantd = await startDev(directory, { args: ['--shards', '3'] });
      const { base_url: _api, ops_url: _ops, console_url: _console, ...kept } = readDevFacts(directory);
      assert.deepEqual(kept, { tenant_id, key, operator_token });
      assert.equal(Object((await call(directory, '/v1/check', TUPLE)).body).authorized, true);
      assert.equal((await call(directory, '/v1/grants', TUPLE)).status, 200);
    }
  });
});

describe('a start', () => {
  let directory: string;
  let running: DevProcess[] = [];
  beforeEach(() => {
    directory = newDirectory();
  });
  afterEach(async () => {
    for (const each of running) if (!each.hasEnded) await each.stop('SIGKILL');
    running = [];
    rmSync(directory, { recursive: true });
  });
  /** Within this process, for what the start of a process adds nothing to. */
  const startInTest = (environment: Readonly<Record<string, string>> = {}): Promise<RunningRole> =>
    startHere('dev', { ...testEnvironment(directory), ...environment });

  it('again, after a drain, fails no request of writers behind a proxy that respects readiness', async () => {
    const [http, ops] = [await freePort(), await freePort()];
    const settings = {
      ...testEnvironment(directory),
      GRANTD_HTTP_ADDRESS: `127.0.0.1:${http}`,
      GRANTD_OPS_ADDRESS: `127.0.0.1:${ops}`,
      GRANTD_DRAIN_SECONDS: '5',
    };
    const startAgain = async (): Promise<DevProcess> => {
      const grantd = new Process(['dev'], settings);
      running.push(grantd);
      await grantd.ready();
      return grantd;
    };
    const first = await startAgain();
    const { key } = readDevFacts(directory);
    const proxy = new Balancer([{ url: `http://127.0.0.1:${http}`, opsUrl: `http://127.0.0.1:${ops}` }]);
    const statuses = new Map<string, number>();
    let [written, stopped] = [0, false];
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      while (!stopped) {
        await waitFor('readiness', () => proxy.hasReady || stopped);
        written += 1;
        const body = { subject: `user:${writer}`, relation: 'viewer', object: `doc:${written}` };
        const outcome = await proxy.call('127.0.0.1', { method: 'POST', path: '/v1/grants', key, body }).then(
          ({ status }) => String(status),
          (error: unknown) => String(error),
        );
        statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1);
      }
    });
    const more = async (): Promise<void> => {
      const target = (statuses.get('201') ?? 0) + 100;
      await waitFor('more writes', () => (statuses.get('201') ?? 0) >= target);
    };
    try {
      await more();
      assert.equal((await first.stop('SIGTERM')).code, 0);
      await startAgain();
      await more();
    } finally {
      stopped = true;
      await Promise.all(writers);
      proxy.close();
    }
    assert.deepEqual([...statuses.keys()], ['201'], JSON.stringify([...statuses]));
  });

  it('through `npm start` ends cleanly too when npm is told to', async () => {
    const grantd = new Process([], testEnvironment(directory), ['npm', 'start', '--', '--shards', '1']);
    running.push(grantd);
    await grantd.ready();
    const ended = await grantd.stop();
    assert.equal(ended.code, 0, ended.stderr);
    assert.ok(ended.stderr.includes('"stopped"'), ended.stderr);
  });

  it('through `npm start` ends cleanly with Ctrl-C, which the terminal sends and npm passes on', async () => {
    const grantd = new Process([], testEnvironment(directory), ['npm', 'start', '--', '--shards', '1']);
    running.push(grantd);
    await grantd.ready();
    // Without a terminal: what its foreground processes get, first the one that npm has started.
    const [, pid = ''] = /"pid":(\d+)/.exec(grantd.stderr) ?? [];
    process.kill(Number(pid), 'SIGINT');
    const ended = await grantd.stop('SIGINT');
    assert.ok(ended.stderr.includes('"stopped"'), ended.stderr);
  });

  // A person's interruption is no success: nothing was served.
  for (const [signal, code] of [
    ['SIGTERM', 0],
    ['SIGINT', 130],
  ] as const) {
    it(`that ${signal} ends before it serves ends with ${code}, and says nothing of serving`, async () => {
      const grantd = new Process(['dev'], testEnvironment(directory));
      running.push(grantd);
      await waitFor('the first line of the log', () => grantd.stderr.includes('"starting"') || grantd.hasEnded);
      const ended = await grantd.stop(signal);
      assert.deepEqual([ended.code, ended.stdout], [code, ''], ended.stderr);
      assert.doesNotMatch(ended.stderr, /"serving"/);
      await (await startInTest()).stop();
    });
  }

  it('with GRANTD_DEMO=false makes no tenant and keeps no key, but tells the addresses and the token', async () => {
    const grantd = await startInTest({ GRANTD_DEMO: 'false' });
    const facts = readDevFacts(directory);
    assert.deepEqual(Object.keys(facts).sort(), ['base_url', 'console_url', 'operator_token', 'ops_url']);
    const response = await fetch(`${facts.console_url}/operator/v1/tenants`, {
      headers: { Authorization: `Bearer ${facts.operator_token}` },
    });
    assert.deepEqual(Object(await response.json()).tenants, []);
    await grantd.stop();
  });

  it('takes the operator token and the base URL from the settings', async () => {
    const token = 'an-operator-token-of-the-test-0123456789';
    const log = createRecordingLog();
    const grantd = await startHere(
      'dev',
      {
        ...testEnvironment(directory),
        GRANTD_OPERATOR_TOKEN: token,
        GRANTD_BASE_URL: 'https://authz.example.com/',
        GRANTD_ERRORS_BASE: 'https://errors.example.com',
      },
      log,
    );
    const facts = readDevFacts(directory);
    assert.equal(facts.operator_token, token);
    assert.equal(facts.base_url, 'https://authz.example.com');
    assert.ok(!log.lines.join().includes(token));
    for (const [authorization, status] of [
      [`Bearer ${token}`, 200],
      ['Bearer wrong', 401],
    ] as const) {
      const response = await fetch(`${facts.console_url}/operator/v1/plans`, {
        headers: { Authorization: authorization },
      });
      assert.equal(response.status, status);
      if (status === 401) assert.equal(Object(await response.json()).type, 'https://errors.example.com/unauthorized');
    }
    await grantd.stop();
  });

  it('in a heap too small for the page cache gives the same process a larger one', async () => {
    const heapBytes = getHeapStatistics().heap_size_limit;
    // Prints process id and heap bound of each program that the process runs, one after the other.
    const probe = 'import v8 from "node:v8"; console.log(process.pid, v8.getHeapStatistics().heap_size_limit);';
    const command = ['--import', `data:text/javascript,${encodeURIComponent(probe)}`, MAIN];
    // No folder: the start goes no further than to its data.
    writeFileSync(join(directory, 'file'), '');
    const settings = { GRANTD_PAGE_CACHE_BYTES: String(heapBytes / 2), GRANTD_LOG_LEVEL: 'error' };
    const environment = { ...testEnvironment(join(directory, 'file')), ...settings };
    const { stdout, stderr } = await new Process(['dev'], environment, [process.execPath, ...command]).ended;
    const [first = [], second = [], ...others] = linesOf(stdout).map((line) => line.split(' ').map(Number));
    assert.deepEqual([first[1], others], [heapBytes, []], stderr);
    assert.ok((second[1] ?? 0) >= heapBytes + 128 * 1024 ** 2, stdout);
    assert.equal(second[0], first[0]);
    assert.match(stderr, /^grantd: (?!.*PAGE_CACHE)/);
  });

  it('shows the banner alone on a terminal, with the key once and a link that logs in once', async (context) => {
    if (spawnSync('script', ['--version']).status !== 0) {
      context.skip('NOT TESTED: there is no `script` here to make a terminal with');
      assert.equal(process.env.CI, undefined, 'where CI is set, the terminal has to be tested');
      return;
    }
    const log = join(directory, 'terminal');
    const command = `${process.execPath} ${MAIN} dev --shards 1`;
    const terminal = execFile('script', ['--quiet', '--return', '--flush', '--command', `exec ${command}`, log], {
      env: { ...testEnvironment(join(directory, 'data')), TERM: 'dumb', SHELL: '/bin/sh' },
    });
    const text = (): string => {
      try {
        return readFileSync(log, 'utf8').replaceAll('\r', '');
      } catch {
        return '';
      }
    };
    const closed = new Promise((resolve) => terminal.on('close', resolve));
    try {
      await waitFor('the banner', () => text().includes('/v1/objects'));
      const { key } = readDevFacts(join(directory, 'data'));
      await waitFor('the end of the banner', () => /\/v1\/objects[^\n]*\n\n/.test(text()));
      const { console_url: consoleUrl } = readDevFacts(join(directory, 'data'));
      assert.equal(text().split(key).length, 2);
      assert.doesNotMatch(text(), /"level"|INFO|settings|serving/);
      const [grant, check, listing] = await runRequests(text());
      assert.match(String(Object(grant).grant_id), /^grt_/);
      assert.equal(Object(check).authorized, true);
      assert.equal(Object(listing).objects.length, 1);
      const code = /^ {2}Console {4}\S+\/console\/log-in#code=([\w-]{43})$/m.exec(text())?.[1] ?? '';
      const logIn = async (): Promise<number> => {
        const body = new URLSearchParams({ code });
        return (await fetch(`${consoleUrl}/console/log-in`, { method: 'POST', body, redirect: 'manual' })).status;
      };
      assert.deepEqual([await logIn(), await logIn()], [303, 401]);
    } finally {
      terminal.kill('SIGTERM');
      await closed;
    }
  });
});
