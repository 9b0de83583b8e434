// A keyspace on a test's cluster, with the schema of the program in it, and stores over it.

import { systemClock, systemRandom } from '../../src/roles/process/system.ts';
import { openCassandraStore } from '../../src/store/cassandra/cassandra-store.ts';
import type { CassandraOptions } from '../../src/store/cassandra/driver/options.ts';
import { migrateCassandra, type WantedMeta } from '../../src/store/cassandra/schema/migrate.ts';
import type { Meta, Store } from '../../src/store/store.ts';
import type { Log } from '../../src/telemetry/log.ts';
import type { CassandraCluster } from './cassandra.ts';
import { createRecordingLog } from './store-directory.ts';
import { META } from './store-fixtures.ts';

/** The meta that the store's tests expect, as far as it is wanted and not made. */
export const WANTED: WantedMeta = {
  slots: META.slots,
  segmentSize: META.segmentSize,
  serialLevel: META.serialLevel,
  datacentre: META.datacentre,
  leaseMs: META.leaseMs,
  deadlineMs: META.deadlineMs,
  logFormat: META.logFormat,
};

export function cassandraOptions(
  cluster: CassandraCluster,
  change: Partial<CassandraOptions & { readonly replicationFactor: number }> = {},
): CassandraOptions & { readonly replicationFactor: number } {
  const { contactPoints, localDatacenter, credentials, tls } = cluster;
  return {
    contactPoints,
    localDatacenter,
    keyspace: 'grantd',
    serialLevel: WANTED.serialLevel,
    replicationFactor: Math.min(3, contactPoints.length),
    ...(credentials === undefined ? {} : { credentials }),
    ...(tls === undefined ? {} : { tls }),
    ...change,
  };
}

export function migrate(
  cluster: CassandraCluster,
  change: Partial<CassandraOptions & { readonly replicationFactor: number }> = {},
  wanted: WantedMeta = WANTED,
  log: Log = createRecordingLog(),
): Promise<Meta> {
  return migrateCassandra({ clock: systemClock, random: systemRandom, log }, cassandraOptions(cluster, change), wanted);
}

export function openStore(
  cluster: CassandraCluster,
  change: Partial<CassandraOptions> = {},
  log: Log = createRecordingLog(),
): Promise<Store> {
  return openCassandraStore({ clock: systemClock, log }, cassandraOptions(cluster, change));
}
