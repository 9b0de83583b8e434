// Brings a keyspace to the schema of this program: creates the keyspace if it does not exist, applies the missing
// numbered steps, and writes `meta` once. It is safe to run twice, to interrupt anywhere, and to run concurrently: the
// second run waits for the first and then finds nothing to do. First it compares what the operator can no longer
// change, such as the number of slots.

import type { Clock, Random } from '../../../core/async/clock.ts';
import { GrantdError } from '../../../core/errors.ts';
import { IdFactory } from '../../../core/ids.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { Meta } from '../../store.ts';
import { StoreRefusal } from '../../store-adapter.ts';
import { type Connection, openConnection } from '../driver/connection.ts';
import { type CassandraOptions, quoteKeyspace, serialPlaceOf } from '../driver/options.ts';
import { createMetaCalls, type MetaCalls } from '../tables/meta-calls.ts';
import type { ClusterRow } from '../tables/rows.ts';
import { acquireMigrationLock, createLockTable, LOCK_TABLE, type MigrationLock } from './migration-lock.ts';
import { MIGRATIONS, type Migration, SCHEMA, SCHEMA_VERSION } from './migrations.ts';
import { SchemaChanges, tableIdOf } from './schema-changes.ts';
import { type ClusterChoices, requireSameCluster, requireServedBy } from './schema-gate.ts';

const CALL_MS = 10_000;
const SECRET_BYTES = 32;
const HOLDER_BYTES = 16;

export interface MigratePorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export interface MigrateOptions extends CassandraOptions, ClusterChoices {
  /** Copies of each row in the local datacenter, if the keyspace is created here. */
  readonly replicationFactor: number;
}

/** What a new cluster is created with, except the operator's choices, and the id and the secret generated here. */
export type NewCluster = Omit<Meta, 'clusterId' | 'cursorSecrets'>;

async function createKeyspace(
  { hosts }: Connection,
  changes: SchemaChanges,
  { keyspace, localDatacenter, replicationFactor }: MigrateOptions,
  log: Log,
): Promise<void> {
  const nodes = hosts().length;
  if (nodes < replicationFactor) {
    throw new StoreRefusal(
      `The keyspace ${keyspace} needs ${replicationFactor} copies of each row, but ${localDatacenter} has ${nodes} ${nodes === 1 ? 'node' : 'nodes'}. Add nodes, or set GRANTD_CASSANDRA_REPLICATION_FACTOR=${nodes}; with fewer than 3 copies no node may be down.`,
    );
  }
  log.info({ keyspace, datacenter: localDatacenter, replicationFactor }, 'creating the keyspace');
  const datacenter = localDatacenter.replaceAll("'", "''");
  await changes.apply(
    `CREATE KEYSPACE IF NOT EXISTS ${quoteKeyspace(keyspace)}
      WITH replication = {'class': 'NetworkTopologyStrategy', '${datacenter}': ${replicationFactor}}`,
  );
}

/** Applies the steps that are not done. One that was interrupted is run again from its first statement. */
export async function applySteps(
  lock: MigrationLock,
  changes: Pick<SchemaChanges, 'apply'>,
  keyspace: string,
  log: Log,
  steps: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const done = await lock.readVersion();
  for (const { version, name, statements } of steps.slice(done)) {
    log.info({ version, name }, 'applying a schema migration');
    for (const statement of statements(keyspace)) {
      await lock.renew();
      await changes.apply(statement);
    }
    await lock.recordStep({ version, name });
    log.info({ version, name }, 'schema migration applied');
  }
}

/** Resolves to the row that is stored in the end. */
async function writeCluster(
  meta: MetaCalls,
  options: MigrateOptions,
  newCluster: NewCluster,
  { clock, random, log }: MigratePorts,
): Promise<ClusterRow> {
  const deadline = (): number => clock.monotonicMs() + CALL_MS;
  const secret = Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url');
  const slots = options.slots ?? newCluster.slots;
  const standing = await meta.insertCluster(
    {
      meta: { ...newCluster, clusterId: new IdFactory(clock, random).create('clu'), slots, cursorSecrets: [secret] },
      schema: SCHEMA,
      serial: serialPlaceOf(options),
    },
    deadline(),
  );
  requireSameCluster(options, standing);
  const { version } = standing.schema;
  if (version >= SCHEMA_VERSION) return standing;
  if (!(await meta.raiseVersion(version, SCHEMA, deadline()))) {
    throw new GrantdError('unavailable', 'Another migration has changed the schema version.');
  }
  log.info({ from: version, to: SCHEMA_VERSION }, 'schema upgraded');
  return { ...standing, schema: SCHEMA };
}

/** Whether there is nothing to do. Throws StoreRefusal if this program must not touch what it finds. */
function isUpToDate(standing: ClusterRow | undefined, choices: ClusterChoices, log: Log): standing is ClusterRow {
  if (standing === undefined) return false;
  requireSameCluster(choices, standing);
  requireServedBy(standing.schema, choices.keyspace);
  const { version } = standing.schema;
  if (version > SCHEMA_VERSION) {
    log.info(
      { schemaVersion: version, thisProgram: SCHEMA_VERSION },
      'the schema is newer than this program but compatible; leaving it unchanged',
    );
  }
  return version >= SCHEMA_VERSION;
}

/**
 * Resolves to the stored row of the cluster. `newCluster` is used to create one if there is none; its number of slots
 * applies unless the options name another. Rejects with StoreRefusal if the settings differ from those that the cluster
 * was created with, if the schema is too new, or if Cassandra refuses a change; rejects with GrantdError `unavailable`
 * if a retry may help.
 */
export async function migrateCassandra(
  ports: MigratePorts,
  options: MigrateOptions,
  newCluster: NewCluster,
): Promise<ClusterRow> {
  const { clock, random, log } = ports;
  const keyspace = quoteKeyspace(options.keyspace);
  const connection = await openConnection(ports, options);
  try {
    const { client, executor } = connection;
    const changes = new SchemaChanges(client, connection.hosts(), clock);
    const meta = createMetaCalls(executor, keyspace);
    // A node that lags behind would create existing objects again.
    await changes.awaitAgreement();
    if (!(await changes.hasKeyspace(options.keyspace))) await createKeyspace(connection, changes, options, log);
    const found = await meta.readCluster(clock.monotonicMs() + CALL_MS);
    if (isUpToDate(found, options, log)) {
      log.info({ schemaVersion: found.schema.version }, 'the schema is up to date');
      return found;
    }
    if (!(await changes.hasTable(options.keyspace, LOCK_TABLE))) {
      await changes.apply(createLockTable(keyspace, tableIdOf(options.keyspace, LOCK_TABLE)));
    }
    await changes.awaitAgreement();
    const holder = Buffer.from(random.bytes(HOLDER_BYTES)).toString('base64url');
    const lock = await acquireMigrationLock({ executor, clock, log }, keyspace, holder);
    try {
      // Another migration may have been running until now.
      await changes.awaitAgreement();
      const now = await meta.readCluster(clock.monotonicMs() + CALL_MS);
      if (isUpToDate(now, options, log)) return now;
      await applySteps(lock, changes, keyspace, log);
      return await writeCluster(meta, options, newCluster, ports);
    } finally {
      await lock.release().catch(() => log.warn('failed to release the migration lock; it will expire'));
    }
  } finally {
    await connection.close();
  }
}
