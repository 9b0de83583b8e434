// The store port on Cassandra. Conditional writes (log, slots, members, meta) are lightweight transactions at the serial
// level; state is written plainly, each row with its stamp as its timestamp. Reads and writes meet in a quorum.

import type { Store } from '../store.ts';
import { type CassandraOptions, quoteKeyspace } from './cassandra-options.ts';
import { type ConnectionPorts, openConnection } from './connection.ts';
import { createLogCalls } from './log-calls.ts';
import { createMemberCalls } from './member-calls.ts';
import { createMetaCalls } from './meta-calls.ts';
import { warnOfSettings } from './node-settings.ts';
import { createPurge } from './purge.ts';
import { createRowRemoval } from './row-removal.ts';
import { createSlotCalls } from './slot-calls.ts';
import { createStateReads } from './state-reads.ts';
import { createStateWrites } from './state-writes.ts';
import { RangeTrust } from './table-scan.ts';

/**
 * Connects; the keyspace and its tables need not be there yet, `readMeta` says whether they are. Rejects as `unavailable`
 * where no node can be reached or the role is refused, and as an Error for the operator where the settings are wrong.
 */
export async function openCassandraStore(ports: ConnectionPorts, options: CassandraOptions): Promise<Store> {
  const keyspace = quoteKeyspace(options.keyspace);
  const connection = await openConnection(ports, options);
  const { session } = connection;
  const meta = createMetaCalls(session, keyspace);
  const scans = { session, clock: ports.clock, trust: new RangeTrust(), isNodeSilent: connection.isNodeSilent };
  void warnOfSettings(connection.client, connection.hosts(), ports.log);
  return {
    readMeta: meta.readMeta,
    initializeMeta: meta.initializeMeta,
    ...createLogCalls(session, meta, keyspace),
    ...createSlotCalls(scans, meta, keyspace),
    ...createMemberCalls(scans, keyspace),
    ...createStateReads(session, keyspace),
    ...createStateWrites(session, keyspace),
    removeGone: createRowRemoval(session, keyspace),
    purgeTenant: createPurge(session, keyspace),
    close: connection.close,
  };
}
