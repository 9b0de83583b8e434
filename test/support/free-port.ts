// Ports of the loopback on which nothing listens now, for programs that have to be told one. They lie below those that the
// system itself gives to connections and to listeners on port 0: those of the tests beside would take them in between.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const PORT_MIN = 10_000;
const SYSTEM_PORTS = '/proc/sys/net/ipv4/ip_local_port_range';
const [systemMin = 0] = readFileSync(SYSTEM_PORTS, 'utf8').trim().split(/\s+/).map(Number);
/** So few are left where the system takes nearly all that one of its own is no worse. */
const portEnd = systemMin > 2 * PORT_MIN ? systemMin : 65_536;

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
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
