// The store port on Cassandra. Conditional writes (log, slots, members, meta) are lightweight transactions at the
// serial level. State is written with plain writes, each row with its stamp as its timestamp. Every read quorum
// overlaps every write quorum.

import type { Store } from '../store.ts';
import { type ConnectionPorts, openConnection } from './driver/connection.ts';
import { warnOfSettings } from './driver/node-settings.ts';
import { type CassandraOptions, quoteKeyspace, serialPlaceOf } from './driver/options.ts';
import { SCHEMA } from './schema/migrations.ts';
import { createMemberCalls, createSlotCalls } from './tables/conditional-tables.ts';
import { createLogCalls } from './tables/log-calls.ts';
import { createMetaCalls, type MetaCalls } from './tables/meta-calls.ts';
import { createPurge } from './tables/purge.ts';
import { createStateReads } from './tables/state-reads.ts';
import { createStateWrites } from './tables/state-writes.ts';
import { RangeTrust } from './tables/table-scan.ts';
import { createRowRemoval } from './tables/tombstone-gc.ts';

export interface CassandraStore extends Store, Pick<MetaCalls, 'readCluster'> {}

/**
 * Connects. The keyspace and its tables need not exist yet; `readMeta` says whether they do. Rejects with `unavailable`
 * if no node can be reached or the role is refused, and with StoreRefusal if the settings are wrong.
 */
export async function openCassandraStore(ports: ConnectionPorts, options: CassandraOptions): Promise<CassandraStore> {
  const keyspace = quoteKeyspace(options.keyspace);
  const connection = await openConnection(ports, options);
  const { executor } = connection;
  const meta = createMetaCalls(executor, keyspace);
  const scans = { executor, clock: ports.clock, trust: new RangeTrust(), isNodeSilent: connection.isNodeSilent };
  const removeExpiries = `DELETE FROM ${keyspace}.grants_by_expiry USING TIMESTAMP ?
    WHERE tenant = ? AND bucket = ? AND expires_at_ms <= ?`;
  void warnOfSettings(connection.client, connection.hosts(), ports.log);
  return {
    readCluster: meta.readCluster,
    readMeta: async (deadline) => (await meta.readCluster(deadline))?.meta,
    initializeMeta: async (wanted, deadline) => {
      const row = { meta: wanted, schema: SCHEMA, serial: serialPlaceOf(options) };
      return (await meta.insertCluster(row, deadline)).meta;
    },
    replaceClusterId: meta.replaceClusterId,
    ...createLogCalls(executor, meta, keyspace),
    ...createSlotCalls(scans, meta, keyspace),
    ...createMemberCalls(scans, keyspace),
    ...createStateReads({ executor, clock: ports.clock }, keyspace),
    ...createStateWrites(executor, keyspace),
    removeTombstones: createRowRemoval(executor, keyspace),
    removeExpiries: async ({ tenantId, bucket, toMs }, stamp, deadline) => {
      await executor.write(removeExpiries, [BigInt(stamp), tenantId, bucket, BigInt(toMs)], deadline);
    },
    purgeTenant: createPurge(executor, keyspace),
    close: connection.close,
  };
}
