// Whether memory stays level, as far as a short soak can tell. Resident memory says little of some seconds, so what is
// compared is what is live after all garbage is collected, before and after the soak. A service that leaks shows that a
// leak would be found.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type DevProcess, startDev, testEnvironment, waitFor } from '../cluster/support/dev-process.ts';
import { findK6 } from '../support/k6.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PROBE = import.meta.resolve('../support/memory-probe.ts');
const REQUESTS_PER_SECOND = 300;
/** In which the code is compiled; it is live too. */
const WARM_UP_SECONDS = 4;
const SOAK_SECONDS = 8;
const LEAK_BYTES = 8192;
/** Of a request: what is live goes up and down by one or two MiB, whatever is asked. */
const LIVE_BYTES_MAX = 2000;
/** Other tests run beside this one; and of resident memory nothing is asked. */
const PATIENCE = ['--p99-ms', '5000', '--vus', '500', '--memory-growth-max', '100000'];

async function readLiveBytes(grantd: DevProcess): Promise<number> {
  const read = (): readonly number[] => [...grantd.stderr.matchAll(/^live (\d+)$/gm)].map(([, bytes]) => Number(bytes));
  const known = read().length;
  grantd.child.kill('SIGUSR2');
  await waitFor('what is live', () => read().length > known);
  return read().at(-1) ?? Number.NaN;
}

/** By how much a request of a soak adds to what is live. */
async function soak(leakBytes: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-soak-'));
  const tenantsFile = join(directory, 'tenants.json');
  const { HOME = '', GRANTD_TOOLS } = process.env;
  const environment = { ...testEnvironment(directory), HOME, ...(GRANTD_TOOLS === undefined ? {} : { GRANTD_TOOLS }) };
  const loadtest = (...args: readonly string[]) =>
    promisify(execFile)(process.execPath, [join(ROOT, 'scripts', 'loadtest.ts'), ...args], { env: environment });
  const load = ['--rate', String(REQUESTS_PER_SECOND), '--tenants-file', tenantsFile, ...PATIENCE];
  const run = (seconds: number) => loadtest('soak', '--duration', `${seconds}s`, ...load);
  const grantd = await startDev(directory, {
    environment: { NODE_OPTIONS: `--expose-gc --import=${PROBE}`, PROBE_LEAK_BYTES: String(leakBytes) },
  });
  try {
    // Where they are missing, `soak` would make more.
    await loadtest('seed', '--tenants', '2', '--grants', '100', '--file', tenantsFile);
    await run(WARM_UP_SECONDS);
    const before = await readLiveBytes(grantd);
    await run(SOAK_SECONDS);
    return ((await readLiveBytes(grantd)) - before) / (REQUESTS_PER_SECOND * SOAK_SECONDS);
  } finally {
    await grantd.stop('SIGKILL');
    rmSync(directory, { recursive: true });
  }
}

describe('a short soak', { skip: findK6('a short soak') === undefined }, () => {
  it('leaves nothing behind in memory, and finds a service that does', async (test) => {
    const [sound, leaking] = await Promise.all([soak(0), soak(LEAK_BYTES)]);
    test.diagnostic(
      `live bytes of a request: ${Math.round(sound)}; with a leak of ${LEAK_BYTES}: ${Math.round(leaking)}`,
    );
    assert.ok(sound < LIVE_BYTES_MAX, `${sound} bytes of each request stay in memory`);
    assert.ok(leaking > LIVE_BYTES_MAX, `of ${LEAK_BYTES} bytes kept of each request ${leaking} are seen`);
  });
});
