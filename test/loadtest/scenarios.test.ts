// The load scenarios as they are run: by the real k6, against `grantd dev` in a process of its own, and against
// services that are wrong on purpose. Short and gentle: it is about what is judged, not about speed.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { SCENARIO_NAMES } from '../../loadtest/scenarios.ts';
import { parseTenants } from '../../loadtest/tenants.ts';
import { findK6 } from '../../tools/engines/k6.ts';
import { type DevProcess, readDevFacts, startDev, testEnvironment } from '../kit/dev-process.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const STATUS_THRESHOLDS = 99;
const STATUS_SCRIPT = 107;
/** Other tests run beside this one: as many requests may be in flight as a whole run has, so that none is dropped. */
const PATIENCE = ['--p99-ms', '60000', '--vus', '300'];

interface Ended {
  readonly status: number;
  readonly output: string;
  readonly seconds: number;
}

const k6 = findK6('the load scenarios');
const directory = mkdtempSync(join(tmpdir(), 'grantd-loadtest-'));
const tenantsFile = join(directory, 'loadtest.json');
const environment = {
  ...testEnvironment(directory),
  HOME: process.env.HOME ?? '',
  ...(process.env.GRANTD_TOOLS === undefined ? {} : { GRANTD_TOOLS: process.env.GRANTD_TOOLS }),
};

function run(
  command: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const startMs = performance.now();
  return new Promise((resolve) => {
    const child = execFile(command, args, { env: { ...environment, ...settings } }, (_error, stdout, stderr) => {
      const seconds = (performance.now() - startMs) / 1000;
      resolve({ status: child.exitCode ?? -1, output: stdout + stderr, seconds });
    });
  });
}

const loadtest = (...args: readonly string[]): Promise<Ended> =>
  run(process.execPath, [join(ROOT, 'scripts', 'loadtest.ts'), ...args]);

/** A service on any free port of the loopback interface. */
async function serve(listener: RequestListener): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

