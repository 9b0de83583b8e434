// Opens the store that GRANTD_STORE names. While it cannot be reached, the process waits and logs the reason: a
// database that starts later, or is down for a while, must not end it. A new adapter is a case in each of the two
// switches.

import type { DevConfig, MigrateConfig, ShardConfig } from '../../config/settings.ts';
import { assert, assertNever } from '../../core/assert.ts';
import { type Clock, delay, type Random, untilAborted } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import { IdFactory } from '../../core/ids.ts';
import { SEGMENT_SIZE_DEFAULT, SLOTS_DEFAULT } from '../../core/slots.ts';
import { LOG_FORMAT } from '../../shard/log/entries.ts';
import { LEASE_MS } from '../../shard/ownership/membership-lease.ts';
import { giveNewClusterId } from '../../shard/ownership/new-cluster-id.ts';
import type { CassandraOptions } from '../../store/cassandra/driver/options.ts';
import type { ClusterRow } from '../../store/cassandra/tables/rows.ts';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts';
import type { Meta, Store } from '../../store/store.ts';
import {
  type OpenedStore,
  type SchemaTask,
  type SchemaWait,
  type StoreAdapter,
  type StoreDamage,
  StoreRefusal,
} from '../../store/store-adapter.ts';
import { traceStore, watchWrites } from '../../store/store-decorators.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { DEV_FILE } from '../dev/dev-file.ts';
import { StartError } from '../process/start-error.ts';

const RETRY_MS = 1000;

export interface StoreDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export interface StoreWait {
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Called at every attempt with what the process waits for, and why. */
  readonly onWaiting: (what: string, reason: string) => void;
}

const MISPLACED = 'the settings admit the embedded store for dev alone';

function chooseAdapter(
  dependencies: StoreDependencies,
  config: DevConfig | ShardConfig,
  acceptLoss: boolean,
): StoreAdapter {
  switch (config.store) {
    case 'sqlite':
      assert('dataDirectory' in config, MISPLACED);
      return createSqliteAdapter(dependencies, { ...config, acceptLoss });
    case 'cassandra':
      assert('contactPoints' in config, MISPLACED);
      return createCassandraAdapter(dependencies, config);
    default:
      return assertNever(config.store);
  }
}

function chooseSchemaTask(dependencies: StoreDependencies, config: MigrateConfig): SchemaTask {
  switch (config.store) {
    case 'cassandra':
      return createCassandraSchemaTask(dependencies, config);
    case 'sqlite':
      throw new Error(`Assertion failed: ${MISPLACED}`);
    default:
      return assertNever(config.store);
  }
}

/**
 * Turns an error that the store has for the operator into a StartError; returns any other, such as a defect, unchanged.
 */
function toStartError(error: unknown): unknown {
  return error instanceof StoreRefusal ? new StartError(error.message, { cause: error }) : error;
}

/** Whether a retry may help: no other error goes away by itself. */
const isOutage = (error: unknown): error is GrantdError => error instanceof GrantdError && error.retryable;

/**
 * Runs `work` until it succeeds. While the store cannot be reached, it passes the reason to `onWaiting` and retries
 * every second until `signal` aborts. It passes on any other failure.
 */
export async function whileStoreIsAway<Value>(
  { clock, log }: Pick<StoreDependencies, 'clock' | 'log'>,
  product: string,
  work: () => Promise<Value>,
  { signal, onWaiting }: StoreWait,
): Promise<Value> {
  for (;;) {
    try {
      return await untilAborted(work(), signal);
    } catch (error) {
      if (!isOutage(error)) throw error;
      onWaiting(product, error.message);
      log.debug({ err: error }, `cannot reach ${product}`);
      await delay(clock, RETRY_MS, signal);
    }
  }
}

/** If the store opens only after the signal, it is closed again: no caller waits for it any more. */
async function openUnlessAborted(open: StoreAdapter['open'], signal: AbortSignal): Promise<OpenedStore> {
  const opened = await open();
  if (signal.aborted) await opened.store.close();
  signal.throwIfAborted();
  return opened;
}

const forSchema = ({ signal, onWaiting }: StoreWait): SchemaWait => ({
  signal,
  onWaiting: (reason) => onWaiting('the schema', reason),
});

export interface StoreOptions extends StoreWait {
  readonly traced: boolean;
  readonly parts: AsyncDisposableStack;
  readonly metrics: Metrics;
  /** Whether the embedded store may go on although acknowledged writes are missing. */
  readonly acceptLoss?: boolean;
}

export interface StoreInUse {
  readonly store: Store;
  readonly meta: Meta;
  readonly damage: StoreDamage | undefined;
  /** What does not work although checks do; empty: everything works. */
  warnings(): readonly string[];
}

/**
 * Opens the store, waits for a schema that serves this program, and returns the store with the meta of the cluster.
 * With `traced`, its calls are spans. `parts` closes it. Rejects with a StartError if the settings or the schema cannot
 * be used.
 */
