// Fills tenants for a load test through the operator's API, and keeps their keys in a file that only its owner can
// read. It is safe to interrupt and to run again: existing data stays, missing data is created.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { grantAt } from '../../loadtest/data-set.ts';
import { parseTenants, type Tenant } from '../../loadtest/tenants.ts';
import { ProblemFailure } from '../../packages/cli/src/failures.ts';
import { deliverBatch } from '../../packages/cli/src/import/import-run.ts';
import { asRecord, textOf } from '../../packages/cli/src/output/json-view.ts';
import { path, ServiceClient, type ServiceTarget } from '../../packages/cli/src/service-client.ts';

/** The maximum of one import call. */
const LINES_PER_CALL = 1000;
/** Writes of many tenants share a commit of the log; more at once would only wait. */
const TENANTS_IN_FLIGHT = 16;
const NOTE_MS = 2000;

export interface SeedOptions {
  readonly file: string;
  readonly tenants: number;
  /** A multiple of ten. */
  readonly grantsPerTenant: number;
  readonly plan: string;
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

/** The result of `call`, or undefined if the service does not know its subject. */
async function unlessUnknown<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ProblemFailure && error.status === 404) return undefined;
    throw error;
  }
}

const readTenants = (file: string): readonly Tenant[] => parseTenants(readFileSync(file, 'utf8'), file);

/** The tenants of the file, if the service has them; none if it is another service or was recreated. */
async function readKept(client: ServiceClient, { file, note }: SeedOptions): Promise<Tenant[]> {
  if (!existsSync(file)) return [];
  const tenants = readTenants(file);
  const ends = await Promise.all(
    [tenants[0], tenants.at(-1)].map((tenant) =>
      unlessUnknown(client.readJson({ method: 'GET', path: path`/tenants/${tenant?.tenant_id ?? ''}` })),
    ),
  );
  if (ends.every((tenant) => tenant?.state === 'active')) return [...tenants];
  note(`the service does not have the tenants of ${file}: creating new ones`);
  return [];
}

function writeTenants(file: string, tenants: readonly Tenant[]): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.new`;
  // The mode only applies when the file is created.
  rmSync(draft, { force: true });
  writeFileSync(draft, `${JSON.stringify({ tenants })}\n`, { mode: 0o600 });
  renameSync(draft, file);
}

async function createTenant(client: ServiceClient, plan: string, number: number): Promise<Tenant> {
  const name = `loadtest ${number + 1}`;
  const tenant = await client.readJson({ method: 'POST', path: '/tenants', json: { name, plan } });
  const id = textOf(tenant, 'tenant_id');
  const json = { name: 'loadtest', scopes: ['check:read', 'grant:write'] };
  const key = await client.readJson({ method: 'POST', path: path`/tenants/${id}/keys`, json });
  return { tenant_id: id, key: textOf(asRecord(key), 'key'), grants: 0 };
}

async function importGrants(client: ServiceClient, tenant: Tenant, { grantsPerTenant, signal, note }: SeedOptions) {
  for (let start = tenant.grants; start < grantsPerTenant; start += LINES_PER_CALL) {
    const length = Math.min(LINES_PER_CALL, grantsPerTenant - start);
    const lines = Array.from({ length }, (_, index) => JSON.stringify(grantAt(start + index)));
    const results = await deliverBatch(
      client.ofTenant(tenant.tenant_id),
      { body: lines.join('\n'), length, replace: false },
      { signal, onRetry: (reason) => note(`${reason} Retrying.`) },
    );
    const refused = results.find(({ result }) => result === 'refused');
    if (refused !== undefined) throw new Error(`A grant was refused: ${refused.detail}`);
  }
}

/**
 * Creates a file of at least this many tenants, each with at least this many grants. Resolves to how many tenants
 * changed.
 */
export async function seed(target: ServiceTarget, options: SeedOptions): Promise<number> {
  const { file, plan, grantsPerTenant, signal, note } = options;
  const client = new ServiceClient(target);
  const tenants = await readKept(client, options);
  const count = Math.max(options.tenants, tenants.length);
  const missing = Array.from({ length: count }, (_, index) => index).filter(
    (index) => (tenants[index]?.grants ?? 0) < grantsPerTenant,
  );
  if (missing.length === 0) return 0;
  const all = missing.length;
  let changed = 0;
  let notedMs = performance.now();
  const fillInTurn = async (): Promise<void> => {
    for (let index = missing.shift(); index !== undefined; index = missing.shift()) {
      signal.throwIfAborted();
      const tenant = tenants[index] ?? (await createTenant(client, plan, index));
      await importGrants(client, tenant, options);
      tenants[index] = { ...tenant, grants: grantsPerTenant };
      changed += 1;
      if (performance.now() - notedMs < NOTE_MS) continue;
      notedMs = performance.now();
      note(`${changed} of ${all} tenants filled`);
    }
  };
  const startMs = performance.now();
  note(`filling ${all} tenants with ${grantsPerTenant} grants each, through ${target.url}`);
  try {
    const ends = await Promise.allSettled(Array.from({ length: Math.min(TENANTS_IN_FLIGHT, all) }, fillInTurn));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  } finally {
    // After an interrupted attempt, too: the next one continues from there. Tenants in flight may leave gaps.
    const filled = tenants.filter((tenant) => tenant !== undefined);
    if (filled.length > 0) writeTenants(file, filled);
  }
  note(`filled ${all} tenants in ${((performance.now() - startMs) / 1000).toFixed(1)} s; their keys are in ${file}`);
  return changed;
}

/** Deletes the tenants of a file from the service, and the file. Skips tenants that the service does not know. */
export async function removeTenants(target: ServiceTarget, file: string, note: (text: string) => void): Promise<void> {
  const client = new ServiceClient(target);
  const rest = [...readTenants(file)];
  let deleted = 0;
  const deleteInTurn = async (): Promise<void> => {
    for (let tenant = rest.shift(); tenant !== undefined; tenant = rest.shift()) {
      const request = { method: 'DELETE', path: path`/tenants/${tenant.tenant_id}` } as const;
      if ((await unlessUnknown(client.readJson(request))) !== undefined) deleted += 1;
    }
  };
  await Promise.all(Array.from({ length: TENANTS_IN_FLIGHT }, deleteInTurn));
  rmSync(file);
  note(`${deleted} tenants are being deleted; ${file} was removed`);
}
