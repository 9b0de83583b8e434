// What all setups of grantd share in the comparison.

import manifest from '../../../package.json' with { type: 'json' };
import type { Addresses } from '../../server/grantd-process.ts';
import { createTenant, type TenantAccess, writeRules } from '../../server/operator.ts';
import type { ModelShape } from '../load-job.ts';
import { AT_WORK } from './at-work.ts';
import type { BulkLoad, Channel, Place, System } from './system.ts';

/** The interface's limit of checks in one bulk. */
const CHECKS_PER_BULK = 100;
/** The operator's API's limit of lines in one import call. */
const LINES_PER_IMPORT = 1000;
const IMPORTS_UNDER_WAY = 4;

/** Teams are groups. */
const RULES: Readonly<Record<ModelShape, object>> = {
  /** Whoever views a folder, views what is in it. */
  ruled: {
    rules: ['folder', 'file'].map((namespace) => ({ namespace, name: 'viewer', any_of: ['viewer from parent'] })),
    groups: true,
  },
  gated: {
    rules: [
      { namespace: 'page', name: 'publish', any_of: [{ all_of: ['viewer', 'editor'] }] },
      { namespace: 'page', name: 'read', any_of: [{ any_of: ['viewer'], but_not: ['guest'] }] },
    ],
    groups: true,
  },
  conditional: {
    rules: [],
    conditions: [
      {
        name: 'at_work',
        parameters: { second: 'int', zone: 'string', home: 'string' },
        expression: AT_WORK,
      },
    ],
  },
};

const channelOf = ({ base_url: url }: Addresses, { key }: TenantAccess): Channel => ({
  protocol: 'http',
  address: new URL(url).host,
  key,
});

const bulkOf = (addresses: Addresses, { tenantId }: TenantAccess): BulkLoad => ({
  protocol: 'http',
  address: new URL(addresses.console_url).host,
  key: addresses.operator_token,
  tenant: tenantId,
  perCall: LINES_PER_IMPORT,
  workers: IMPORTS_UNDER_WAY,
});

interface Tenants {
  /** Without rules. */
  readonly flat: TenantAccess;
  readonly modelled: Readonly<Record<ModelShape, TenantAccess>>;
}

export async function createTenants(addresses: Addresses): Promise<Tenants> {
  const withRules = async (shape: ModelShape): Promise<TenantAccess> => {
    const tenant = await createTenant(addresses);
    await writeRules(addresses, tenant, RULES[shape]);
    return tenant;
  };
  return {
    flat: await createTenant(addresses),
    modelled: {
      ruled: await withRules('ruled'),
      gated: await withRules('gated'),
      conditional: await withRules('conditional'),
    },
  };
}

const placeOf = (addresses: Addresses, tenant: TenantAccess): Place => ({
  channels: [channelOf(addresses, tenant)],
  bulk: bulkOf(addresses, tenant),
});

export const describeGrantd = (
  addresses: Addresses,
  { flat, modelled: { ruled, gated, conditional } }: Tenants,
): Omit<System, 'name' | 'settings' | 'processes' | 'settle' | 'stop'> => ({
  product: 'grantd',
  version: manifest.version,
  ...placeOf(addresses, flat),
  batches: [CHECKS_PER_BULK],
  lists: true,
  durable: true,
  modelled: {
    ruled: placeOf(addresses, ruled),
    gated: placeOf(addresses, gated),
    conditional: placeOf(addresses, conditional),
  },
});
