// The tenants of a load test: the file that `seed` writes and k6 reads. It contains keys, so only its owner can read
// it. Imports nothing, because both run it.

export interface Tenant {
  readonly tenant_id: string;
  readonly key: string;
  /** How many grants of the data set it has; 10 or more. */
  readonly grants: number;
}

const isTenant = (value: unknown): value is Tenant => {
  if (typeof value !== 'object' || value === null) return false;
  const { tenant_id: id, key, grants }: { tenant_id?: unknown; key?: unknown; grants?: unknown } = value;
  return typeof id === 'string' && typeof key === 'string' && typeof grants === 'number' && grants >= 10;
};

/** Throws if the text is not such a file, or names no tenant. */
export function parseTenants(text: string, path: string): readonly Tenant[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  const { tenants }: { tenants?: unknown } = Object(parsed);
  if (!Array.isArray(tenants) || tenants.length === 0 || !tenants.every(isTenant)) {
    throw new Error(`${path} is not a file of tenants. Create one with "npm run loadtest -- seed".`);
  }
  return tenants;
}
