// What all setups of grantd share in the comparison.

import manifest from '../../../package.json' with { type: 'json' };
import type { Addresses } from '../../server/grantd-process.ts';
import { createTenant, type TenantAccess, writeRules } from '../../server/operator.ts';
import type { BulkLoad, Channel, System } from './system.ts';

/** The interface's limit of checks in one bulk. */
const CHECKS_PER_BULK = 100;
/** The operator's API's limit of lines in one import call. */
const LINES_PER_IMPORT = 1000;
const IMPORTS_UNDER_WAY = 4;

/** Whoever views a folder, views what is in it; teams are groups. */
const RULES = {
  rules: ['folder', 'file'].map((namespace) => ({ namespace, name: 'viewer', any_of: ['viewer from parent'] })),
  groups: true,
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

/** A tenant without rules, and one with rules. */
export async function createTenants(addresses: Addresses): Promise<readonly [flat: TenantAccess, ruled: TenantAccess]> {
  const [flat, ruled] = [await createTenant(addresses), await createTenant(addresses)];
  await writeRules(addresses, ruled, RULES);
  return [flat, ruled];
}

export const describeGrantd = (
  addresses: Addresses,
  [flat, ruled]: readonly [TenantAccess, TenantAccess],
): Omit<System, 'name' | 'settings' | 'processes' | 'settle' | 'stop'> => ({
  product: 'grantd',
  version: manifest.version,
  channels: [channelOf(addresses, flat)],
  batches: [CHECKS_PER_BULK],
  lists: true,
  durable: true,
  bulk: bulkOf(addresses, flat),
  ruled: { channels: [channelOf(addresses, ruled)], bulk: bulkOf(addresses, ruled) },
});
