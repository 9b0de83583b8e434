// How often Cassandra was asked to read a table of the service, counted by Cassandra itself: the latency histograms
// that each node keeps of the reads it coordinated.

import { Client, policies, types } from 'cassandra-driver';
import type { SharedCassandra } from '../../../tools/engines/shared-cassandra.ts';

const { AllowListPolicy, RoundRobinPolicy } = policies.loadBalancing;
const STORE_PORT = 9042;
const QUERY =
  'SELECT table_name, count FROM system_views.coordinator_read_latency WHERE keyspace_name = ? ALLOW FILTERING';
const SCANS_QUERY =
  'SELECT table_name, count FROM system_views.coordinator_scan_latency WHERE keyspace_name = ? ALLOW FILTERING';

export class StoreReads {
  readonly #nodes: readonly Client[];
  readonly #keyspace: string;

  /** A connection to each node: what a node counted, only it tells. */
  constructor({ contactPoints, localDatacenter, keyspace }: SharedCassandra) {
    this.#keyspace = keyspace;
    this.#nodes = contactPoints.map(
      (host) =>
        new Client({
          contactPoints: [host],
          localDataCenter: localDatacenter,
          policies: { loadBalancing: new AllowListPolicy(new RoundRobinPolicy(), [`${host}:${STORE_PORT}`]) },
          pooling: { coreConnectionsPerHost: { [types.distance.local]: 1 } },
        }),
    );
  }

  /** Reads since the nodes started, by table. */
  async count(): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const node of this.#nodes) {
      for (const query of [QUERY, SCANS_QUERY]) {
        const { rows } = await node.execute(query, [this.#keyspace]);
        for (const row of rows) {
          const table = String(row.table_name);
          counts.set(table, (counts.get(table) ?? 0) + Number(row.count));
        }
      }
    }
    return counts;
  }

  async close(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.shutdown()));
  }
}

/** By table, those that were read meanwhile. */
export function readsSince(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): Map<string, number> {
  const reads = [...after].map(([table, count]) => [table, count - (before.get(table) ?? 0)] as const);
  return new Map(reads.filter(([, count]) => count > 0));
}
