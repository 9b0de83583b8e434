// The sockets that accept new connections: several share one address (SO_REUSEPORT), since a turn of the event loop
// accepts one connection from each. With one socket, a busy process accepts a few hundred connections a second, and a
// client that opens many delays all others. Invariant: an address on which another process listens is refused, as with
// one socket.

import { createServer, type Server, type Socket } from 'node:net';

/** New connections that a turn of the event loop accepts, tens of microseconds each. */
const LISTENERS = 16;

/** Errors of a system without shared addresses. */
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
 * Listens on an address that further sockets may share. Rejects if the address cannot be bound, or if another process
 * has it; false: the system shares no addresses.
 */
export async function listenFirst(server: Server, address: Address): Promise<boolean> {
  // A socket that shares its address does not notice that another process has it, so a probe without sharing binds it
  // first.
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

/** Listens on an address that another thread of this process has found free, and shares. */
export async function listenJoining(server: Server, address: Address): Promise<true> {
  await listen(server, address, true);
  return true;
}

export interface FurtherListeners {
  /** Accepts no new connections; resolves once the accepted ones have ended. */
  close(): Promise<void>;
}

/** Opens further sockets on the address of the first, and passes their connections to `take`. */
export async function listenFurther(address: Address, take: (socket: Socket) => void): Promise<FurtherListeners> {
  // The options with which Node's HTTP server accepts connections.
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
