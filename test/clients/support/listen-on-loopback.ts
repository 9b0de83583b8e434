// A server on a free port of this machine.

import { once } from 'node:events';
import type { Server } from 'node:net';

/** Resolves to the URL of a server for HTTP. */
export async function listenOnLoopback(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://127.0.0.1:${port}`;
}
