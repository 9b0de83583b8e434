// A keyspace of a test, with the schema of the program in it, and stores over it.

import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import { type CassandraStore, openCassandraStore } from '../../../src/store/cassandra/cassandra-store.ts';
import type { CassandraOptions } from '../../../src/store/cassandra/driver/options.ts';
import { type MigrateOptions, migrateCassandra, type NewCluster } from '../../../src/store/cassandra/schema/migrate.ts';
import type { ClusterRow } from '../../../src/store/cassandra/tables/rows.ts';
import type { Log } from '../../../src/telemetry/log.ts';
import type { CassandraCluster } from '../../../tools/engines/cassandra.ts';
import { createRecordingLog } from './store-directory.ts';
import { META } from './store-fixtures.ts';

type MigrateChange = Partial<MigrateOptions>;
/** A cluster of the test's own has the keyspace of the program's default. */
type TestCassandra = Pick<CassandraCluster, 'contactPoints' | 'localDatacenter' | 'credentials' | 'tls'> & {
  readonly keyspace?: string;
};

export function cassandraOptions(cluster: TestCassandra, change: MigrateChange = {}): MigrateOptions {
  const { contactPoints, localDatacenter, keyspace = 'grantd', credentials, tls } = cluster;
  return {
    contactPoints,
    localDatacenter,
    keyspace,
    serialLevel: 'SERIAL',
    slots: undefined,
    replicationFactor: Math.min(3, contactPoints.length),
    ...(credentials === undefined ? {} : { credentials }),
    ...(tls === undefined ? {} : { tls }),
    ...change,
  };
}

/** Makes the cluster of `META`, but for what `change` and `newCluster` have otherwise. */
export function migrate(
  cluster: TestCassandra,
  change: MigrateChange = {},
  newCluster: NewCluster = META,
  log: Log = createRecordingLog(),
): Promise<ClusterRow> {
  const ports = { clock: systemClock, random: systemRandom, log };
  const { slots, segmentSize, leaseMs, deadlineMs, logFormat } = newCluster;
  const made = { slots, segmentSize, leaseMs, deadlineMs, logFormat };
  return migrateCassandra(ports, cassandraOptions(cluster, change), made);
}

export function openStore(
  cluster: TestCassandra,
  change: Partial<CassandraOptions> = {},
  log: Log = createRecordingLog(),
): Promise<CassandraStore> {
  return openCassandraStore({ clock: systemClock, log }, cassandraOptions(cluster, change));
}
