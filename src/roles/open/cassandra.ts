// Cassandra as the settings name it. Where it cannot be reached it is waited for, with the reason told: a database that
// starts later, or is away for a while, is no reason to end.

import type { ShardConfig } from '../../config/settings.ts';
import { type Clock, delay } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { CassandraOptions } from '../../store/cassandra/driver/options.ts';
import { SchemaRefusal } from '../../store/cassandra/schema/schema-gate.ts';
import type { Log } from '../../telemetry/log.ts';
import { StartError } from '../process/start-error.ts';
import { untilAborted } from '../process/waiting.ts';

const RETRY_MS = 1000;

type CassandraSettings = Pick<
  ShardConfig,
  | 'contactPoints'
  | 'localDatacenter'
  | 'keyspace'
  | 'serialLevel'
  | 'cassandraUsername'
  | 'cassandraPassword'
  | 'cassandraTlsCa'
  | 'cassandraTlsCert'
  | 'cassandraTlsKey'
>;

export function cassandraOptions(config: CassandraSettings): CassandraOptions {
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

/**
 * What the store tells the operator (wrong settings, a schema that cannot be used) as a StartError; anything else, a
 * defect among it, as it is.
 */
export function toStartError(error: unknown): unknown {
  const isForOperator = error instanceof SchemaRefusal || (error instanceof Error && error.constructor === Error);
  return isForOperator ? new StartError(error.message, { cause: error }) : error;
}

/** Whether trying again may help: whatever else is wrong stays so. */
const isOutage = (error: unknown): error is GrantdError => error instanceof GrantdError && error.retryable;

/**
 * Runs `work` until it succeeds. While Cassandra cannot be reached, `onWaiting` is told why, and it is tried again
 * every second until `signal` aborts. Any other failure is passed on.
 */
export async function whileCassandraIsAway<Value>(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  work: () => Promise<Value>,
  { signal, onWaiting }: { readonly signal: AbortSignal; readonly onWaiting: (reason: string) => void },
): Promise<Value> {
  for (;;) {
    try {
      return await untilAborted(work(), signal);
    } catch (error) {
      if (!isOutage(error)) throw error;
      onWaiting(error.message);
      log.debug({ err: error }, 'cannot reach Cassandra');
      await delay(clock, RETRY_MS, signal);
    }
  }
}
