// grantd as a cluster: a front, a shard and a console as separate processes, over one node of Cassandra. That node is
// part of the system and counts with it.

import { startCassandra } from '../../../tools/engines/cassandra.ts';
import { GrantdCluster } from '../../server/grantd-cluster.ts';
import { findDescendants } from '../../server/resource-use.ts';
import { createTenants, describeGrantd } from './grantd.ts';
import type { System, SystemContext } from './system.ts';

export async function startGrantdCluster(context: SystemContext): Promise<System> {
  const directory = context.createDirectory();
  await using parts = new AsyncDisposableStack();
  const cassandra = await startCassandra({ nodes: 1 });
  parts.defer(() => cassandra.stop());
  const cluster = await GrantdCluster.start({ cassandra, keyspace: 'grantd', shards: 1, fronts: 1, directory });
  parts.defer(() => cluster.stop());
  const { addresses, fronts, shards, console } = cluster;
  const tenants = await createTenants(addresses);
  const running = parts.move();
  return {
    ...describeGrantd(addresses, tenants),
    name: 'grantd, front + shard, Cassandra',
    settings: ['grantd front', 'grantd shard', 'grantd console', 'Cassandra: 1 node, commitlog_sync batch'],
    processes: [...[...shards, ...fronts, console].map(({ pid }) => pid), ...findDescendants('cassandra.sh')],
    settle: () => cluster.waitForCheckpoint(),
    stop: () => running.disposeAsync(),
  };
}
