// A TCP proxy that holds everything back for a while, as a long way does.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket, connect as tcpConnect } from 'node:net';

export interface SlowProxy {
  readonly address: string;
  close(): void;
}

/** Whatever is sent, in either direction, arrives half of `roundTripMs` later. */
export async function startSlowProxy(target: string, roundTripMs: number): Promise<SlowProxy> {
  const [host = '', port = ''] = target.split(':');
  const sockets = new Set<Socket>();
  const forward = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.setNoDelay(true);
    from.on('data', (data) => setTimeout(() => to.write(data), roundTripMs / 2));
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    from.on('error', () => {});
  };
  const server = createServer((inbound) => {
    const outbound = tcpConnect(Number(port), host);
    forward(inbound, outbound);
    forward(outbound, inbound);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
