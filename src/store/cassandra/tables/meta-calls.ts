// What is fixed for the cluster: one row, inserted by a lightweight transaction, of which all but the version stays.

import { GrantdError } from '../../../core/errors.ts';
import type { DeadlineMs, Meta, MetaStore } from '../../store.ts';
import { SchemaMissing } from '../driver/errors.ts';
import type { Session, Value } from '../driver/executor.ts';
import { META_COLUMNS, metaOf } from './rows.ts';

const ID = 'cluster';

export interface MetaCalls extends MetaStore {
  /** Of the meta that stands. Rejects as `unavailable` before there is one: then there is no log either. */
  segmentSize(deadline: DeadlineMs): Promise<number>;
  /** How many, of the meta that stands. Rejects as `segmentSize` does. */
  slots(deadline: DeadlineMs): Promise<number>;
  /** Records a later version of the schema. Whether `from` stood before. */
  raiseVersion(
    from: number,
    to: Pick<Meta, 'schemaVersion' | 'schemaServesFrom'>,
    deadline: DeadlineMs,
  ): Promise<boolean>;
}

const valuesOf = (meta: Meta): Value[] => [
  meta.schemaVersion,
  meta.schemaServesFrom,
  meta.slots,
  meta.segmentSize,
  meta.serialLevel,
  meta.datacentre,
  meta.leaseMs,
  meta.deadlineMs,
  meta.logFormat,
  meta.cursorSecrets,
];

export function createMetaCalls(session: Session, keyspace: string): MetaCalls {
  const table = `${keyspace}.meta`;
  const select = `SELECT ${META_COLUMNS} FROM ${table} WHERE id = ?`;
  const insert = `INSERT INTO ${table} (id, ${META_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) IF NOT EXISTS`;
  const update = `UPDATE ${table} SET schema_version = ?, schema_serves_from = ? WHERE id = ? IF schema_version = ?`;
  let fixed: Pick<Meta, 'slots' | 'segmentSize'> | undefined;

  async function readMeta(deadline: DeadlineMs): Promise<Meta | undefined> {
    try {
      const { rows } = await session.readSerial(select, [ID], deadline);
      const meta = rows.map(metaOf)[0];
      fixed = meta ?? fixed;
      return meta;
    } catch (error) {
      if (error instanceof SchemaMissing) return undefined;
      throw error;
    }
  }

  async function readFixed(deadline: DeadlineMs): Promise<Pick<Meta, 'slots' | 'segmentSize'>> {
    const known = fixed ?? (await readMeta(deadline));
    if (known === undefined) throw new GrantdError('unavailable', 'The store has not been initialized.');
    return known;
  }

  return {
    readMeta,

    async initializeMeta(meta: Meta, deadline: DeadlineMs): Promise<Meta> {
      const answer = await session.conditional(insert, [ID, ...valuesOf(meta)], deadline);
      if (answer === undefined)
        throw new GrantdError('unavailable', 'Cassandra returned no result for the insertion of meta.');
      const standing = answer['[applied]'] === true ? meta : metaOf(answer);
      fixed = standing;
      return standing;
    },

    segmentSize: async (deadline) => (await readFixed(deadline)).segmentSize,
    slots: async (deadline) => (await readFixed(deadline)).slots,

    async raiseVersion(from, { schemaVersion, schemaServesFrom }, deadline): Promise<boolean> {
      const answer = await session.conditional(update, [schemaVersion, schemaServesFrom, ID, from], deadline);
      return answer?.['[applied]'] === true;
    },
  };
}
