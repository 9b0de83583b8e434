// Where a shard runs, so that its next process knows that this one is over. The kernel lets one socket listen at an
// address, in a network namespace, and closes it when the last thread of its process has ended: whoever listens there
// knows that no earlier process that listened there runs any more. A shard listens from before it is a member until its
// session is over. The id of the boot tells machines and their restarts apart; containers of one pod have one network
// namespace.

import { readFileSync, readlinkSync } from 'node:fs';
import { isIP } from 'node:net';

const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id';
const NETWORK_NAMESPACE_LINK = '/proc/self/ns/net';

/**
 * `address`: host:port at which this process listens. Undefined where it cannot be known: on systems without `/proc`,
 * and for a host name, which may have been another address for the earlier process.
 */
export function readPlace(address: string): string | undefined {
  const host = address.slice(0, address.lastIndexOf(':')).replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) === 0) return undefined;
  try {
    const bootId = readFileSync(BOOT_ID_FILE, 'utf8').trim();
    return [bootId, readlinkSync(NETWORK_NAMESPACE_LINK), address].join(' ');
  } catch {
    return undefined;
  }
}
