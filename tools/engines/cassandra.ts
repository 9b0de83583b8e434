// A real Cassandra for tests: a cluster on loopback whose nodes can be killed, paused and restarted. A shell
// (cassandra.sh) runs the nodes and ends them when this process ends, however it ends.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { missingFor, ObedientScript, provide } from './engine-script.ts';

const SCRIPT = join(import.meta.dirname, 'cassandra.sh');

export interface CassandraClusterOptions {
  readonly nodes: number;
  /** Passwords and rights; the first role is cassandra/cassandra. */
  readonly auth?: boolean;
  /** Clients use TLS and present a certificate. */
  readonly tls?: boolean;
  /** Default: batch. */
  readonly commitlogSync?: 'batch' | 'periodic';
  /** Default: v2. */
  readonly paxosVariant?: 'v1' | 'v2';
  /** For the data, which is kept at the end and found at the next start; by default a folder that is removed. */
  readonly directory?: string;
}

export interface CassandraCluster {
  /** Of node 1, node 2 and so on. */
  readonly contactPoints: readonly string[];
  readonly localDatacenter: string;
  readonly credentials?: { readonly username: string; readonly password: string };
  /** PEM strings. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string };
  /** `kill -9`; the data stays. Nodes are numbered from 1. Resolves when they have ended. */
  kill(...nodes: number[]): Promise<void>;
  /**
   * Starts nodes on their data, after killing those that run. Resolves when they respond and see the other running
   * nodes.
   */
  restart(...nodes: number[]): Promise<void>;
  /** SIGSTOP. */
  pause(...nodes: number[]): Promise<void>;
  /** SIGCONT. */
  resume(...nodes: number[]): Promise<void>;
  /** Ends every node and removes the data. */
  stop(): Promise<void>;
}

/** Undefined if a cluster can be started, otherwise why not. The first call on a machine takes a minute. */
export function missingCassandra(what: string): Promise<string | undefined> {
  const reason = 'Cassandra is not available on this machine: Java 17, Maven or its jars are missing.';
  return missingFor(what, reason, SCRIPT, ['install']);
}

/** Installs it if need be. Resolves to false if this machine cannot have it. */
export const provideCassandra = (): Promise<boolean> => provide(SCRIPT, ['install']);

/** Resolves when every node responds and sees every other: about 6 s for one, 13 s for three. */
export async function startCassandra(options: CassandraClusterOptions): Promise<CassandraCluster> {
  const script = await ObedientScript.start('Cassandra', SCRIPT, ['serve', String(options.nodes)], {
    environment: {
      CASSANDRA_AUTH: options.auth === true ? '1' : '',
      CASSANDRA_TLS: options.tls === true ? '1' : '',
      CASSANDRA_SYNC: options.commitlogSync ?? 'batch',
      CASSANDRA_PAXOS: options.paxosVariant ?? 'v2',
      CASSANDRA_DIRECTORY: options.directory ?? '',
    },
  });
  const [net = '', directory = ''] = script.facts;
  const command = (name: string, nodes: readonly number[]): Promise<void> => script.command(name, ...nodes.map(String));
  const pem = (name: string): string => readFileSync(join(directory, `${name}.pem`), 'utf8');
  return {
    contactPoints: Array.from({ length: options.nodes }, (_, index) => `127.0.${net}.${index + 1}`),
    localDatacenter: 'datacenter1',
    ...(options.auth === true ? { credentials: { username: 'cassandra', password: 'cassandra' } } : {}),
    ...(options.tls === true ? { tls: { ca: pem('ca'), cert: pem('client'), key: pem('client-key') } } : {}),
    kill: (...nodes) => command('kill', nodes),
    restart: (...nodes) => command('restart', nodes),
    pause: (...nodes) => command('pause', nodes),
    resume: (...nodes) => command('resume', nodes),
    stop: () => script.stop(),
  };
}
