// Addresses of the loopback for one test alone, so that its processes can have fixed ports that no other program takes.

import { createServer } from 'node:net';

const NETWORK_TRIES = 50;
const HELD_PORT = 8081;

export interface LoopbackNetwork {
  /** `127.A.B`; nothing listens on its addresses. */
  readonly network: string;
  release(): void;
}

/** One of which the address that ends in .1 is held until it is released. */
export async function takeNetwork(): Promise<LoopbackNetwork> {
  for (let attempt = 0; attempt < NETWORK_TRIES; attempt += 1) {
    const network = `127.${100 + Math.floor(Math.random() * 100)}.${1 + Math.floor(Math.random() * 250)}`;
    const server = createServer();
    const taken = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen({ host: `${network}.1`, port: HELD_PORT, exclusive: true }, () => resolve(true));
    });
    if (taken) return { network, release: () => server.close() };
  }
  throw new Error('No network of its own was found for the test.');
}
