// Brings a keyspace to the schema of this program: makes the keyspace if it is not there, applies the numbered steps
// that it lacks, writes `meta` once. May run twice, be cut off anywhere, and run twice at once: the second waits for
// the first and finds everything done. What the operator cannot change any more (the number of slots, …) is compared
// first.

import type { Clock, Random } from '../../../core/async/clock.ts';
import { GrantdError } from '../../../core/errors.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { Meta } from '../../store.ts';
import { type Connection, openConnection } from '../driver/connection.ts';
import { type CassandraOptions, quoteKeyspace } from '../driver/options.ts';
import { createMetaCalls, type MetaCalls } from '../tables/meta-calls.ts';
import { acquireMigrationLock, createLockTable, LOCK_TABLE, type MigrationLock } from './migration-lock.ts';
import { MIGRATIONS, SCHEMA_VERSION } from './migrations.ts';
import { SchemaChanges, tableIdOf } from './schema-changes.ts';
import { requireServedBy, SchemaRefusal } from './schema-gate.ts';

const CALL_MS = 10_000;
const SECRET_BYTES = 32;
const HOLDER_BYTES = 16;

export interface MigratePorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export interface MigrateOptions extends CassandraOptions {
  /** Copies of each row in the local datacentre, if the keyspace is made here. */
  readonly replicationFactor: number;
}

/** What a cluster is to be made with, or has to have been made with. */
export type WantedMeta = Omit<Meta, 'schemaVersion' | 'schemaServesFrom' | 'cursorSecrets'>;

/** What an operator chooses. The rest is what the program that made the cluster chose, and stays as it is. */
const CHOSEN = [
  ['slots', 'slots'],
  ['serialLevel', 'the serial level'],
  ['datacentre', 'the datacenter of conditional writes'],
] as const;

function requireSame(wanted: WantedMeta, standing: Meta): void {
  const show = (value: string | number): string => (value === '' ? 'none' : String(value));
  const differences = CHOSEN.filter(([name]) => wanted[name] !== standing[name]).map(
    ([name, what]) => `${what}: ${show(standing[name])} in the database, ${show(wanted[name])} in the settings`,
  );
  if (differences.length === 0) return;
  throw new SchemaRefusal(
    `The cluster was created with other settings, which cannot be changed. ${differences.join('; ')}.`,
  );
}

async function createKeyspace(
  { hosts }: Connection,
  changes: SchemaChanges,
  { keyspace, localDatacenter, replicationFactor }: MigrateOptions,
  log: Log,
): Promise<void> {
  const nodes = hosts().length;
  if (nodes < replicationFactor) {
    throw new SchemaRefusal(
      `The keyspace ${keyspace} needs ${replicationFactor} copies of each row, but ${localDatacenter} has ${nodes} ${nodes === 1 ? 'node' : 'nodes'}. Add nodes, or set GRANTD_CASSANDRA_REPLICATION_FACTOR=${nodes}; with fewer than 3 copies no node may be down.`,
    );
  }
  log.info({ keyspace, datacentre: localDatacenter, replicationFactor }, 'creating the keyspace');
  const datacentre = localDatacenter.replaceAll("'", "''");
  await changes.apply(
    `CREATE KEYSPACE IF NOT EXISTS ${quoteKeyspace(keyspace)}
      WITH replication = {'class': 'NetworkTopologyStrategy', '${datacentre}': ${replicationFactor}}`,
  );
}

async function applySteps(lock: MigrationLock, changes: SchemaChanges, keyspace: string, log: Log): Promise<void> {
  const done = await lock.readVersion();
  for (const { version, name, statements } of MIGRATIONS.slice(done)) {
    log.info({ version, name }, 'applying a schema migration');
    for (const statement of statements(keyspace)) {
      await lock.renew();
      await changes.apply(statement);
    }
    await lock.recordStep({ version, name });
    log.info({ version, name }, 'schema migration applied');
  }
}

/** The meta that stands in the end. */
async function writeMeta(meta: MetaCalls, wanted: WantedMeta, { clock, random, log }: MigratePorts): Promise<Meta> {
  const deadline = (): number => clock.monotonicMs() + CALL_MS;
  const version = { schemaVersion: SCHEMA_VERSION, schemaServesFrom: MIGRATIONS.at(-1)?.servesFrom ?? SCHEMA_VERSION };
  const secret = Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url');
  const standing = await meta.initializeMeta({ ...wanted, ...version, cursorSecrets: [secret] }, deadline());
  requireSame(wanted, standing);
  if (standing.schemaVersion >= SCHEMA_VERSION) return standing;
  if (!(await meta.raiseVersion(standing.schemaVersion, version, deadline()))) {
    throw new GrantdError('unavailable', 'Another migration has changed the schema version.');
  }
  log.info({ from: standing.schemaVersion, to: SCHEMA_VERSION }, 'schema upgraded');
  return { ...standing, ...version };
}

/** Whether there is nothing to do. Throws SchemaRefusal where this program must not touch what is there. */
function isUpToDate(standing: Meta | undefined, wanted: WantedMeta, log: Log): standing is Meta {
  if (standing === undefined) return false;
  requireSame(wanted, standing);
  requireServedBy(standing);
  if (standing.schemaVersion > SCHEMA_VERSION) {
    log.info(
      { schemaVersion: standing.schemaVersion, thisProgram: SCHEMA_VERSION },
      'the schema is newer than this program but compatible; leaving it unchanged',
    );
  }
  return standing.schemaVersion >= SCHEMA_VERSION;
}

/**
 * Resolves to the meta that stands. Rejects with SchemaRefusal where the settings differ from those the cluster was
 * made with, the schema is too new, or Cassandra refuses a change; with GrantdError `unavailable` where trying again
 * may help.
 */
export async function migrateCassandra(
  ports: MigratePorts,
  options: MigrateOptions,
  wanted: WantedMeta,
): Promise<Meta> {
  const { clock, random, log } = ports;
  const keyspace = quoteKeyspace(options.keyspace);
  const connection = await openConnection(ports, options);
  try {
    const { client, session } = connection;
    const changes = new SchemaChanges(client, connection.hosts(), clock);
    const meta = createMetaCalls(session, keyspace);
    // A node that lags behind would make anew what is there.
    await changes.awaitAgreement();
    if (!(await changes.hasKeyspace(options.keyspace))) await createKeyspace(connection, changes, options, log);
    const found = await meta.readMeta(clock.monotonicMs() + CALL_MS);
    if (isUpToDate(found, wanted, log)) {
      log.info({ schemaVersion: found.schemaVersion }, 'the schema is up to date');
      return found;
    }
    if (!(await changes.hasTable(options.keyspace, LOCK_TABLE))) {
      await changes.apply(createLockTable(keyspace, tableIdOf(options.keyspace, LOCK_TABLE)));
    }
    await changes.awaitAgreement();
    const holder = Buffer.from(random.bytes(HOLDER_BYTES)).toString('base64url');
    const lock = await acquireMigrationLock({ session, clock, log }, keyspace, holder);
    try {
      // Another one may have been at work until now.
      await changes.awaitAgreement();
      const now = await meta.readMeta(clock.monotonicMs() + CALL_MS);
      if (isUpToDate(now, wanted, log)) return now;
      await applySteps(lock, changes, keyspace, log);
      return await writeMeta(meta, wanted, ports);
    } finally {
      await lock.release().catch(() => log.warn('failed to release the migration lock; it will expire'));
    }
  } finally {
    await connection.close();
  }
}