export async function openStore(
  dependencies: StoreDependencies,
  config: DevConfig | ShardConfig,
  { traced, parts, metrics, acceptLoss = false, ...waiting }: StoreOptions,
): Promise<StoreInUse> {
  const { product, database, open } = chooseAdapter(dependencies, config, acceptLoss);
  try {
    const work = () => openUnlessAborted(open, waiting.signal);
    const { store, awaitMeta, damage } = await whileStoreIsAway(dependencies, product, work, waiting);
    parts.defer(() => store.close());
    const meta = await awaitMeta(forSchema(waiting));
    const watched = watchWrites(store);
    metrics.onRender(() => metrics.storeWritesFailing.inc(watched.failing() === undefined ? 0 : 1));
    const warnings = () => {
      const reason = watched.failing();
      return reason === undefined ? [] : [`writes fail: ${reason}`];
    };
    return { store: traced ? traceStore(watched.store, database) : watched.store, meta, damage, warnings };
  } catch (error) {
    throw toStartError(error);
  }
}

export interface OpenedSchemaTask {
  readonly target: string;
  /** Runs `SchemaTask.migrate` once the store is there; rejects as `openStore` does. */
  migrate(waiting: StoreWait): Promise<string>;
  newClusterId(waiting: StoreWait): Promise<string>;
  wait(waiting: StoreWait): Promise<string>;
}

export function openSchemaTask(dependencies: StoreDependencies, config: MigrateConfig): OpenedSchemaTask {
  const { product, target, migrate, newClusterId, wait } = chooseSchemaTask(dependencies, config);
  const run = (work: () => Promise<string>, waiting: StoreWait): Promise<string> =>
    whileStoreIsAway(dependencies, product, work, waiting).catch((error: unknown) => {
      throw toStartError(error);
    });
  return {
    target,
    migrate: (waiting) => run(migrate, waiting),
    newClusterId: (waiting) => run(() => newClusterId(forSchema(waiting)), waiting),
    wait: (waiting) => run(() => wait(forSchema(waiting)), waiting),
  };
}

// ---- Cassandra: a store for shards, and its schema as a task for `migrate` ----

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
  return `The schema is at version ${schema.version}: ${meta.slots} slots, ${serial.serialLevel}${where}. The cluster is ${meta.clusterId}.`;
}

export function createCassandraSchemaTask(
  dependencies: CassandraDependencies & { readonly random: Random },
  config: MigrateConfig,
): SchemaTask {
  const { clock, random } = dependencies;
  const options = cassandraOptions(config);

  /** Once the schema serves this program. */
  async function onStore(waiting: SchemaWait, work: (store: Store, row: ClusterRow) => Promise<string>) {
    const [{ openCassandraStore }, { waitForSchema }] = await Promise.all([importStore(), importSchemaGate()]);
    const store = await openCassandraStore(dependencies, options);
    try {
      return await work(store, await waitForSchema(dependencies, store, config, waiting));
    } finally {
      await store.close();
    }
  }

  return {
    product: PRODUCT,
    target: `the keyspace ${config.keyspace} in ${config.localDatacenter}`,
    migrate: async () => {
      const { migrateCassandra } = await importMigration();
      const { slots, replicationFactor } = config;
      const cluster = newCluster(SLOTS_DEFAULT);
      return describeCluster(await migrateCassandra(dependencies, { ...options, slots, replicationFactor }, cluster));
    },
    newClusterId: (waiting) =>
      onStore(waiting, async (store, { meta }) => {
        const clusterId = new IdFactory(clock, random).create('clu');
        await giveNewClusterId({ store, clock, signal: waiting.signal }, meta, clusterId);
        return `The cluster was ${meta.clusterId}; it is ${clusterId} now.`;
      }),
    wait: (waiting) => onStore(waiting, async (_store, row) => describeCluster(row)),
  };
}

// ---- SQLite: migrates its schema when it opens, and creates the cluster if there is none ----

interface SqliteDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export function createSqliteAdapter(
  { clock, random, log }: SqliteDependencies,
  {
    dataDirectory: directory,
    slots,
    acceptLoss = false,
  }: Pick<DevConfig, 'dataDirectory' | 'slots'> & { readonly acceptLoss?: boolean },
): StoreAdapter {
  return {
    product: 'SQLite',
    database: { system: 'sqlite' },
    open: async () => {
      const store = await openSqliteStore({ directory, slots, clock, log, acceptLoss, companions: [DEV_FILE] });
      return {
        store,
        damage: store.damage,
        awaitMeta: () =>
          store.initializeMeta(
            {
              ...newCluster(slots),
              clusterId: new IdFactory(clock, random).create('clu'),
              cursorSecrets: [makeCursorSecret(random)],
            },
            clock.monotonicMs() + DEADLINE_MS,
          ),
      };
    },
  };
}

// ---- the properties of a new cluster, which the store keeps and no setting changes later ----

/** Every front responds to every request within this time. */
export const DEADLINE_MS = 10_000;
const CURSOR_SECRET_LENGTH = 32;

export function newCluster(slots: number): Omit<Meta, 'clusterId' | 'cursorSecrets'> {
  return {
    slots,
    segmentSize: SEGMENT_SIZE_DEFAULT,
    leaseMs: LEASE_MS,
    deadlineMs: DEADLINE_MS,
    logFormat: LOG_FORMAT,
  };
}

export function makeCursorSecret(random: Random): string {
  return Buffer.from(random.bytes(CURSOR_SECRET_LENGTH)).toString('base64url');
}
