// The network between a client and a server: a TCP proxy that can be cut, be taken away, fall silent for a while, or
// swallow what is sent.

import { type AddressInfo, createServer, type Socket, connect as tcpConnect } from 'node:net';
import type { TestContext } from 'node:test';

export interface TcpLink {
  /** Where the client finds the server: `127.0.0.1:port`. */
  readonly address: string;
  /** Connections that were tried so far. */
  readonly opened: () => number;
  /** Connections that stand now. */
  readonly standing: () => number;
  /** Ends every connection; new ones work. */
  cut(): void;
  /** From now on nothing is forwarded on the connections that stand, and none is closed; new ones work. */
  swallow(): void;
  /** Ends every connection, and every new one at once. */
  takeAway(): void;
  bringBack(): void;
  /** As if the server were paused: connections stay open, new ones are accepted, and nothing arrives until `resume`. */
  silence(): void;
  resume(): void;
  close(): Promise<void>;
}

interface Pair {
  swallowed: boolean;
  readonly sockets: readonly Socket[];
}

/** `target`: `host:port`. With a test, it ends with that. */
export async function startTcpLink(target: string, t?: TestContext): Promise<TcpLink> {
  const { hostname, port } = new URL(`tcp://${target}`);
  const pairs = new Set<Pair>();
  let opened = 0;
  let [away, silent] = [false, false];
  const server = createServer((inbound) => {
    opened += 1;
    inbound.on('error', () => {});
    if (away) {
      inbound.destroy();
      return;
    }
    const outbound = tcpConnect(Number(port), hostname);
    const pair: Pair = { swallowed: false, sockets: [inbound, outbound] };
    pairs.add(pair);
    const forward = (from: Socket, to: Socket): void => {
      from.on('data', (data) => {
        if (!pair.swallowed) to.write(data);
      });
      from.on('close', () => {
        // The client's end is seen even where the link is dead.
        if (from === inbound) pairs.delete(pair);
        if (!pair.swallowed || from === inbound) to.destroy();
      });
    };
    outbound.on('error', () => {});
    forward(inbound, outbound);
    forward(outbound, inbound);
    if (silent) for (const socket of pair.sockets) socket.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const { sockets } of pairs) for (const socket of sockets) socket.destroy();
    pairs.clear();
  };
  const link: TcpLink = {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    opened: () => opened,
    standing: () => pairs.size,
    cut,
    swallow() {
      for (const pair of pairs) pair.swallowed = true;
    },
    takeAway() {
      away = true;
      cut();
    },
    bringBack() {
      away = false;
    },
    silence() {
      silent = true;
      for (const { sockets } of pairs) for (const socket of sockets) socket.pause();
    },
    resume() {
      silent = false;
      for (const { sockets } of pairs) for (const socket of sockets) socket.resume();
    },
    close() {
      cut();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
  t?.after(() => link.close());
  return link;
}