describe('the load scenarios', { skip: k6 === undefined }, () => {
  let grantd: DevProcess;
  before(async () => {
    grantd = await startDev(directory);
  });
  after(async () => {
    await grantd.stop('SIGKILL');
    rmSync(directory, { recursive: true });
  });

  it('smoke finds the service, fills tenants for it, and passes', async () => {
    const { status, output } = await loadtest('smoke', '--duration', '2s', ...PATIENCE);
    assert.equal(status, 0, output);
    for (const kind of ['positive checks', 'negative checks', 'listings', 'writes']) {
      assert.match(output, new RegExp(`${kind} +[\\d,]+, all right\\n`));
    }
    assert.match(output, /^smoke: passed$/m);
  });

  it('keep the keys of the tenants for their owner alone', () => {
    assert.equal(statSync(tenantsFile).mode & 0o777, 0o600);
    const tenants = parseTenants(readFileSync(tenantsFile, 'utf8'), tenantsFile);
    assert.equal(tenants.length, 10);
  });

  it('check passes at a steady rate, with the tenants that are there, and writes what was measured', async () => {
    const summary = join(directory, 'summary.json');
    const given = ['--rate', '100', '--duration', '3s', '--summary-file', summary];
    // A path as a person would give it.
    const tenants = ['--tenants-file', relative(process.cwd(), tenantsFile)];
    const { status, output } = await loadtest('check', ...given, ...tenants, ...PATIENCE);
    assert.equal(status, 0, output);
    assert.ok(!output.includes('filling'));
    const { metrics } = JSON.parse(readFileSync(summary, 'utf8'));
    const { passes: positive } = metrics.positive_checks.values;
    const { passes: negative } = metrics.negative_checks.values;
    // One more at either end, and fewer only where k6 had no processor at the end of the time.
    assert.ok(positive + negative >= 200 && positive + negative <= 303, `${positive} and ${negative}`);
    assert.ok(positive > 50 && negative > 50, `${positive} and ${negative}`);
  });

  it('are all read by k6 without any settings', async () => {
    for (const name of SCENARIO_NAMES) {
      const { status, output } = await run(k6 ?? '', ['inspect', join(ROOT, 'loadtest', `${name}.ts`)]);
      assert.equal(status, 0, output);
      const { dropped_iterations: dropped } = JSON.parse(output).thresholds;
      assert.match(JSON.stringify(dropped), /count==0/);
    }
  });

  it('name every setting that is missing, in k6 alone too, and send no request', async () => {
    const script = join(ROOT, 'loadtest', 'soak.ts');
    const { status, output } = await run(k6 ?? '', ['run', '--quiet', '--address', '', script]);
    assert.equal(status, STATUS_SCRIPT, output);
    for (const name of ['LOAD_BASE_URL', 'LOAD_TENANTS_FILE', 'LOAD_OPS_URLS']) assert.ok(output.includes(name), name);
    assert.match(output, /^soak: NOT RUN/m);
  });

  it('end at once where an answer is wrong: always yes has the positive checks right, and no other', async () => {
    const { url, server } = await serve((_request, response) => response.end('{"authorized":true}'));
    const { status, output, seconds } = await loadtest('check', '--base-url', url, '--rate', '20', '--duration', '5m');
    server.close();
    assert.equal(status, STATUS_THRESHOLDS, output);
    assert.ok(seconds < 100, `${seconds} s`);
    assert.match(output, /positive checks +\d+, all right\n/);
    assert.match(output, /negative checks +\d+, \d+ WRONG\n/);
    assert.match(output, /A wrong answer to .*\\"authorized\\":false/);
  });

  it('fail where requests fail, which are no wrong answers', async () => {
    const { url, server } = await serve(({ url: path }, response) => {
      // Before the run the service is well.
      response.writeHead(path === '/v1/namespaces' ? 200 : 503).end('{}');
    });
    const given = ['--base-url', url, '--rate', '20', '--duration', '1s'];
    const { status, output } = await loadtest('check', ...given, ...PATIENCE);
    server.close();
    assert.equal(status, STATUS_THRESHOLDS, output);
    assert.match(output, /requests +(\d+) \(\d+ a second\), \1 failed\n/);
    assert.match(output, /failed_requests: rate<=0\n/);
    assert.ok(!output.includes('WRONG'));
  });

  it('soak fails where the memory of a process grows, and only then', async () => {
    let bytes = 100_000_000;
    const { url, server } = await serve(({ url: path }, response) => {
      if (path?.startsWith('/growing')) bytes += 5_000_000;
      const resident = path?.startsWith('/growing') ? bytes : 100_000_000;
      response.end(`process_start_time_seconds 1\nprocess_resident_memory_bytes ${resident}\n`);
    });
    const { ops_url: real } = readDevFacts(directory);
    const given = ['--rate', '20', '--duration', '8s', '--ops-urls', `${url}/level,${url}/growing,${real}`];
    const { status, output } = await loadtest('soak', ...given, ...PATIENCE);
    server.close();
    assert.equal(status, STATUS_THRESHOLDS, output);
    const [, broken = ''] = output.split('Failed thresholds:\n');
    // Of grantd itself nothing is asked in so short a time, but that its memory is known.
    const growing = broken
      .split('\n')
      .flatMap((line) => /^ *memory_growth_percent_per_hour\{process:([12])\}: /.exec(line)?.[1] ?? []);
    assert.deepEqual(growing, ['2'], broken);
    assert.match(output, /memory, process 1 +95\.4 MiB, growing by 0\.00 MiB \(0\.00 %\) an hour/);
    assert.ok(!broken.includes('memory_samples'), broken);
    assert.match(output, /memory, process 3 +\d+(\.\d+)? MiB/);
  });

  it('are seeded again where the service does not know the tenants of the file', async () => {
    const { tenant_id: id } = readDevFacts(directory);
    const file = join(directory, 'other.json');
    const stranger = { tenant_id: id.replace(/.$/, (last) => (last === '0' ? '1' : '0')), key: 'x', grants: 1000 };
    writeFileSync(file, JSON.stringify({ tenants: [stranger] }));
    const { status, output } = await loadtest('seed', '--file', file, '--tenants', '2', '--grants', '20');
    assert.equal(status, 0, output);
    const tenants = parseTenants(readFileSync(file, 'utf8'), file);
    assert.deepEqual(
      tenants.map(({ grants }) => grants),
      [20, 20],
    );
    const removed = await loadtest('remove', file);
    assert.equal(removed.status, 0, removed.output);
    assert.match(removed.output, /2 tenants are being deleted/);
    assert.ok(!existsSync(file));
  });
});
