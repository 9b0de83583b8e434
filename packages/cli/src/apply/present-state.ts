// Reads the present state of the declared tenants over the operator's API, as far as they declare it.

import { inParallel } from '../../../../src/core/async/in-parallel.ts';
import { readListing } from '../command-parts.ts';
import { CliFailure } from '../failures.ts';
import { asRecord, type JsonRecord, recordsOf, textOf } from '../output/json-view.ts';
import type { ServiceClient } from '../service-client.ts';
import { readTenantRules } from '../tenant-rules.ts';
import {
  type Changes,
  changeOf,
  creationOf,
  findPresent,
  type PresentKey,
  type PresentTenant,
  type TenantChange,
} from './changes.ts';
import type { DeclaredTenant } from './declaration.ts';

/** Tenants of the cluster, held in memory to be found by their names. */
const TENANTS_MAX = 100_000;
const KEYS_MAX = 10_000;
/** Enough to hide the time that a request travels. */
const READS_AT_ONCE = 8;

async function readAll(
  client: ServiceClient,
  listing: { readonly path: string; readonly name: string },
  max: number,
): Promise<readonly JsonRecord[]> {
  const { items, nextCursor } = await readListing(client, { ...listing, rows: max });
  if (nextCursor !== undefined) throw new CliFailure(`There are more than ${max} ${listing.name}.`);
  return items.map(asRecord);
}

export async function readPlans(client: ServiceClient): Promise<readonly string[]> {
  const plans = await client.readJson({ method: 'GET', path: '/plans' });
  return recordsOf(plans, 'plans').map((plan) => textOf(plan, 'name'));
}

async function readTenants(client: ServiceClient): Promise<readonly PresentTenant[]> {
  const records = await readAll(client, { path: '/tenants', name: 'tenants' }, TENANTS_MAX);
  return records.map((record) => ({
    tenantId: textOf(record, 'tenant_id'),
    name: textOf(record, 'name'),
    plan: textOf(record, 'plan'),
    state: textOf(record, 'state'),
    readers: typeof record.readers === 'number' || record.readers === 'auto' ? record.readers : 'plan',
  }));
}

export async function readKeys(client: ServiceClient, tenantId: string): Promise<readonly PresentKey[]> {
  const records = await readAll(client.ofTenant(tenantId), { path: '/keys', name: 'keys' }, KEYS_MAX);
  return records.map((record) => ({
    keyId: textOf(record, 'key_id'),
    name: textOf(record, 'name'),
    scopes: Array.isArray(record.scopes) ? record.scopes.map(String) : [],
  }));
}

/** `prune`: tenants and keys that are not declared are removed. */
export async function findChanges(
  client: ServiceClient,
  declared: readonly DeclaredTenant[],
  prune: boolean,
): Promise<Changes> {
  const present = await readTenants(client);
  const changes = new Map<DeclaredTenant, TenantChange>();
  await inParallel(declared, READS_AT_ONCE, async (tenant) => {
    const found = findPresent(tenant, present);
    if (found === undefined) {
      changes.set(tenant, creationOf(tenant));
      return;
    }
    const { tenantId } = found;
    const details = {
      rules: tenant.rules === undefined ? undefined : await readTenantRules(client.ofTenant(tenantId)),
      keys: tenant.keys === undefined ? undefined : await readKeys(client, tenantId),
    };
    const change = changeOf(tenant, found, details, prune);
    if (change !== undefined) changes.set(tenant, change);
  });
  const names = new Set(declared.map(({ name }) => name));
  return {
    tenants: declared.flatMap((tenant) => changes.get(tenant) ?? []),
    deleted: prune ? present.filter(({ name, state }) => !names.has(name) && state !== 'deleting') : [],
  };
}
