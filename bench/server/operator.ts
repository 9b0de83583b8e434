// What the operator does before the measuring: a tenant, its key, its grants.

import type { DataSet } from '../data-set.ts';
import { type Addresses, PLAN_NAME } from './grantd-process.ts';

const LINES_PER_CALL = 1000;
const CALLS_UNDER_WAY = 4;

export interface TenantAccess {
  readonly tenantId: string;
  readonly key: string;
}

async function call(addresses: Addresses, path: string, body: string, contentType: string): Promise<string> {
  const response = await fetch(`${addresses.console_url}/operator/v1${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${addresses.operator_token}`, 'Content-Type': contentType },
    body,
    signal: AbortSignal.timeout(60_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return text;
}

export async function createTenant(addresses: Addresses): Promise<TenantAccess> {
  const plan = { name: 'bench', plan: PLAN_NAME };
  const tenant: { readonly tenant_id: string } = JSON.parse(
    await call(addresses, '/tenants', JSON.stringify(plan), 'application/json'),
  );
  const scopes = { scopes: ['check:read', 'grant:write'] };
  const { key }: { readonly key: string } = JSON.parse(
    await call(addresses, `/tenants/${tenant.tenant_id}/keys`, JSON.stringify(scopes), 'application/json'),
  );
  return { tenantId: tenant.tenant_id, key };
}

/** Through the log like any other write, a few calls at a time. Resolves with the seconds it took. */
export async function importGrants(addresses: Addresses, { tenantId }: TenantAccess, data: DataSet): Promise<number> {
  const startMs = performance.now();
  let next = 0;
  const importInTurn = async (): Promise<void> => {
    while (next < data.grants) {
      const start = next;
      const count = Math.min(LINES_PER_CALL, data.grants - start);
      next += count;
      const lines = Array.from({ length: count }, (_, index) => JSON.stringify(data.grant(start + index)));
      const text = await call(addresses, `/tenants/${tenantId}/import`, lines.join('\n'), 'application/x-ndjson');
      const created = text.split('"result":"created"').length - 1;
      if (created !== count) throw new Error(`Of ${count} grants ${created} were created: ${text.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: CALLS_UNDER_WAY }, importInTurn));
  return (performance.now() - startMs) / 1000;
}
