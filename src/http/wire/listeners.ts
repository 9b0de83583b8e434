// The sockets on which new connections come: several that share one address (SO_REUSEPORT), since a turn of the event
// loop takes one connection of each. With one, a busy process takes some hundred connections a second, and whoever
// opens many keeps all others waiting. It keeps: an address that another process listens on is refused, as with one
// socket.

import { createServer, type Server, type Socket } from 'node:net';

/** New connections that a turn of the event loop takes, some tens of microseconds each. */
const LISTENERS = 16;

/** What a system without shared addresses says. */
const NOT_SUPPORTED = new Set(['ENOTSUP', 'EINVAL', 'ENOPROTOOPT']);

interface Address {
  readonly host: string;
  readonly port: number;
}

const listen = (server: Server, address: Address, reusePort: boolean): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...address, reusePort }, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });

const close = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

/**
 * Listens on an address that further sockets may share. Rejects where it cannot be bound, or is not this process's
 * alone; false: the system shares no addresses.
 */
export async function listenFirst(server: Server, address: Address): Promise<boolean> {
  // Sockets that share an address do not tell whether another process has it: one that does not share finds out.
  const probe = createServer();
  await listen(probe, address, false);
  const bound = probe.address();
  await close(probe);
  const { host } = address;
  const port = bound === null || typeof bound === 'string' ? address.port : bound.port;
  try {
    await listen(server, { host, port }, true);
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && NOT_SUPPORTED.has(String(error.code)))) throw error;
  }
  await listen(server, { host, port }, false);
  return false;
}

export interface FurtherListeners {
  /** Takes no new connections; resolves once those that it took have ended. */
  close(): Promise<void>;
}

/** Further sockets on the address of the first, whose connections `take` is given. */
export async function listenFurther(address: Address, take: (socket: Socket) => void): Promise<FurtherListeners> {
  // As Node's HTTP server has its connections.
  const servers = Array.from({ length: LISTENERS - 1 }, () =>
    createServer({ allowHalfOpen: true, noDelay: true }, take),
  );
  const closeAll = async (): Promise<void> => {
    await Promise.all(servers.map(close));
  };
  try {
    await Promise.all(servers.map((server) => listen(server, address, true)));
  } catch (error) {
    await closeAll();
    throw error;
  }
  return { close: closeAll };
}
