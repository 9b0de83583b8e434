// grantd as `npm start` runs it: everything in one process on the embedded store, whose writes wait for fsync. Keys,
// limits and metrics are on, as always.

import manifest from '../../../package.json' with { type: 'json' };
import { GrantdProcess } from '../../server/grantd-process.ts';
import { createTenant } from '../../server/operator.ts';
import type { System, SystemContext } from './system.ts';

/** The limit of the interface, of checks in one bulk. */
export const CHECKS_PER_BULK = 100;
/** Of the operator's interface, of lines in one import. */
export const LINES_PER_IMPORT = 1000;
export const IMPORTS_UNDER_WAY = 4;

export async function startGrantdEmbedded(context: SystemContext): Promise<System> {
  const { searchPath } = context;
  // The kernel ends it with this process, however that ends.
  const under = ['setpriv', '--pdeathsig', 'KILL', '--'];
  const service = await GrantdProcess.start({ directory: context.createDirectory(), searchPath, under });
  try {
    const { addresses } = service;
    const { key, tenantId } = await createTenant(addresses);
    return {
      name: 'grantd, embedded store',
      product: 'grantd',
      version: manifest.version,
      settings: ['grantd dev'],
      processes: [service.pid],
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
      settle: () => service.waitForCheckpoint(),
      stop: () => service.stop(),
    };
  } catch (error) {
    await service.stop('SIGKILL');
    throw error;
  }
}
