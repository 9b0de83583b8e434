// The two tables of grants in Cassandra, by subject and by object, compared row by row: tombstone rows and the times of
// the writes (their stamps) included.

import cassandra from 'cassandra-driver';
import type { SharedCassandra } from '../../../tools/engines/shared-cassandra.ts';
import { waitFor } from '../../kit/wait-for.ts';

const ROWS_PER_READ = 5000;
/** Write-behind and the removal of tombstone rows finish one table after the other. */
const SETTLE_MS_MAX = 300_000;

const COLUMNS = 'tenant, subject, relation, object, grant_id, created_at_ms, gone, WRITETIME(gone) AS written';

async function readRows(client: cassandra.Client, table: string): Promise<Set<string>> {
  const rows = new Set<string>();
  const consistency = cassandra.types.consistencies.quorum;
  const options = { prepare: true, fetchSize: ROWS_PER_READ, consistency };
  for await (const row of await client.execute(`SELECT ${COLUMNS} FROM ${table}`, [], options)) {
    const { tenant, subject, relation, object, grant_id: id, created_at_ms: createdAtMs, gone, written } = row;
    rows.add(`${tenant} ${subject} ${relation} ${object} ${id} ${createdAtMs} ${gone} ${written}`);
  }
  return rows;
}

/** The number of rows of either table. Rejects with rows that only one of them has. */
export async function compareDirections({
  contactPoints,
  localDatacenter,
  keyspace,
}: SharedCassandra): Promise<number> {
  const client = new cassandra.Client({
    contactPoints: [...contactPoints],
    localDataCenter: localDatacenter,
    keyspace,
  });
  let alone: readonly string[] = [];
  let count = 0;
  try {
    await waitFor(
      'both tables of grants to have the same rows',
      async () => {
        const bySubject = await readRows(client, 'grants');
        alone = [...bySubject.symmetricDifference(await readRows(client, 'grants_by_object'))];
        count = bySubject.size;
        return alone.length === 0;
      },
      SETTLE_MS_MAX,
      () => `${alone.length} rows are in one table alone: ${alone.slice(0, 5).join('; ')}`,
    );
  } finally {
    await client.shutdown();
  }
  return count;
}
