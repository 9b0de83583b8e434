// Cassandra from the settings: a store for the roles that use it, and its schema as a task for `migrate`. Its driver is
// loaded when it is used: `grantd dev` does without the memory that it takes.

import type { MigrateConfig, ShardConfig } from '../../config/settings.ts';
import type { Clock, Random } from '../../core/async/clock.ts';
import { SLOTS_DEFAULT } from '../../core/slots.ts';
import type { CassandraOptions } from '../../store/cassandra/driver/options.ts';
import type { ClusterRow } from '../../store/cassandra/tables/rows.ts';
import type { SchemaTask, StoreAdapter } from '../../store/store-adapter.ts';
import type { Log } from '../../telemetry/log.ts';
import { newCluster } from './new-cluster.ts';

const PRODUCT = 'Cassandra';

interface CassandraDependencies {
  readonly clock: Clock;
  readonly log: Log;
}

function cassandraOptions(config: ShardConfig | MigrateConfig): CassandraOptions {
  const { contactPoints, localDatacenter, keyspace, serialLevel } = config;
  const { cassandraUsername: username, cassandraPassword: password } = config;
  const { cassandraTlsCa: ca, cassandraTlsCert: cert, cassandraTlsKey: key } = config;
  return {
    contactPoints,
    localDatacenter,
    keyspace,
    serialLevel,
    ...(username === undefined || password === undefined
      ? {}
      : { credentials: { username, password: password.reveal() } }),
    ...(ca === undefined
      ? {}
      : { tls: { ca, ...(cert === undefined || key === undefined ? {} : { cert, key: key.reveal() }) } }),
  };
}

const importStore = () => import('../../store/cassandra/cassandra-store.ts');
const importSchemaGate = () => import('../../store/cassandra/schema/schema-gate.ts');
const importMigration = () => import('../../store/cassandra/schema/migrate.ts');

export function createCassandraAdapter(dependencies: CassandraDependencies, config: ShardConfig): StoreAdapter {
  return {
    product: PRODUCT,
    database: { system: 'cassandra', namespace: config.keyspace },
    open: async () => {
      const [{ openCassandraStore }, { waitForSchema }] = await Promise.all([importStore(), importSchemaGate()]);
      const store = await openCassandraStore(dependencies, cassandraOptions(config));
      return {
        store,
        awaitMeta: async (waiting) => (await waitForSchema(dependencies, store, config, waiting)).meta,
      };
    },
  };
}

function describeCluster({ meta, schema, serial }: ClusterRow): string {
  const where = serial.datacenter === '' ? '' : ` in ${serial.datacenter}`;
  return `The schema is at version ${schema.version}: ${meta.slots} slots, ${serial.serialLevel}${where}.`;
}

export function createCassandraSchemaTask(
  dependencies: CassandraDependencies & { readonly random: Random },
  config: MigrateConfig,
): SchemaTask {
  const options = cassandraOptions(config);
  return {
    product: PRODUCT,
    target: `the keyspace ${config.keyspace} in ${config.localDatacenter}`,
    migrate: async () => {
      const { migrateCassandra } = await importMigration();
      const { slots, replicationFactor } = config;
      const cluster = newCluster(SLOTS_DEFAULT);
      return describeCluster(await migrateCassandra(dependencies, { ...options, slots, replicationFactor }, cluster));
    },
    wait: async (waiting) => {
      const [{ openCassandraStore }, { waitForSchema }] = await Promise.all([importStore(), importSchemaGate()]);
      const store = await openCassandraStore(dependencies, options);
      try {
        return describeCluster(await waitForSchema(dependencies, store, config, waiting));
      } finally {
        await store.close();
      }
    },
  };
}
