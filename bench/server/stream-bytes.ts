// Bytes that have gone through the connections to a local port, as the kernel counts them for each; with the tool `ss`.

import { spawnSync } from 'node:child_process';

/** Of iproute2. */
const SOCKET_STATISTICS = 'ss';

/** Both ways, of the connections that stand now. Undefined where there is no `ss`. */
export function readStreamBytes(address: string): number | undefined {
  const port = address.slice(address.lastIndexOf(':') + 1);
  const { status, stdout } = spawnSync(SOCKET_STATISTICS, ['-tinH', `sport = :${port}`], { encoding: 'utf8' });
  if (status !== 0) return undefined;
  return [...stdout.matchAll(/\bbytes_(?:sent|received):(?<bytes>\d+)/g)].reduce(
    (sum, { groups }) => sum + Number(groups?.bytes),
    0,
  );
}
