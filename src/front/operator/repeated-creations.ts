// Tenants created with an Idempotency-Key. The id is derived from the operator and the key, so the owner finds a tenant
// that an earlier request created. What that request asked for stands in the tenant's audit log, which also outlives a
// removed tenant. Invariant: one operator and one key never make two tenants, as long as the audit log is kept.

import { GrantdError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json-members.ts';
import type { Tenant } from '../../core/tenants.ts';

export interface CreationCalls {
  create(): Promise<Tenant>;
  /** Throws `tenant-not-found`. */
  read(): Promise<Tenant>;
  /** The JSON of the tenant's first change. Throws `tenant-not-found` if there never was such a tenant. */
  readFirstChange(): Promise<string | undefined>;
}

/** Undefined: the call failed with this code. */
async function unless<Value>(code: 'already-created' | 'tenant-not-found', call: Promise<Value>) {
  try {
    return await call;
  } catch (error) {
    if (error instanceof GrantdError && error.code === code) return undefined;
    throw error;
  }
}

/** Creates the tenant, or returns the one that an earlier request with the same fields created, as it is now. */
export async function createOnce(
  calls: CreationCalls,
  asked: { readonly name: string; readonly plan: string },
): Promise<Tenant> {
  let change = await unless('tenant-not-found', calls.readFirstChange());
  if (change === undefined) {
    const created = await unless('already-created', calls.create());
    if (created !== undefined) return created;
    change = await calls.readFirstChange();
  }
  const first: unknown = change === undefined ? undefined : JSON.parse(change);
  if (isJsonObject(first) && (first.name !== asked.name || first.plan !== asked.plan)) {
    throw new GrantdError('idempotency-key-reused', 'An earlier request has created a tenant with other fields.');
  }
  const tenant = await unless('tenant-not-found', calls.read());
  if (tenant === undefined || tenant.state === 'deleted') {
    throw new GrantdError('already-created', 'An earlier request has created this tenant, which was deleted since.');
  }
  return tenant;
}
