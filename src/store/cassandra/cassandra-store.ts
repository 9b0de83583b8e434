// The store port on Cassandra. Conditional writes (log, slots, members, meta) are lightweight transactions at the
// serial level; state is written plainly, each row with its stamp as its timestamp. Reads and writes meet in a quorum.

import type { Store } from '../store.ts';
import { type ConnectionPorts, openConnection } from './driver/connection.ts';
import { warnOfSettings } from './driver/node-settings.ts';
import { type CassandraOptions, quoteKeyspace } from './driver/options.ts';
import { createLogCalls } from './tables/log-calls.ts';
import { createMemberCalls } from './tables/member-calls.ts';
import { createMetaCalls } from './tables/meta-calls.ts';
import { createPurge } from './tables/purge.ts';
import { createSlotCalls } from './tables/slot-calls.ts';
import { createStateReads } from './tables/state-reads.ts';
import { createStateWrites } from './tables/state-writes.ts';
import { RangeTrust } from './tables/table-scan.ts';
import { createRowRemoval } from './tables/tombstone-gc.ts';

/**
 * Connects; the keyspace and its tables need not be there yet, `readMeta` says whether they are. Rejects as
 * `unavailable` where no node can be reached or the role is refused, and as an Error for the operator where the
 * settings are wrong.
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
