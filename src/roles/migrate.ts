// The role `migrate`: brings the schema in Cassandra to what this program needs, or with `wait` only waits until
// someone else has, and changes nothing. A task, not a service: it prints what it does and ends.

import type { MigrateConfig } from '../config/settings.ts';
import type { Clock, Random } from '../core/async/clock.ts';
import { openCassandraStore } from '../store/cassandra/cassandra-store.ts';
import { migrateCassandra } from '../store/cassandra/schema/migrate.ts';
import { waitForSchema } from '../store/cassandra/schema/schema-gate.ts';
import type { Meta, Store } from '../store/store.ts';
import type { Log } from '../telemetry/log.ts';
import { cassandraOptions, toStartError, whileCassandraIsAway } from './open/cassandra.ts';
import { datacentreOf, requireSameCluster } from './open/cluster-settings.ts';
import { newClusterMeta, SLOTS_DEFAULT } from './open/new-cluster.ts';

const READ_MS = 10_000;

/** Exit codes of `grantd migrate`, beside those of signals; docs/operating/cluster.md lists them. */
const EXIT = Object.freeze({ done: 0, timedOut: 3 });

export interface MigrateDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Takes a line without its end. */
  readonly print: (line: string) => void;
}

export interface MigrateOptions {
  readonly config: MigrateConfig;
  /** Only wait for a schema that serves this program. */
  readonly wait: boolean;
  /** When to give up; undefined: never. */
  readonly timeoutMs: number | undefined;
}

interface Waiting {
  readonly signal: AbortSignal;
  readonly onWaiting: (reason: string) => void;
}

/** Runs `work` on a store that is closed afterwards. */
async function withStore<Value>(
  dependencies: MigrateDependencies,
  config: MigrateConfig,
  work: (store: Store) => Promise<Value>,
): Promise<Value> {
  const store = await openCassandraStore(dependencies, cassandraOptions(config));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** The number of slots as set; else that of the cluster, where there is one. */
async function chooseSlots(dependencies: MigrateDependencies, config: MigrateConfig): Promise<number> {
  if (config.slots !== undefined) return config.slots;
  const meta = await withStore(dependencies, config, (store) =>
    store.readMeta(dependencies.clock.monotonicMs() + READ_MS),
  );
  return meta?.slots ?? SLOTS_DEFAULT;
}

function applyMigrations(dependencies: MigrateDependencies, config: MigrateConfig, waiting: Waiting): Promise<Meta> {
  const { serialLevel, replicationFactor, localDatacenter, keyspace } = config;
  dependencies.print(`Migrating the keyspace ${keyspace} in ${localDatacenter}.`);
  return whileCassandraIsAway(
    dependencies,
    async () =>
      migrateCassandra(
        dependencies,
        { ...cassandraOptions(config), replicationFactor },
        newClusterMeta({
          slots: await chooseSlots(dependencies, config),
          serialLevel,
          datacentre: datacentreOf(config),
        }),
      ),
    waiting,
  );
}

function awaitSchema(dependencies: MigrateDependencies, config: MigrateConfig, waiting: Waiting): Promise<Meta> {
  return whileCassandraIsAway(
    dependencies,
    () => withStore(dependencies, config, (store) => waitForSchema(dependencies, store, waiting)),
    waiting,
  );
}

/** Resolves to the exit code. Rejects with a StartError where the schema or the settings cannot be used. */
export async function runMigrate(
  dependencies: MigrateDependencies,
  options: MigrateOptions,
  signal: AbortSignal,
): Promise<number> {
  const { clock, print } = dependencies;
  const { config, wait, timeoutMs } = options;
  const timeout = new AbortController();
  const timer = timeoutMs === undefined ? undefined : clock.setTimer(() => timeout.abort(), timeoutMs);
  let told = '';
  const waiting: Waiting = {
    signal: AbortSignal.any([signal, timeout.signal]),
    onWaiting: (reason) => {
      if (reason !== told) print(`Waiting: ${reason}`);
      told = reason;
    },
  };
  try {
    const meta = await (wait ? awaitSchema : applyMigrations)(dependencies, config, waiting);
    requireSameCluster(config, meta);
    const { schemaVersion, slots, serialLevel, datacentre } = meta;
    const where = datacentre === '' ? '' : ` in ${datacentre}`;
    print(`The schema is at version ${schemaVersion}: ${slots} slots, ${serialLevel}${where}.`);
    return EXIT.done;
  } catch (error) {
    if (signal.aborted || error !== timeout.signal.reason) throw toStartError(error);
    print(`Timed out after ${(timeoutMs ?? 0) / 1000} s${told === '' ? '.' : `; last reason: ${told}`}`);
    return EXIT.timedOut;
  } finally {
    timer?.cancel();
  }
}
