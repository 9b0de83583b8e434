// A TCP proxy that can stop forwarding without closing anything, as a network that swallows packets does.

import type { AddressInfo } from 'node:net';
import { createServer, type Socket, connect as tcpConnect } from 'node:net';
import type { TestContext } from 'node:test';

export interface BlackHoleProxy {
  readonly address: string;
  /** Connections that were opened so far. */
  readonly opened: () => number;
  /** From now on nothing is forwarded on the connections that are open; new ones work. */
  swallow(): void;
  /** Cuts every connection. */
  cut(): void;
}

export async function startBlackHoleProxy(t: TestContext, target: string): Promise<BlackHoleProxy> {
  const [host = '', port = ''] = target.split(':');
  const pairs = new Set<{ swallowed: boolean; readonly sockets: readonly Socket[] }>();
  let opened = 0;
  const server = createServer((inbound) => {
    opened += 1;
    const outbound = tcpConnect(Number(port), host);
    const pair = { swallowed: false, sockets: [inbound, outbound] };
    pairs.add(pair);
    const forward = (from: Socket, to: Socket): void => {
      from.on('data', (data) => {
        if (!pair.swallowed) to.write(data);
      });
      from.on('close', () => {
        if (!pair.swallowed) to.destroy();
      });
      from.on('error', () => {});
    };
    forward(inbound, outbound);
    forward(outbound, inbound);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const destroyAll = (): void => {
    for (const { sockets } of pairs) for (const socket of sockets) socket.destroy();
    pairs.clear();
  };
  t.after(() => {
    destroyAll();
    server.close();
  });
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    opened: () => opened,
    swallow: () => {
      for (const pair of pairs) pair.swallowed = true;
    },
    cut: destroyAll,
  };
}
