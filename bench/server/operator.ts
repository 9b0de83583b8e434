// The operator's preparations before a measurement: a tenant, its key, its grants.

import type { Tuple } from '../../src/core/tuples.ts';
import { forEachAtATime } from '../at-a-time.ts';
import type { DataSet } from '../data-set.ts';
import { type Addresses, PLAN_NAME } from './grantd-process.ts';

const LINES_PER_CALL = 1000;
const CALLS_UNDER_WAY = 4;
/** Creating a tenant waits for the log three times and does little else, so concurrent creations share commits. */
const TENANTS_IN_FLIGHT = 16;

/** A cluster that has just started, on a Cassandra that has, may take longer than a request may. */
const IMPORT_TRIES = 5;

class Unavailable extends Error {}

export interface TenantAccess {
  readonly tenantId: string;
  readonly key: string;
}

async function call(
  addresses: Addresses,
  path: string,
  body: string,
  contentType: string,
  method = 'POST',
): Promise<string> {
  const response = await fetch(`${addresses.console_url}/operator/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${addresses.operator_token}`, 'Content-Type': contentType },
    body,
    signal: AbortSignal.timeout(60_000),
  });
  const text = await response.text();
  const failure = `${path}: ${response.status} ${text}`;
  if (response.status === 503) throw new Unavailable(failure);
  if (!response.ok) throw new Error(failure);
  return text;
}

export async function createTenant(
  addresses: Addresses,
  scopes: readonly string[] = ['check:read', 'grant:write'],
): Promise<TenantAccess> {
  const plan = { name: 'bench', plan: PLAN_NAME };
  const tenant: { readonly tenant_id: string } = JSON.parse(
    await call(addresses, '/tenants', JSON.stringify(plan), 'application/json'),
  );
  const { key }: { readonly key: string } = JSON.parse(
    await call(addresses, `/tenants/${tenant.tenant_id}/keys`, JSON.stringify({ scopes }), 'application/json'),
  );
  return { tenantId: tenant.tenant_id, key };
}

export async function setReaders(addresses: Addresses, { tenantId }: TenantAccess, readers: number): Promise<void> {
  await call(addresses, `/tenants/${tenantId}`, JSON.stringify({ readers }), 'application/json', 'PATCH');
}

export async function writeRules(addresses: Addresses, { tenantId }: TenantAccess, rules: object): Promise<void> {
  await call(addresses, `/tenants/${tenantId}/rules`, JSON.stringify(rules), 'application/json', 'PUT');
}

/** Numbered grants, from 0. */
export interface GrantSource extends Pick<DataSet, 'grants'> {
  readonly grant: (number: number) => Pick<Tuple, 'subject' | 'object'> & {
    readonly relation: string;
    readonly expires_at?: string;
    readonly condition?: { readonly name: string };
  };
}

/** The lines of all grants, in batches. */
function* batchesOf(data: GrantSource): Generator<readonly string[]> {
  for (let start = 0; start < data.grants; start += LINES_PER_CALL) {
    const count = Math.min(LINES_PER_CALL, data.grants - start);
    yield Array.from({ length: count }, (_, index) => JSON.stringify(data.grant(start + index)));
  }
}

/** What a repeat finds was created by the call before it, whose outcome was unknown. */
async function importBatch(addresses: Addresses, tenantId: string, lines: readonly string[]): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      const text = await call(addresses, `/tenants/${tenantId}/import`, lines.join('\n'), 'application/x-ndjson');
      const counted = text.split(tries === 1 ? '"result":"created"' : /"result":"(?:created|unchanged)"/).length - 1;
      if (counted !== lines.length) {
        throw new Error(`Of ${lines.length} grants ${counted} were created: ${text.slice(0, 300)}`);
      }
      return;
    } catch (error) {
      if (tries === IMPORT_TRIES || !(error instanceof Unavailable)) throw error;
    }
  }
}

/** Through the log like any other write, a few calls at a time. Resolves to the seconds it took. */
export async function importGrants(
  addresses: Addresses,
  { tenantId }: TenantAccess,
  data: GrantSource,
): Promise<number> {
  const startMs = performance.now();
  await forEachAtATime(batchesOf(data), CALLS_UNDER_WAY, (lines) => importBatch(addresses, tenantId, lines));
  return (performance.now() - startMs) / 1000;
}

/**
 * One more grant for each tenant, after the log has been idle. A start reads back what was written in the seconds
 * before the last write, for its repeats, because clocks cannot tell how long a service was down.
 */
export async function writeAfterRest(addresses: Addresses, tenants: readonly TenantAccess[]): Promise<void> {
  const line = JSON.stringify({ subject: 'bench:rest', relation: 'viewer', object: 'bench:rest' });
  await forEachAtATime(tenants, TENANTS_IN_FLIGHT, ({ tenantId }) => importBatch(addresses, tenantId, [line]));
}

/** One grant for each tenant, whether or not it already exists. */
export async function writeToEach(addresses: Addresses, tenants: readonly TenantAccess[]): Promise<void> {
  const line = JSON.stringify({ subject: 'bench:again', relation: 'viewer', object: 'bench:again' });
  await forEachAtATime(tenants, TENANTS_IN_FLIGHT, async ({ tenantId }) => {
    await call(addresses, `/tenants/${tenantId}/import`, line, 'application/x-ndjson');
  });
}

/**
 * Creates as many tenants as requested, each with these grants, several at a time. Calls `onFilled` after each with the
 * number of tenants so far.
 */
export async function fillTenants(
  addresses: Addresses,
  { tenants, data }: { readonly tenants: number; readonly data: DataSet },
  onFilled: (filled: number) => void,
): Promise<readonly TenantAccess[]> {
  const batches = [...batchesOf(data)];
  const filled: TenantAccess[] = [];
  await forEachAtATime(Array(tenants).keys(), TENANTS_IN_FLIGHT, async () => {
    const access = await createTenant(addresses);
    for (const lines of batches) await importBatch(addresses, access.tenantId, lines);
    filled.push(access);
    onFilled(filled.length);
  });
  return filled;
}
