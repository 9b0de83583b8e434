// Data directories with many tenants, all with the same grants. Filling one takes minutes, so the run announces how
// long. A kept directory is used again: its tenants and their keys are in a file next to the data.

import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataSet } from '../data-set.ts';
import type { BenchContext } from '../scenario.ts';
import { delay, GrantdProcess, LOG_TAIL_MS } from '../server/grantd-process.ts';
import { fillTenants, type TenantAccess, writeAfterRest } from '../server/operator.ts';

/** About what two processors reach, for the announcement. */
const GRANTS_PER_MINUTE = 1_500_000;
const PROGRESS_MS = 10_000;
const BYTES_PER_BLOCK = 512;

export interface Filling {
  readonly tenants: number;
  readonly grantsPerTenant: number;
}

export interface FilledDirectory {
  /** The service's data directory. */
  readonly directory: string;
  readonly access: readonly TenantAccess[];
  /** The grants of each tenant. */
  readonly data: DataSet;
  /** Undefined if the directory already existed. */
  readonly fillSeconds: number | undefined;
}

const grouped = (value: number): string => value.toLocaleString('en-US');

async function fill(
  context: BenchContext,
  directory: string,
  filling: Filling,
): Promise<{ readonly access: readonly TenantAccess[]; readonly fillSeconds: number }> {
  const { tenants, grantsPerTenant } = filling;
  const minutes = Math.max(1, Math.round((tenants * grantsPerTenant) / GRANTS_PER_MINUTE));
  const all = `${grouped(tenants * grantsPerTenant)} grants into ${grouped(tenants)} tenants`;
  context.progress(`importing ${all}, which takes about ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`);
  const service = await GrantdProcess.start({ directory, searchPath: context.searchPath });
  try {
    const startMs = performance.now();
    let saidMs = startMs;
    const access = await fillTenants(service.addresses, { tenants, data: new DataSet(grantsPerTenant) }, (filled) => {
      if (performance.now() - saidMs < PROGRESS_MS) return;
      saidMs = performance.now();
      context.progress(`${grouped(filled)} of ${grouped(tenants)} tenants filled`);
    });
    await service.waitForCheckpoint();
    const fillSeconds = (performance.now() - startMs) / 1000;
    context.progress('waiting until the log is idle');
    await delay(LOG_TAIL_MS);
    await writeAfterRest(service.addresses, access);
    await service.waitForCheckpoint();
    return { access, fillSeconds };
  } finally {
    await service.stop();
  }
}

/** `name`: of the directory, if it is kept. */
export async function fillDirectory(context: BenchContext, name: string, filling: Filling): Promise<FilledDirectory> {
  const folder = context.keepDirectory(name);
  const directory = join(folder, 'data');
  const tenantsFile = join(folder, 'tenants.json');
  const data = new DataSet(filling.grantsPerTenant);
  if (existsSync(tenantsFile)) {
    const access: readonly TenantAccess[] = JSON.parse(readFileSync(tenantsFile, 'utf8'));
    context.progress(`${grouped(access.length)} tenants are in ${directory}`);
    return { directory, access, data, fillSeconds: undefined };
  }
  if (existsSync(directory)) throw new Error(`${directory} was only partly filled. Remove it.`);
  mkdirSync(directory, { mode: 0o700 });
  const { access, fillSeconds } = await fill(context, directory, filling);
  // The keys in it are real.
  writeFileSync(tenantsFile, JSON.stringify(access), { mode: 0o600 });
  return { directory, access, data, fillSeconds };
}

/** The disk space that the files of a folder take. */
export function readDiskBytes(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => lstatSync(join(directory, path)))
    .reduce((total, { blocks }) => total + blocks * BYTES_PER_BLOCK, 0);
}
