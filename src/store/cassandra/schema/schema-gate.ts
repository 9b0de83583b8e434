// Before a process works on the tables, they must exist, in a version that serves it, in a cluster created with its
// settings. Otherwise two processes could disagree on which slot a tenant is in, or on which writes exclude each other.
// This gate waits for the tables and changes nothing: the migration of the schema is a separate task with separate
// rights.

import { type Clock, delay } from '../../../core/async/clock.ts';
import { GrantdError } from '../../../core/errors.ts';
import type { Log } from '../../../telemetry/log.ts';
import { type SchemaWait, StoreRefusal } from '../../store-adapter.ts';
import { type CassandraOptions, serialPlaceOf } from '../driver/options.ts';
import { type MetaCalls, otherSchema } from '../tables/meta-calls.ts';
import type { ClusterRow, SchemaVersion } from '../tables/rows.ts';
import { fingerprintAt, SCHEMA_VERSION } from './migrations.ts';

const RETRY_MS = 1000;
const READ_MS = 5000;

/**
 * What an operator chooses once for a cluster. The program that created the cluster chose its other numbers, and they
 * never change.
 */
export interface ClusterChoices extends Pick<CassandraOptions, 'keyspace' | 'serialLevel' | 'localDatacenter'> {
  /** Undefined: as many as the cluster has. */
  readonly slots: number | undefined;
}

function findDifferences(choices: ClusterChoices, { meta, serial }: ClusterRow): string[] {
  const differences: string[] = [];
  const { slots, serialLevel, localDatacenter } = choices;
  if (slots !== undefined && slots !== meta.slots) {
    differences.push(`GRANTD_SLOTS is ${slots}, but the cluster was created with ${meta.slots}.`);
  }
  if (serialLevel !== serial.serialLevel) {
    differences.push(
      `GRANTD_CASSANDRA_SERIAL_LEVEL is ${serialLevel}, but the cluster was created with ${serial.serialLevel}.`,
    );
  } else if (serialPlaceOf(choices).datacenter !== serial.datacenter) {
    differences.push(
      `GRANTD_CASSANDRA_LOCAL_DATACENTER is ${localDatacenter}, but the cluster was created with ${serial.datacenter}. With LOCAL_SERIAL, every shard must use the same datacenter.`,
    );
  }
  return differences;
}

/** Throws StoreRefusal that lists every setting that differs from the cluster's. */
export function requireSameCluster(choices: ClusterChoices, standing: ClusterRow): void {
  const differences = findDifferences(choices, standing);
  if (differences.length === 0) return;
  throw new StoreRefusal(
    ['These settings differ from those of the cluster, which cannot be changed:', ...differences].join('\n  '),
  );
}

/** Throws StoreRefusal if the schema is too new for this program, or one that no step of this program has made. */
export function requireServedBy({ version, servesFrom, program, fingerprint }: SchemaVersion, keyspace: string): void {
  if (version <= SCHEMA_VERSION && fingerprint !== fingerprintAt(version)) {
    throw new StoreRefusal(otherSchema(keyspace, `grantd ${program}`));
  }
  if (servesFrom <= SCHEMA_VERSION) return;
  throw new StoreRefusal(
    `The schema is at version ${version}, made by grantd ${program}, and supports programs built for version ${servesFrom} or later; ` +
      `this one is built for version ${SCHEMA_VERSION}. Run a later release.`,
  );
}

/** Why to wait, or undefined if this program can work on the schema. */
function reasonToWait(standing: ClusterRow | undefined): string | undefined {
  if (standing === undefined) return 'there is no schema yet; run "grantd migrate" to create it';
  const { version } = standing.schema;
  if (version >= SCHEMA_VERSION) return undefined;
  return `the schema is at version ${version}, but this program needs ${SCHEMA_VERSION}; run "grantd migrate" to upgrade it`;
}

/**
 * Resolves to the row of a cluster that was created with these choices and whose schema serves this program. Each
 * attempt passes the reason for waiting to `onWaiting`. Rejects with StoreRefusal if waiting does not help, and with
 * the signal's reason when the signal aborts.
 */
export async function waitForSchema(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  { readCluster }: Pick<MetaCalls, 'readCluster'>,
  choices: ClusterChoices,
  { signal, onWaiting }: SchemaWait,
): Promise<ClusterRow> {
  let lastReason = '';
  for (;;) {
    signal.throwIfAborted();
    let reason: string;
    try {
      const standing = await readCluster(clock.monotonicMs() + READ_MS);
      const waiting = reasonToWait(standing);
      if (standing !== undefined && waiting === undefined) {
        requireServedBy(standing.schema, choices.keyspace);
        requireSameCluster(choices, standing);
        return standing;
      }
      reason = waiting ?? '';
    } catch (error) {
      if (!(error instanceof GrantdError) || !error.retryable) throw error;
      reason = `cannot read the store: ${error.message}`;
    }
    if (reason !== lastReason) log.info({ reason }, 'waiting for the schema');
    lastReason = reason;
    onWaiting(reason);
    await delay(clock, RETRY_MS, signal);
  }
}
