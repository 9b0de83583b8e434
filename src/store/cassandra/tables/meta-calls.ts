// What is fixed for the cluster: one row, inserted by a lightweight transaction. Only the version of the schema ever
// changes, and the id of the cluster, when its store is a restored copy.

import { GrantdError } from '../../../core/errors.ts';
import type { ClusterId } from '../../../core/ids.ts';
import { PROGRAM_VERSION, UNRECORDED_PROGRAM } from '../../../core/program-version.ts';
import type { DeadlineMs, Meta } from '../../store.ts';
import { StoreRefusal } from '../../store-adapter.ts';
import { SchemaMissing, SchemaUnknown } from '../driver/errors.ts';
import type { Executor, Value } from '../driver/executor.ts';
import { CLUSTER_COLUMNS, type ClusterRow, clusterRowOf, type SchemaVersion } from './rows.ts';

const ID = 'cluster';

export interface MetaCalls {
  /** Undefined before the cluster or its tables were created. Rejects with StoreRefusal if its columns are others. */
  readCluster(deadline: DeadlineMs): Promise<ClusterRow | undefined>;
  /** Writes the row unless there is one, and returns the stored one. */
  insertCluster(row: ClusterRow, deadline: DeadlineMs): Promise<ClusterRow>;
  /** From the stored meta. Rejects with `unavailable` before there is one: then there is no log either. */
  segmentSize(deadline: DeadlineMs): Promise<number>;
  /** The number of slots in the stored meta. Rejects as `segmentSize` does. */
  slots(deadline: DeadlineMs): Promise<number>;
  /** See `MetaStore.replaceClusterId`. */
  replaceClusterId(from: ClusterId, to: ClusterId, deadline: DeadlineMs): Promise<ClusterId | undefined>;
  /** Records a later version of the schema. Returns whether `from` was the stored version. */
  raiseVersion(from: number, to: SchemaVersion, deadline: DeadlineMs): Promise<boolean>;
}

/** What to say of tables that `maker` made with migrations of another text. `keyspace`: as in a statement. */
export const otherSchema = (keyspace: string, maker: string): string =>
  `The tables of the keyspace ${keyspace} were made by ${maker} with another schema; this grantd ${PROGRAM_VERSION} ` +
  'cannot use them. Nothing was changed. Start the version that made them, export each tenant, and import the files ' +
  'into a new keyspace.';

/** In the order of CLUSTER_COLUMNS. */
const valuesOf = ({ meta, schema, serial }: ClusterRow): Value[] => [
  meta.clusterId,
  meta.slots,
  meta.segmentSize,
  meta.leaseMs,
  meta.deadlineMs,
  meta.logFormat,
  meta.cursorSecrets,
  schema.version,
  schema.servesFrom,
  schema.program,
  schema.fingerprint,
  serial.serialLevel,
  serial.datacenter,
];

export function createMetaCalls(executor: Executor, keyspace: string): MetaCalls {
  const table = `${keyspace}.meta`;
  const select = `SELECT ${CLUSTER_COLUMNS} FROM ${table} WHERE id = ?`;
  const insert = `INSERT INTO ${table} (id, ${CLUSTER_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) IF NOT EXISTS`;
  const update = `UPDATE ${table} SET schema_version = ?, schema_serves_from = ?, schema_program = ?,
    schema_fingerprint = ? WHERE id = ? IF schema_version = ?`;
  const updateId = `UPDATE ${table} SET cluster_id = ? WHERE id = ? IF cluster_id = ?`;
  let fixed: Pick<Meta, 'slots' | 'segmentSize'> | undefined;

  async function readCluster(deadline: DeadlineMs): Promise<ClusterRow | undefined> {
    try {
      const { rows } = await executor.readSerial(select, [ID], deadline);
      const cluster = rows.map(clusterRowOf)[0];
      fixed = cluster?.meta ?? fixed;
      return cluster;
    } catch (error) {
      if (error instanceof SchemaMissing) return undefined;
      if (error instanceof SchemaUnknown)
        throw new StoreRefusal(otherSchema(keyspace, UNRECORDED_PROGRAM), { cause: error });
      throw error;
    }
  }

  async function readFixed(deadline: DeadlineMs): Promise<Pick<Meta, 'slots' | 'segmentSize'>> {
    const known = fixed ?? (await readCluster(deadline))?.meta;
    if (known === undefined) throw new GrantdError('unavailable', 'The store has not been initialized.');
    return known;
  }

  return {
    readCluster,

    async insertCluster(row, deadline) {
      const answer = await executor.conditional(insert, [ID, ...valuesOf(row)], deadline);
      const standing = answer.applied ? row : clusterRowOf(answer.row);
      fixed = standing.meta;
      return standing;
    },

    segmentSize: async (deadline) => (await readFixed(deadline)).segmentSize,
    slots: async (deadline) => (await readFixed(deadline)).slots,

    async replaceClusterId(from, to, deadline) {
      const answer = await executor.conditional(updateId, [to, ID, from], deadline);
      if (answer.applied) return to;
      // Without a row, or as another one has given the cluster an id meanwhile.
      return (await readCluster(deadline))?.meta.clusterId;
    },

    async raiseVersion(from, { version, servesFrom, program, fingerprint }, deadline) {
      const values = [version, servesFrom, program, fingerprint, ID, from];
      return (await executor.conditional(update, values, deadline)).applied;
    },
  };
}
