// The minimal cost of a check over HTTP on this machine: the bare echo of the benchmarks, with the same requests.

import { startEcho } from '../../server/echo-process.ts';
import type { System } from './system.ts';

export async function startEchoSystem(): Promise<System> {
  const echo = await startEcho();
  return {
    name: 'bare node:http echo',
    product: 'echo',
    version: process.version,
    settings: [],
    processes: [echo.pid],
    channels: [{ protocol: 'http', address: new URL(echo.url).host }],
    batches: [],
    lists: false,
    durable: false,
    settle: async () => {},
    stop: async () => echo.close(),
  };
}
