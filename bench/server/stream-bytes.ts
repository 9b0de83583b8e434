// Bytes transferred over the connections to a local port, as the kernel counts them per connection; read with `ss`.

import { spawnSync } from 'node:child_process';

/** From iproute2. */
const SOCKET_STATISTICS = 'ss';

/** In both directions, over the currently open connections. Undefined if there is no `ss`. */
export function readStreamBytes(address: string): number | undefined {
  const port = address.slice(address.lastIndexOf(':') + 1);
  const { status, stdout } = spawnSync(SOCKET_STATISTICS, ['-tinH', `sport = :${port}`], { encoding: 'utf8' });
  if (status !== 0) return undefined;
  return [...stdout.matchAll(/\bbytes_(?:sent|received):(?<bytes>\d+)/g)].reduce(
    (sum, { groups }) => sum + Number(groups?.bytes),
    0,
  );
}
