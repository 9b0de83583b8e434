// The memory of a process after a restart that follows many writes: it contains the operation ids for repeats, and
// nothing that grows with what was written. The process has the heap of a pod of 1 GiB. It is killed at the end of
// imports into one tenant after another, so that each slot must read back its last seconds.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DataSet } from '../data-set.ts';
import type { Figure } from '../figure.ts';
import type { BenchContext } from '../scenario.ts';
import { delay, GrantdProcess } from '../server/grantd-process.ts';
import { createTenant, importGrants, type TenantAccess, writeToEach } from '../server/operator.ts';

const MEBIBYTE = 1024 ** 2;
const TENANTS = 10;
const GRANTS = 2_000_000;
const GRANTS_QUICK = 100_000;
/** The default page cache, and what a process may take in addition. */
const CACHE_MIB = 256;
const BESIDES_MIB = 150;
/** Writes wait until operation ids are read back, and get a 503 at the deadline; they are repeated for this long. */
const WRITE_MS_MAX = 120_000;
/** In a pod of 1 GiB. */
const HEAP_MIB = 536;
const REPORTER = join(import.meta.dirname, '..', 'server', 'heap-reporter.ts');
const REPORT_MS_MAX = 30_000;
const POLL_MS = 20;

async function liveBytes(service: GrantdProcess, file: string): Promise<number> {
  rmSync(file, { force: true });
  process.kill(service.pid, 'SIGUSR2');
  const endMs = performance.now() + REPORT_MS_MAX;
  while (!existsSync(file) || readFileSync(file, 'utf8') === '') {
    if (service.hasEnded || performance.now() > endMs) throw new Error(`It reports no memory:\n${service.logTail}`);
    await delay(POLL_MS);
  }
  return Number(readFileSync(file, 'utf8'));
}

/** One write to each tenant, which waits until the operation ids of its slot are known. */
async function writeToAll(service: GrantdProcess, tenants: readonly TenantAccess[]): Promise<void> {
  const endMs = performance.now() + WRITE_MS_MAX;
  for (;;) {
    try {
      await writeToEach(service.addresses, tenants);
      return;
    } catch (error) {
      if (service.hasEnded || performance.now() > endMs) throw error;
    }
  }
}

export async function measureRestartMemory(context: BenchContext): Promise<readonly Figure[]> {
  const directory = context.createDirectory();
  const file = join(context.createDirectory(), 'heap');
  const data = new DataSet((context.quick ? GRANTS_QUICK : GRANTS) / TENANTS);
  const settings = {
    GRANTD_PAGE_CACHE_BYTES: `${CACHE_MIB}MiB`,
    BENCH_HEAP_FILE: file,
    NODE_OPTIONS: `--import=${REPORTER} --max-old-space-size=${HEAP_MIB}`,
  };
  const start = () => GrantdProcess.start({ directory, searchPath: context.searchPath, settings });
  const tenants: TenantAccess[] = [];
  const writer = await start();
  try {
    for (let tenant = 1; tenant <= TENANTS; tenant += 1) {
      const access = await createTenant(writer.addresses);
      tenants.push(access);
      context.progress(`importing ${data.grants} grants, tenant ${tenant} of ${TENANTS}`);
      await importGrants(writer.addresses, access, data);
    }
  } finally {
    await writer.stop('SIGKILL');
  }
  const service = await start();
  try {
    const ready = await liveBytes(service, file);
    context.progress('reading operation ids back');
    const startMs = performance.now();
    await writeToAll(service, tenants);
    const seconds = (performance.now() - startMs) / 1000;
    const restored = await liveBytes(service, file);
    const metrics = await service.readMetrics();
    return [
      {
        name: `heap after a restart, ${TENANTS * data.grants} grants written just before`,
        value: Math.max(ready, restored) / MEBIBYTE,
        unit: 'MiB',
        target: { kind: 'at most', value: CACHE_MIB + BESIDES_MIB },
      },
      { name: 'until every tenant can be written to', value: seconds, unit: 's' },
      {
        name: 'memory of operation ids',
        value: metrics('grantd_write_memory_bytes{kind="operations"}') / MEBIBYTE,
        unit: 'MiB',
      },
    ];
  } finally {
    await service.stop();
  }
}
