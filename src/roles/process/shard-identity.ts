// The name and address under which other processes know a shard, if the settings leave them to the machine.

import { hostname } from 'node:os';
import { isWildcard } from '../../config/cluster-parsers.ts';
import { parseShardName } from '../../config/parsers.ts';
import { WrongSetting } from '../../config/setting.ts';
import type { ShardConfig } from '../../config/settings.ts';
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
