// Over a real node of Cassandra.

import { after, before, describe } from 'node:test';
import { missingCassandra } from '../../../tools/engines/cassandra.ts';
import { type SharedCassandra, shareCassandra } from '../../../tools/engines/shared-cassandra.ts';
import { migrate, openStore } from '../../kit/store/cassandra-keyspace.ts';
import { soon } from '../../kit/store/store-fixtures.ts';
import { PAIR_META } from '../support/reader-pair.ts';
import { definePageSourceContract } from './page-source-contract.ts';

const missing = await missingCassandra('the pages of readers on Cassandra');

describe('on Cassandra', { skip: missing ?? false }, () => {
  let cluster: SharedCassandra;
  before(async () => {
    cluster = await shareCassandra();
    const { meta } = await migrate(cluster, { slots: PAIR_META.slots }, PAIR_META);
    // That of the links between the two.
    const store = await openStore(cluster);
    await store.replaceClusterId(meta.clusterId, PAIR_META.clusterId, soon());
    await store.close();
  });
  after(() => cluster.release());

  definePageSourceContract('cassandra', async () => {
    const store = await openStore(cluster);
    return { store, close: () => store.close() };
  });
});
