// Allows one migration at a time: the first to insert the row holds the lock, renews it before every change, and the
// row expires if its holder dies. The same table records which steps are done.

import { type Clock, delay } from '../../../core/async/clock.ts';
import { GrantdError } from '../../../core/errors.ts';
import type { Log } from '../../../telemetry/log.ts';
import { integerAt, textAt } from '../../stored-rows.ts';
import type { ConditionalResult, Executor, Value } from '../driver/executor.ts';

/** Longer than any change of the schema takes. The lock of a holder that died blocks others no longer than this. */
const LOCK_SECONDS = 60;
const CALL_MS = 10_000;
const RETRY_MS = 500;
/** The last attempt falls well within the life of the lock. */
const REPEAT_MS_MAX = 20_000;
const ACQUIRE_MS_MAX = 600_000;

export const LOCK_TABLE = 'schema_migrations';

export const createLockTable = (keyspace: string, id: string): string =>
  `CREATE TABLE IF NOT EXISTS ${keyspace}.${LOCK_TABLE} (
    id text PRIMARY KEY,
    holder text,
    version int,
    name text,
    applied_at_ms bigint
  ) WITH id = ${id}`;

export interface MigrationLock {
  /** Rejects if the lock was lost. */
  renew(): Promise<void>;
  /** The highest step that is done; 0 if none is. */
  readVersion(): Promise<number>;
  recordStep(step: { readonly version: number; readonly name: string }): Promise<void>;
  release(): Promise<void>;
}

export interface MigrationLockPorts {
  readonly executor: Executor;
  readonly clock: Clock;
  readonly log: Log;
}

/** Resolves when `holder` has the lock. */
export async function acquireMigrationLock(
  { executor, clock, log }: MigrationLockPorts,
  keyspace: string,
  holder: string,
): Promise<MigrationLock> {
  const table = `${keyspace}.${LOCK_TABLE}`;
  const insert = `INSERT INTO ${table} (id, holder) VALUES ('lock', ?) IF NOT EXISTS USING TTL ${LOCK_SECONDS}`;
  const update = `UPDATE ${table} USING TTL ${LOCK_SECONDS} SET holder = ? WHERE id = 'lock' IF holder = ?`;
  const remove = `DELETE FROM ${table} WHERE id = 'lock' IF holder = ?`;
  const selectStep = `SELECT version FROM ${table} WHERE id = ?`;
  const insertStep = `INSERT INTO ${table} (id, version, name, applied_at_ms) VALUES (?, ?, ?, ?) IF NOT EXISTS`;
  const deadline = (): number => clock.monotonicMs() + CALL_MS;

  /** If the outcome of an insertion was unknown, the next attempt finds the row as its own. */
  const tryAcquire = async (): Promise<boolean> => {
    const { applied, row } = await executor.conditional(insert, [holder], deadline());
    return applied || textAt(row, 'holder') === holder;
  };

  const untilMs = clock.monotonicMs() + ACQUIRE_MS_MAX;
  let reported = false;
  for (;;) {
    let failure: GrantdError | undefined;
    try {
      if (await tryAcquire()) break;
      if (!reported) log.info('another migration is running; waiting for it to finish');
      reported = true;
    } catch (error) {
      failure = GrantdError.from(error);
      if (!failure.retryable) throw error;
    }
    if (clock.monotonicMs() > untilMs) {
      throw failure ?? new GrantdError('unavailable', 'Another migration does not finish.');
    }
    await delay(clock, RETRY_MS);
  }

  /** Repeats an idempotent step while its outcome is unknown: a cluster whose schema changes responds slowly. */
  const repeat = async (query: string, params: readonly Value[]): Promise<ConditionalResult> => {
    const untilMs = clock.monotonicMs() + REPEAT_MS_MAX;
    for (;;) {
      try {
        return await executor.conditional(query, params, deadline());
      } catch (error) {
        if (!GrantdError.from(error).retryable || clock.monotonicMs() > untilMs) throw error;
      }
      await delay(clock, RETRY_MS);
    }
  };

  return {
    async renew() {
      const { applied } = await repeat(update, [holder, holder]);
      if (!applied) throw new GrantdError('unavailable', 'Another migration has taken over.');
    },

    async readVersion() {
      for (let version = 0; ; version += 1) {
        const { rows } = await executor.readSerial(selectStep, [`step-${version + 1}`], deadline());
        if (rows.map((row) => integerAt(row, 'version')).length === 0) return version;
      }
    },

    async recordStep({ version, name }) {
      await repeat(insertStep, [`step-${version}`, version, name, BigInt(clock.wallMs())]);
    },

    async release() {
      await executor.conditional(remove, [holder], deadline());
    },
  };
}
