// Three nodes that two migrations change at once. What a node that is away costs is judged on a whole cluster
// (test/cluster/slow).

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import cassandra from 'cassandra-driver';
import { type CassandraCluster, missingCassandra, startCassandra } from '../../../tools/engines/cassandra.ts';
import { migrate } from '../../kit/store/cassandra-keyspace.ts';

const missing = await missingCassandra('Cassandra with several nodes');

describe('three nodes of Cassandra', { skip: missing ?? false }, () => {
  let cluster: CassandraCluster;
  before(async () => {
    cluster = await startCassandra({ nodes: 3 });
  });
  after(() => cluster.stop());

  it('are migrated once by two at once, alike on every node', async () => {
    const [first, second] = await Promise.all([migrate(cluster), migrate(cluster)]);
    assert.deepEqual(first, second);
    const seen = new Set<string>();
    for (const contactPoint of cluster.contactPoints) {
      const client = new cassandra.Client({
        contactPoints: [contactPoint],
        localDataCenter: cluster.localDatacenter,
        policies: {
          loadBalancing: new cassandra.policies.loadBalancing.AllowListPolicy(
            new cassandra.policies.loadBalancing.RoundRobinPolicy(),
            [`${contactPoint}:9042`],
          ),
        },
      });
      try {
        const tables = await client.execute(
          "SELECT table_name, id FROM system_schema.tables WHERE keyspace_name = 'grantd'",
        );
        seen.add(tables.rows.map((row) => `${row.table_name} ${row.id}`).join('\n'));
      } finally {
        await client.shutdown();
      }
    }
    assert.equal(seen.size, 1);
    assert.deepEqual(await migrate(cluster), first);
  });
});
