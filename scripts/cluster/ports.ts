// The ports of a cluster on one machine: fixed, so that printed addresses stay valid. All follow from the first.

import { once } from 'node:events';
import { createServer } from 'node:net';

/** Shards, or fronts: more would show nothing new, and a laptop has few cores. */
export const PARTS_MAX = 9;
export const PORT_DEFAULT = 8080;

/** Where each kind of port begins, from the first port. */
const OFFSETS = { front: 0, console: 10, frontOps: 20, consoleOps: 30, shard: 40, shardOps: 50 } as const;
export const PORTS = 60;

export type PortKind = keyof typeof OFFSETS;

export const portOf = (first: number, kind: PortKind, index = 0): number => first + OFFSETS[kind] + index;

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen({ port, host: '127.0.0.1', exclusive: true }), 'listening');
    return true;
  } catch {
    return false;
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Those among the ports that another program listens on. */
export async function takenPorts(ports: readonly number[]): Promise<number[]> {
  const free = await Promise.all(ports.map(isFree));
  return ports.filter((_port, index) => free[index] === false);
}
