// The Cassandra adapter keeps the contract of the store port, on a real node.

import { after, before, describe } from 'node:test';
import cassandra from 'cassandra-driver';
import { missingCassandra } from '../../../tools/engines/cassandra.ts';
import { type SharedCassandra, shareCassandra } from '../../../tools/engines/shared-cassandra.ts';
import { migrate, openStore } from '../../kit/store/cassandra-keyspace.ts';
import { defineStoreContract } from './store-contract.ts';

const missing = await missingCassandra('the contract of the store on Cassandra');

describe('on Cassandra', { skip: missing ?? false }, () => {
  let cluster: SharedCassandra;
  before(async () => {
    cluster = await shareCassandra();
    await migrate(cluster);
  });
  after(() => cluster.release());

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
            await client.execute(`ALTER TABLE ${cluster.keyspace}.changes WITH default_time_to_live = ${seconds}`);
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
