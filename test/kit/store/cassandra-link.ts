// A way to the only node of a Cassandra that others use, too: TCP connections, forwarded within this process. A test
// may silence it, as if the node were paused, or cut it, as if the node had ended.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../../../tools/engines/free-port.ts';
import { waitFor } from '../wait-for.ts';

const PORT = 9042;

export interface CassandraLink {
  readonly contactPoints: readonly string[];
  /** Connections stay open and new ones are accepted, but nothing arrives. */
  silence(): void;
  /** What had not arrived does. */
  resume(): void;
  /** Ends every connection and accepts none. */
  cut(): Promise<void>;
  restore(): Promise<void>;
}

/** Closed by `cut`. */
export async function linkCassandra({
  contactPoints: [host = ''],
}: {
  readonly contactPoints: readonly string[];
}): Promise<CassandraLink> {
  const port = await freePort();
  const pairs = new Set<readonly [Socket, Socket]>();
  let silent = false;
  const join = ([client, node]: readonly [Socket, Socket]): void => {
    client.pipe(node);
    node.pipe(client);
  };
  const server = createServer({ noDelay: true }, (client) => {
    const pair = [client, connect({ host, port: PORT, noDelay: true })] as const;
    pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => {});
      socket.on('close', () => {
        pairs.delete(pair);
        for (const each of pair) each.destroy();
      });
    }
    if (!silent) join(pair);
  });
  const restore = async (): Promise<void> => {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  };
  await restore();
  return {
    contactPoints: [`127.0.0.1:${port}`],
    silence() {
      silent = true;
      for (const [client, node] of pairs) {
        client.unpipe(node).pause();
        node.unpipe(client).pause();
      }
    },
    resume() {
      silent = false;
      for (const pair of pairs) join(pair);
    },
    async cut() {
      server.close();
      for (const [client] of pairs) client.destroy();
      await waitFor('the end of every connection', () => pairs.size === 0);
    },
    restore,
  };
}
