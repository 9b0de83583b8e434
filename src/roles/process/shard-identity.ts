// How other processes identify a shard: its name and address, if the settings leave them to the machine, and its place.

import { readFileSync, readlinkSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { isWildcard } from '../../config/cluster-parsers.ts';
import { parseShardName } from '../../config/parsers.ts';
import { WrongSetting } from '../../config/setting.ts';
import type { ShardConfig } from '../../config/settings.ts';
import { splitAddress } from '../../core/text/addresses.ts';
import { StartError } from './start-error.ts';

/** The stable name of the shard: as set, otherwise the host name. */
export function resolveShardName(config: Pick<ShardConfig, 'shardName'>, hostName = hostname()): string {
  if (config.shardName !== undefined) return config.shardName;
  try {
    return parseShardName(hostName.toLowerCase());
  } catch (error) {
    if (!(error instanceof WrongSetting)) throw error;
    throw new StartError(`The host name is not a valid shard name: it ${error.message}. Set GRANTD_SHARD_NAME.`);
  }
}

/**
 * Where others dial a server that is bound to `bound`: as set, otherwise the bound host, or the host name for a
 * wildcard.
 */
export function resolveAdvertised(
  config: Pick<ShardConfig, 'rpcAdvertise'>,
  bound: string,
  hostName = hostname(),
): string {
  if (config.rpcAdvertise !== undefined) return config.rpcAdvertise;
  return isWildcard(bound) ? `${hostName}${bound.slice(bound.lastIndexOf(':'))}` : bound;
}

const LOOP_BACK_HOSTS: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['0', '127.0.0.1'],
  ['::', '[::1]'],
]);

/** The address at which a process dials its own server that listens on `address`. */
export function loopBackAddress(address: string): string {
  const { host, port } = splitAddress(address);
  return `${LOOP_BACK_HOSTS.get(host) ?? (host.includes(':') ? `[${host}]` : host)}:${port}`;
}

// ---- the place of a shard ----
//
// The place proves to the next process of a shard that the previous one has ended. The kernel lets one socket listen at
// an address in a network namespace, and closes it when the last thread of its process has ended. So once a process
// listens there, no earlier process that listened there still runs. A shard listens from before it is a member until
// its session has ended. The boot id distinguishes machines and their restarts; containers of one pod share a network
// namespace.

const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id';
const NETWORK_NAMESPACE_LINK = '/proc/self/ns/net';

/**
 * `address`: host:port at which this process listens. Undefined if the place cannot be known: on systems without
 * `/proc`, and for a host name, which may have resolved to another address for the previous process.
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
