// A process's settings against what the cluster was made with. A process that differs does not start: two views of
// which slot a tenant is in, or of which writes exclude each other, would be two truths.

import type { ShardConfig } from '../../config/settings.ts';
import type { Meta } from '../../store/store.ts';
import { StartError } from '../process/start-error.ts';

type ClusterSettings = Pick<ShardConfig, 'slots' | 'serialLevel' | 'localDatacenter'>;

/** The datacentre that is fixed with a serial level: under `SERIAL`, shards may be in several. */
export function datacentreOf(config: Pick<ShardConfig, 'serialLevel' | 'localDatacenter'>): string {
  return config.serialLevel === 'LOCAL_SERIAL' ? config.localDatacenter : '';
}

function findDifferences(config: ClusterSettings, meta: Meta): string[] {
  const differences: string[] = [];
  const { slots, serialLevel } = config;
  if (slots !== undefined && slots !== meta.slots) {
    differences.push(`GRANTD_SLOTS is ${slots}, but the cluster was created with ${meta.slots}.`);
  }
  if (serialLevel !== meta.serialLevel) {
    differences.push(
      `GRANTD_CASSANDRA_SERIAL_LEVEL is ${serialLevel}, but the cluster was created with ${meta.serialLevel}.`,
    );
  } else if (datacentreOf(config) !== meta.datacentre) {
    differences.push(
      `GRANTD_CASSANDRA_LOCAL_DATACENTER is ${config.localDatacenter}, but the cluster was created with ${meta.datacentre}. With LOCAL_SERIAL, every shard must use the same datacenter.`,
    );
  }
  return differences;
}

/** Throws a StartError that names every setting that differs from the cluster's. */
export function requireSameCluster(config: ClusterSettings, meta: Meta): void {
  const differences = findDifferences(config, meta);
  if (differences.length === 0) return;
  throw new StartError(
    ['These settings differ from those of the cluster, which cannot be changed:', ...differences].join('\n  '),
  );
}
