// What a Cassandra that this process has started has done so far: processor time, bytes written, and requests of
// grantd, as Cassandra itself counts them for each connection.

import { Client, policies, types } from 'cassandra-driver';
import type { CassandraCluster } from '../../tools/engines/cassandra.ts';
import { findDescendants, readCpuSeconds, readWrittenBytes } from './resource-use.ts';

const { AllowListPolicy, RoundRobinPolicy } = policies.loadBalancing;
const PORT = 9042;
const QUERY = 'SELECT client_options, request_count FROM system_views.clients';
/** The name of shards in Cassandra. */
const APPLICATION = 'grantd';

const NO_WORK: Work = { cpuSeconds: 0, requests: 0, writtenBytes: 0 };

export interface Work {
  readonly cpuSeconds: number;
  /** Statements, or batches of them. */
  readonly requests: number;
  readonly writtenBytes: number;
}

/** Everything done until then. */
export interface Reading extends Work {
  readonly atMs: number;
}

export class CassandraUse {
  readonly #pids = findDescendants('CassandraDaemon');
  readonly #nodes: readonly Client[];

  /** Connects to each node: only the node itself reports its counts. */
  constructor({ contactPoints, localDatacenter }: CassandraCluster) {
    this.#nodes = contactPoints.map(
      (host) =>
        new Client({
          contactPoints: [host],
          localDataCenter: localDatacenter,
          policies: { loadBalancing: new AllowListPolicy(new RoundRobinPolicy(), [`${host}:${PORT}`]) },
          pooling: { coreConnectionsPerHost: { [types.distance.local]: 1 } },
        }),
    );
  }

  /** Summed over the nodes. */
  async read(): Promise<Reading> {
    let requests = 0;
    for (const node of this.#nodes) {
      const { rows } = await node.execute(QUERY);
      for (const row of rows) {
        if (row.client_options?.APPLICATION_NAME === APPLICATION) requests += Number(row.request_count);
      }
    }
    const sum = (of: (pid: number) => number): number => this.#pids.reduce((total, pid) => total + of(pid), 0);
    return {
      atMs: performance.now(),
      cpuSeconds: sum(readCpuSeconds),
      requests,
      writtenBytes: sum(readWrittenBytes),
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.shutdown()));
  }
}

/** The work between two readings, per item, less the idle work of that time. */
export function workBetween(before: Reading, after: Reading, count: number, idleSecond: Work = NO_WORK): Work {
  const seconds = (after.atMs - before.atMs) / 1000;
  const each = (of: (work: Work) => number): number => (of(after) - of(before) - seconds * of(idleSecond)) / count;
  return {
    cpuSeconds: each((work) => work.cpuSeconds),
    requests: each((work) => work.requests),
    writtenBytes: each((work) => work.writtenBytes),
  };
}
