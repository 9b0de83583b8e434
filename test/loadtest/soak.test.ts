// Whether memory stays level, as far as a short soak can tell. Resident memory says little of some seconds, so what is
// compared is what is live after all garbage is collected, before and after the soak. A service that leaks shows that a
// leak would be found. Bytes of a request are judged, so requests are counted out: neither a rate nor a time is asked
// for.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findK6 } from '../../tools/engines/k6.ts';
import { type DevProcess, readDevFacts, startDev, testEnvironment } from '../kit/dev-process.ts';
import { waitFor } from '../kit/wait-for.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PROBE = import.meta.resolve('./support/memory-probe.ts');
const MIXTURE = fileURLToPath(import.meta.resolve('./support/mixture-by-count.ts'));
/** In which the code is compiled; it is live too. */
const WARM_UP_REQUESTS = 1200;
const SOAK_REQUESTS = 2400;
const LEAK_BYTES = 8192;
/** Of a request: what is live goes up and down by one or two MiB, whatever is asked. */
const LIVE_BYTES_MAX = 2000;

async function readLiveBytes(grantd: DevProcess): Promise<number> {
  const read = (): readonly number[] => [...grantd.stderr.matchAll(/^live (\d+)$/gm)].map(([, bytes]) => Number(bytes));
  const known = read().length;
  grantd.child.kill('SIGUSR2');
  await waitFor('what is live', () => read().length > known);
  return read().at(-1) ?? Number.NaN;
}

/** By how much a request of a soak adds to what is live. */
async function soak(k6: string, leakBytes: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-soak-'));
  const tenantsFile = join(directory, 'tenants.json');
  const { HOME = '', GRANTD_TOOLS } = process.env;
  const environment = { ...testEnvironment(directory), HOME, ...(GRANTD_TOOLS === undefined ? {} : { GRANTD_TOOLS }) };
  const run = promisify(execFile);
  const grantd = await startDev(directory, {
    environment: { NODE_OPTIONS: `--expose-gc --import=${PROBE}`, PROBE_LEAK_BYTES: String(leakBytes) },
  });
  try {
    const script = join(ROOT, 'scripts', 'loadtest.ts');
    await run(process.execPath, [script, 'seed', '--tenants', '2', '--grants', '100', '--file', tenantsFile], {
      env: environment,
    });
    const load = { LOAD_BASE_URL: readDevFacts(directory).base_url, LOAD_TENANTS_FILE: tenantsFile };
    const ask = (iterations: number) =>
      run(k6, ['run', '--quiet', '--no-usage-report', '--address', '', MIXTURE], {
        env: { ...environment, ...load, ITERATIONS: String(iterations) },
      });
    await ask(WARM_UP_REQUESTS);
    const before = await readLiveBytes(grantd);
    await ask(SOAK_REQUESTS);
    return ((await readLiveBytes(grantd)) - before) / SOAK_REQUESTS;
  } finally {
    await grantd.stop('SIGKILL');
    rmSync(directory, { recursive: true });
  }
}

const k6 = findK6('a short soak');

describe('a short soak', { skip: k6 === undefined }, () => {
  it('leaves nothing behind in memory, and finds a service that does', async (test) => {
    const [sound, leaking] = await Promise.all([soak(k6 ?? '', 0), soak(k6 ?? '', LEAK_BYTES)]);
    test.diagnostic(
      `live bytes of a request: ${Math.round(sound)}; with a leak of ${LEAK_BYTES}: ${Math.round(leaking)}`,
    );
    assert.ok(sound < LIVE_BYTES_MAX, `${sound} bytes of each request stay in memory`);
    assert.ok(leaking > LIVE_BYTES_MAX, `of ${LEAK_BYTES} bytes kept of each request ${leaking} are seen`);
  });
});
