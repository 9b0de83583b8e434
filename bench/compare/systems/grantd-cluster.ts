// grantd as a cluster is run: a front, a shard and a console as processes of their own, over one node of Cassandra, which
// is part of the system and counted with it.

import manifest from '../../../package.json' with { type: 'json' };
import { startCassandra } from '../../../test/support/cassandra.ts';
import { GrantdCluster } from '../../server/grantd-cluster.ts';
import { createTenant } from '../../server/operator.ts';
import { findDescendants } from '../../server/resource-use.ts';
import { CHECKS_PER_BULK, IMPORTS_UNDER_WAY, LINES_PER_IMPORT } from './grantd-embedded.ts';
import type { System, SystemContext } from './system.ts';

export async function startGrantdCluster(context: SystemContext): Promise<System> {
  const directory = context.createDirectory();
  const cassandra = await startCassandra({ nodes: 1 });
  let cluster: GrantdCluster | undefined;
  const stop = async (): Promise<void> => {
    await cluster?.stop();
    await cassandra.stop();
  };
  try {
    const started = await GrantdCluster.start({ cassandra, keyspace: 'grantd', shards: 1, fronts: 1, directory });
    cluster = started;
    const { addresses, fronts, shards, console } = started;
    const { key, tenantId } = await createTenant(addresses);
    return {
      name: 'grantd, front + shard, Cassandra',
      product: 'grantd',
      version: manifest.version,
      settings: ['grantd front', 'grantd shard', 'grantd console', 'Cassandra: 1 node, commitlog_sync batch'],
      processes: [...[...shards, ...fronts, console].map(({ pid }) => pid), ...findDescendants('cassandra.sh')],
      channels: [{ protocol: 'http', address: new URL(addresses.base_url).host, key }],
      batches: [CHECKS_PER_BULK],
      lists: true,
      durable: true,
      bulk: {
        protocol: 'http',
        address: console.address,
        key: addresses.operator_token,
        tenant: tenantId,
        perCall: LINES_PER_IMPORT,
        workers: IMPORTS_UNDER_WAY,
      },
      settle: () => started.waitForCheckpoint(),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
