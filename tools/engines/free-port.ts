// Finds free loopback ports for programs that need a fixed port. They are below those that the system itself assigns to
// connections and to listeners on port 0: concurrent tests could take such a port in between.

import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const PORT_MIN = 10_000;
/** If the system does not say otherwise: the dynamic ports of RFC 6335. */
const SYSTEM_PORT_MIN = 49_152;
const SYSTEM_PORTS = '/proc/sys/net/ipv4/ip_local_port_range';
const systemMin = existsSync(SYSTEM_PORTS) ? Number.parseInt(readFileSync(SYSTEM_PORTS, 'utf8'), 10) : SYSTEM_PORT_MIN;
/** If the system reserves nearly all ports for itself, too few remain, and one of its own is no worse. */
const portEnd = systemMin > 2 * PORT_MIN ? systemMin : 65_536;

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return true;
  } catch {
    return false;
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/** All different. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = PORT_MIN + Math.floor(Math.random() * (portEnd - PORT_MIN));
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}
