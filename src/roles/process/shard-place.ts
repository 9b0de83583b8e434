// The place of a shard, by which its next process knows that the previous one has ended. The kernel lets one socket
// listen at an address in a network namespace, and closes it when the last thread of its process has ended. So a
// process that listens there knows that no earlier process that listened there still runs. A shard listens from before
// it is a member until its session has ended. The boot id distinguishes machines and their restarts; containers of one
// pod share a network namespace.

import { readFileSync, readlinkSync } from 'node:fs';
import { isIP } from 'node:net';

const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id';
const NETWORK_NAMESPACE_LINK = '/proc/self/ns/net';

/**
 * `address`: host:port at which this process listens. Undefined if the place cannot be known: on systems without
 * `/proc`, and for a host name, which may have meant another address for the previous process.
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
