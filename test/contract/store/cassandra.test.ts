// The Cassandra adapter keeps the contract of the store port, on a real node.

import { after, before, describe } from 'node:test';
import cassandra from 'cassandra-driver';
import { type CassandraCluster, missingCassandra, startCassandra } from '../../../tools/engines/cassandra.ts';
import { migrate, openStore } from '../../kit/store/cassandra-keyspace.ts';
import { defineStoreContract } from './store-contract.ts';

const missing = await missingCassandra('the contract of the store on Cassandra');

describe('on Cassandra', { skip: missing ?? false }, () => {
  let cluster: CassandraCluster;
  before(async () => {
    cluster = await startCassandra({ nodes: 1 });
    await migrate(cluster);
  });
  after(() => cluster.stop());

  defineStoreContract('cassandra', {
    open: async () => {
      let store = await openStore(cluster);
      return {
        store,
        removalShadows: true,
        keepAuditLogFor: async (seconds) => {
          const client = new cassandra.Client({
            contactPoints: [...cluster.contactPoints],
            localDataCenter: cluster.localDatacenter,
          });
          try {
            await client.execute(`ALTER TABLE grantd.changes WITH default_time_to_live = ${seconds}`);
          } finally {
            await client.shutdown();
          }
        },
        reopen: async () => {
          await store.close();
          store = await openStore(cluster);
          return store;
        },
        close: () => store.close(),
      };
    },
  });
});
