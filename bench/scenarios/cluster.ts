// grantd as a cluster of processes on one node of Cassandra: the cost of many processes, and the figures of the
// capacity guide for fronts and shards.

import type { Figure } from '../figure.ts';
import { type BenchContext, GRANTS, type Scenario } from '../scenario.ts';
import { GrantdCluster } from '../server/grantd-cluster.ts';
import { measureBulks, measureSingles, measureTenant } from './cluster-capacity.ts';
import { fillEvenly, fillOne, startCassandraFor } from './cluster-load.ts';
import { CPU_RATIO_MAX, measureSpread } from './cluster-spread.ts';

const TENANTS_PER_SHARD = 32;
const TENANTS_PER_SHARD_QUICK = 8;
const GRANTS_QUICK = 10_000;

async function run(context: BenchContext): Promise<readonly Figure[]> {
  await using parts = new AsyncDisposableStack();
  const directory = context.createDirectory();
  const cassandra = await startCassandraFor(context, 1);
  parts.defer(() => cassandra.stop());
  context.progress('starting 1 shard + 1 front, and 4 shards + 2 fronts');
  const common = { cassandra, directory };
  const one = await GrantdCluster.start({ ...common, keyspace: 'one', shards: 1, fronts: 1 });
  parts.defer(() => one.stop());
  const many = await GrantdCluster.start({ ...common, keyspace: 'many', shards: 4, fronts: 2 });
  parts.defer(() => many.stop());
  const tenants = context.quick ? TENANTS_PER_SHARD_QUICK : TENANTS_PER_SHARD;
  const oneSide = { cluster: one, job: await fillEvenly(context, one, tenants) };
  const manySide = { cluster: many, job: await fillEvenly(context, many, tenants) };
  const spread = await measureSpread(context, oneSide, manySide);
  // The next measurements concern one shard, and nothing else should run.
  await many.stop();

  const singles = await measureSingles(context, oneSide);
  const { requests } = await fillOne(context, one, context.quick ? GRANTS_QUICK : GRANTS);
  const bulks = await measureBulks(context, one, requests);
  const throughOne = await measureTenant(context, one, requests);
  await one.startFront();
  const throughTwo = await measureTenant(context, one, requests);
  return [...spread, ...singles, ...bulks, ...throughOne, ...throughTwo];
}

export const clusterScenario: Scenario = {
  name: 'cluster',
  summary: `processes over Cassandra: CPU per check with 4 shards and 2 fronts ≤ ${CPU_RATIO_MAX} × that with 1 and 1`,
  run,
};
