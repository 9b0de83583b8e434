// grantd as `npm start` runs it: everything in one process on the embedded store, whose writes wait for fsync. Keys,
// limits and metrics are on, as always.

import { GrantdProcess } from '../../server/grantd-process.ts';
import { createTenants, describeGrantd } from './grantd.ts';
import type { System, SystemContext } from './system.ts';

export async function startGrantdEmbedded(context: SystemContext): Promise<System> {
  const { searchPath } = context;
  // The kernel ends it together with this process, however that ends.
  const under = ['setpriv', '--pdeathsig', 'KILL', '--'];
  const service = await GrantdProcess.start({ directory: context.createDirectory(), searchPath, under });
  try {
    const { addresses } = service;
    const tenants = await createTenants(addresses);
    return {
      ...describeGrantd(addresses, tenants),
      name: 'grantd, embedded store',
      settings: ['grantd dev'],
      processes: [service.pid],
      settle: () => service.waitForCheckpoint(),
      stop: () => service.stop(),
    };
  } catch (error) {
    await service.stop('SIGKILL');
    throw error;
  }
}
