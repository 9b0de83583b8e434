// The CronJob of `backup` runs this: it exports the grants of every tenant into a new folder below BACKUP_FOLDER, and
// deletes older folders beyond KEEP. A folder gets its name only once it is complete; any error ends this with status
// 1.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

const { BACKUP_FOLDER: folder, KEEP: keep } = process.env;
const { PAGE_LENGTH = '100' } = process.env;
const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/;
const INCOMPLETE = '.incomplete';
/** Other tenants need no backup: their data is being deleted, and could not be read to its end. */
const isKept = ({ state }) => state === 'active' || state === 'suspended';

/** Holds the last line of an export. */
const END_BYTES = 256;

/** Passes an export on, and fails at its end unless the last line says that it is whole. */
async function* demandEnd(chunks) {
  let end = Buffer.alloc(0);
  for await (const chunk of chunks) {
    end = Buffer.concat([end, chunk]).subarray(-END_BYTES);
    yield chunk;
  }
  if (!/\n\{"end":\{"grants":\d+\}\}\n$/.test(end.toString())) throw new Error('The export has no end line.');
}

/** Runs an operator's command; `done` rejects unless the exit status is 0. */
function grantd(...args) {
  const child = spawn('grantd', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const done = once(child, 'close').then(([code]) => {
    if (code !== 0) throw new Error(`grantd ${args.join(' ')} ended with status ${code}.`);
  });
  // It is awaited after the output.
  done.catch(() => {});
  return { stdout: child.stdout, done };
}

async function readTenants() {
  const tenants = [];
  let cursor;
  const token = await readFile(process.env.GRANTD_OPERATOR_TOKEN_FILE, 'utf8');
  do {
    const url = new URL('/operator/v1/tenants', process.env.GRANTD_OPERATOR_URL);
    url.searchParams.set('limit', PAGE_LENGTH);
    if (cursor !== undefined) url.searchParams.set('cursor', cursor);
    const headers = { authorization: `Bearer ${token.trim()}` };
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(60_000) });
    if (!response.ok) throw new Error(`Listing the tenants returned status ${response.status}.`);
    const page = await response.json();
    tenants.push(...page.tenants);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return tenants.filter(isKept);
}

/** False if the tenant has been deleted since it was listed. */
async function exportTenant(tenant, file) {
  const { stdout, done } = grantd('export', '--tenant', tenant, '--format', 'ndjson');
  // The file must be on disk before the folder counts as complete.
  try {
    const [written, ended] = await Promise.allSettled([
      pipeline(stdout, demandEnd, createGzip(), createWriteStream(file, { flush: true })),
      done,
    ]);
    // The command says more about what went wrong.
    if (ended.status === 'rejected') throw ended.reason;
    if (written.status === 'rejected') throw written.reason;
    return true;
  } catch (error) {
    const isThere = (await readTenants()).some(({ tenant_id: id }) => id === tenant);
    if (isThere) throw error;
    await rm(file, { force: true });
    return false;
  }
}

const name = new Date().toISOString().replaceAll(':', '-').replace(/\.\d+/, '');
// Left by an interrupted run. No other run is active: the CronJob forbids it.
for (const each of await readdir(folder)) {
  if (each.endsWith(INCOMPLETE)) await rm(join(folder, each), { recursive: true });
}
const incomplete = join(folder, name + INCOMPLETE);
await mkdir(incomplete);
const tenants = await readTenants();
const exported = [];
for (const tenant of tenants) {
  if (await exportTenant(tenant.tenant_id, join(incomplete, `${tenant.tenant_id}.ndjson.gz`))) exported.push(tenant);
}
await writeFile(join(incomplete, 'tenants.json'), JSON.stringify({ tenants: exported }, undefined, 2), { flush: true });
await rename(incomplete, join(folder, name));
process.stdout.write(`${name} has the grants of ${exported.length} tenants.\n`);
const whole = (await readdir(folder)).filter((each) => NAME.test(each)).sort();
for (const each of whole.slice(0, -Number(keep))) {
  await rm(join(folder, each), { recursive: true });
  process.stdout.write(`${each} was removed: ${keep} are kept.\n`);
}
