// Where the clients of a load enter a cluster: they call from addresses of the loopback, which lead nowhere else, and
// each goes on from an address of its own in the cluster's network. What happens to a connection behind happens to the
// one in front.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** `127.201.P.C` becomes `10.N.(241 + P).C`: addresses of the host, too. */
const FIRST_CLIENT_NETWORK = 241;

export interface GatewayOptions {
  /** The first two numbers of the cluster's addresses. */
  readonly network: string;
  readonly host: string;
  readonly port: number;
}

export interface ClientGateway {
  readonly url: string;
  close(): void;
}

function clientAddress(network: string, loopback: string): string {
  const [process = '0', client = '1'] = loopback.split('.').slice(2);
  return `${network}.${FIRST_CLIENT_NETWORK + Number(process)}.${client}`;
}

export async function openClientGateway({ network, host, port }: GatewayOptions): Promise<ClientGateway> {
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (inbound) => {
    const localAddress = clientAddress(network, inbound.remoteAddress ?? '');
    const outbound = connect({ host, port, localAddress, noDelay: true, allowHalfOpen: true });
    for (const [from, to] of [
      [inbound, outbound],
      [outbound, inbound],
    ] as const) {
      open.add(from);
      from.pipe(to);
      // A connection that is refused, reset or timed out is one that the client sees break, too.
      from.on('error', () => to.resetAndDestroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port: ownPort } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${ownPort}`,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
