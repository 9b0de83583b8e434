// What all setups of grantd share in the comparison.

import manifest from '../../../package.json' with { type: 'json' };
import type { Addresses } from '../../server/grantd-process.ts';
import type { TenantAccess } from '../../server/operator.ts';
import type { System } from './system.ts';

/** The interface's limit of checks in one bulk. */
const CHECKS_PER_BULK = 100;
/** The operator's API's limit of lines in one import call. */
const LINES_PER_IMPORT = 1000;
const IMPORTS_UNDER_WAY = 4;

export const describeGrantd = (
  addresses: Addresses,
  { key, tenantId }: TenantAccess,
): Omit<System, 'name' | 'settings' | 'processes' | 'settle' | 'stop'> => ({
  product: 'grantd',
  version: manifest.version,
  channels: [{ protocol: 'http', address: new URL(addresses.base_url).host, key }],
  batches: [CHECKS_PER_BULK],
  lists: true,
  durable: true,
  bulk: {
    protocol: 'http',
    address: new URL(addresses.console_url).host,
    key: addresses.operator_token,
    tenant: tenantId,
    perCall: LINES_PER_IMPORT,
    workers: IMPORTS_UNDER_WAY,
  },
});
