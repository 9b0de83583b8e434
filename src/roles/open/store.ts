// Opens the store that GRANTD_STORE names. If it cannot be reached, the process waits and logs the reason: a database
// that starts later, or is away for a while, must not end it. A new adapter is a case in each of the two switches.

import type { DevConfig, MigrateConfig, ShardConfig } from '../../config/settings.ts';
import { assert, assertNever } from '../../core/assert.ts';
import { type Clock, delay, type Random } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { Meta, Store } from '../../store/store.ts';
import {
  type OpenedStore,
  type SchemaTask,
  type SchemaWaiting,
  type StoreAdapter,
  StoreRefusal,
} from '../../store/store-adapter.ts';
import { traceStore } from '../../store/traced-store.ts';
import type { Log } from '../../telemetry/log.ts';
import { StartError } from '../process/start-error.ts';
import { untilAborted } from '../process/waiting.ts';
import { createCassandraAdapter, createCassandraSchemaTask } from './cassandra.ts';
import { createSqliteAdapter } from './sqlite.ts';

const RETRY_MS = 1000;

export interface StoreDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export interface StoreWaiting {
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Called at every attempt with what the process waits for, and why. */
  readonly onWaiting: (what: string, reason: string) => void;
}

const MISPLACED = 'the settings admit the embedded store for dev alone';

function chooseAdapter(dependencies: StoreDependencies, config: DevConfig | ShardConfig): StoreAdapter {
  switch (config.store) {
    case 'sqlite':
      assert('dataDirectory' in config, MISPLACED);
      return createSqliteAdapter(dependencies, config);
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
  { signal, onWaiting }: StoreWaiting,
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

const forSchema = ({ signal, onWaiting }: StoreWaiting): SchemaWaiting => ({
  signal,
  onWaiting: (reason) => onWaiting('the schema', reason),
});

/**
 * Opens the store, waits for a schema that serves this program, and returns the store with the meta of the cluster.
 * With `traced`, its calls are spans. `parts` closes it. Rejects with a StartError if the settings or the schema cannot
 * be used.
 */
export async function openStore(
  dependencies: StoreDependencies,
  config: DevConfig | ShardConfig,
  { traced, parts, ...waiting }: StoreWaiting & { readonly traced: boolean; readonly parts: AsyncDisposableStack },
): Promise<{ readonly store: Store; readonly meta: Meta }> {
  const { product, database, open } = chooseAdapter(dependencies, config);
  try {
    const work = () => openUnlessAborted(open, waiting.signal);
    const { store, awaitMeta } = await whileStoreIsAway(dependencies, product, work, waiting);
    parts.defer(() => store.close());
    const meta = await awaitMeta(forSchema(waiting));
    return { store: traced ? traceStore(store, database) : store, meta };
  } catch (error) {
    throw toStartError(error);
  }
}

export interface OpenedSchemaTask {
  readonly target: string;
  /** As `SchemaTask.migrate`, but waits for the store; rejects as `openStore` does. */
  migrate(waiting: StoreWaiting): Promise<string>;
  wait(waiting: StoreWaiting): Promise<string>;
}

export function openSchemaTask(dependencies: StoreDependencies, config: MigrateConfig): OpenedSchemaTask {
  const { product, target, migrate, wait } = chooseSchemaTask(dependencies, config);
  const run = (work: () => Promise<string>, waiting: StoreWaiting): Promise<string> =>
    whileStoreIsAway(dependencies, product, work, waiting).catch((error: unknown) => {
      throw toStartError(error);
    });
  return {
    target,
    migrate: (waiting) => run(migrate, waiting),
    wait: (waiting) => run(() => wait(forSchema(waiting)), waiting),
  };
}
