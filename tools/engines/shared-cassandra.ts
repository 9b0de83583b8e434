// One Cassandra for a whole run of tests: the runner of tests owns it, and starts it when the first test requests it
// over a socket. A test file that runs without the runner starts one of its own. Each test file works in a keyspace of
// its own and never kills or pauses the node.

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type CassandraCluster, startCassandra } from './cassandra.ts';

/** The variable with the path of the socket; it is no setting of the program. */
const SOCKET = 'TEST_CASSANDRA';

export interface SharedCassandra {
  readonly contactPoints: readonly string[];
  readonly localDatacenter: string;
  /** Used by no other test, and not yet created. */
  readonly keyspace: string;
  /** Ends the node if it is this test's own. */
  release(): Promise<void>;
}

const newKeyspace = (): string => `test_${Date.now().toString(36)}_${process.pid}`;

/** One node with the defaults of `startCassandra`. Call it once for a test file. */
export async function shareCassandra(): Promise<SharedCassandra> {
  const socketPath = process.env[SOCKET];
  if (socketPath === undefined) {
    const { contactPoints, localDatacenter, stop } = await startCassandra({ nodes: 1 });
    return { contactPoints, localDatacenter, keyspace: newKeyspace(), release: stop };
  }
  const [response] = await once(request({ socketPath }).end(), 'response');
  const answer = await text(response);
  if (response.statusCode !== 200) throw new Error(answer);
  return { ...JSON.parse(answer), keyspace: newKeyspace(), release: async () => {} };
}

/**
 * Owns the node that tests share, from the first request until `stop`. Child processes find it by the environment.
 */
export async function keepSharedCassandra(): Promise<{ readonly started: boolean; stop(): Promise<void> }> {
  let cluster: Promise<CassandraCluster> | undefined;
  const directory = mkdtempSync(join(tmpdir(), 'grantd-engines-'));
  const socketPath = join(directory, 'cassandra');
  const server = createServer(async (_request, response) => {
    try {
      cluster ??= startCassandra({ nodes: 1 });
      const { contactPoints, localDatacenter } = await cluster;
      response.end(JSON.stringify({ contactPoints, localDatacenter }));
    } catch (error) {
      response.writeHead(500).end(error instanceof Error ? error.message : String(error));
    }
  });
  server.listen(socketPath);
  await once(server, 'listening');
  process.env[SOCKET] = socketPath;
  return {
    get started() {
      return cluster !== undefined;
    },
    stop: async () => {
      delete process.env[SOCKET];
      server.close();
      await cluster?.then(({ stop }) => stop()).catch(() => {});
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
