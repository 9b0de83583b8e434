// grantd as a cluster of processes on one node of Cassandra: what many processes cost, what a check and an idle second
// cost in clusters of three sizes, and the figures of the capacity guide for one front and one shard. Each part starts
// what it needs, so that each can be measured again alone.

import type { CassandraCluster } from '../../tools/engines/cassandra.ts';
import type { Figure } from '../figure.ts';
import { type BenchContext, GRANTS, type Scenario } from '../scenario.ts';
import { GrantdCluster } from '../server/grantd-cluster.ts';
import { measureBulks, measureSingles, measureTenant } from './cluster-capacity.ts';
import { fillEvenly, fillOne, startCassandraFor } from './cluster-load.ts';
import { measureSize, messageFigures } from './cluster-sizes.ts';
import { CPU_RATIO_MAX, measureSpread, SATURATED_RATIO_MAX } from './cluster-spread.ts';

const TENANTS_PER_SHARD = 16;
const TENANTS_PER_SHARD_QUICK = 8;
const GRANTS_QUICK = 10_000;
/** So that the memory of a check is the same in each. */
const TENANTS_OF_EACH_SIZE = 40;

async function startCluster(
  context: BenchContext,
  parts: AsyncDisposableStack,
  cassandra: CassandraCluster,
  { shards, fronts }: { readonly shards: number; readonly fronts: number },
): Promise<GrantdCluster> {
  context.progress(`starting shards: ${shards}, fronts: ${fronts}`);
  const keyspace = `of_${shards}_${fronts}`;
  const directory = context.createDirectory();
  const cluster = await GrantdCluster.start({ cassandra, directory, keyspace, shards, fronts });
  parts.defer(() => cluster.stop());
  return cluster;
}

async function runSpread(context: BenchContext, cassandra: CassandraCluster): Promise<readonly Figure[]> {
  await using parts = new AsyncDisposableStack();
  const one = await startCluster(context, parts, cassandra, { shards: 1, fronts: 1 });
  const many = await startCluster(context, parts, cassandra, { shards: 4, fronts: 2 });
  const tenants = context.quick ? TENANTS_PER_SHARD_QUICK : TENANTS_PER_SHARD;
  const oneSide = { cluster: one, job: await fillEvenly(context, one, tenants) };
  return await measureSpread(context, oneSide, { cluster: many, job: await fillEvenly(context, many, tenants) });
}

async function runCapacity(context: BenchContext, cassandra: CassandraCluster): Promise<readonly Figure[]> {
  await using parts = new AsyncDisposableStack();
  const cluster = await startCluster(context, parts, cassandra, { shards: 1, fronts: 1 });
  const job = await fillEvenly(context, cluster, context.quick ? TENANTS_PER_SHARD_QUICK : TENANTS_PER_SHARD);
  const singles = await measureSingles(context, { cluster, job });
  const { requests } = await fillOne(context, cluster, context.quick ? GRANTS_QUICK : GRANTS);
  const bulks = await measureBulks(context, cluster, requests);
  const throughOne = await measureTenant(context, cluster, requests);
  await cluster.startFront();
  const throughTwo = await measureTenant(context, cluster, requests);
  return [...singles, ...bulks, ...throughOne, ...throughTwo];
}

interface Part {
  readonly name: string;
  readonly summary: string;
  readonly run: (context: BenchContext, cassandra: CassandraCluster) => Promise<readonly Figure[]>;
}

const ofSize = (shards: number, fronts: number): Part => ({
  name: `${shards}+${fronts}`,
  summary: `what a check, a message and an idle second cost: shards ${shards}, fronts ${fronts}`,
  async run(context, cassandra) {
    await using parts = new AsyncDisposableStack();
    const cluster = await startCluster(context, parts, cassandra, { shards, fronts });
    const job = await fillEvenly(context, cluster, TENANTS_OF_EACH_SIZE / shards);
    return await measureSize(context, { cluster, job });
  },
});

const PARTS: readonly Part[] = [
  { name: 'spread', summary: 'four shards and two fronts in turns with one of each', run: runSpread },
  ofSize(1, 1),
  ofSize(4, 2),
  ofSize(10, 2),
  { name: 'capacity', summary: 'one front and one shard: single checks, bulks, one tenant', run: runCapacity },
];

export const clusterScenario: Scenario = {
  name: 'cluster',
  summary: `processes over Cassandra: CPU per check with 4 shards and 2 fronts ≤ ${CPU_RATIO_MAX} × that with 1 and 1, saturated ≤ ${SATURATED_RATIO_MAX} ×`,
  parts: PARTS,
  async run(context) {
    const found: Figure[] = [];
    for (const part of PARTS) {
      if (context.only.length > 0 && !context.only.includes(part.name)) continue;
      // One for each part: what an earlier cluster wrote would be flushed and compacted beside the next.
      await using parts = new AsyncDisposableStack();
      const cassandra = await startCassandraFor(context, 1);
      parts.defer(() => cassandra.stop());
      found.push(...(await part.run(context, cassandra)));
    }
    return [...found, ...messageFigures(found)];
  },
};
