// One tenant of more grants than a page cache holds, checked by popularity (Zipf): the hit rate of three readers with a
// page cache each, compared with one shard that has three times the page cache. Both get the same checks.

import type { CassandraCluster } from '../../tools/engines/cassandra.ts';
import type { Figure } from '../figure.ts';
import type { PreparedRequest } from '../load/load-job.ts';
import { type BenchContext, CONNECTIONS } from '../scenario.ts';
import { GrantdCluster } from '../server/grantd-cluster.ts';
import { setReaders } from '../server/operator.ts';
import { Zipf } from '../zipf.ts';
import { checkJob, fillOne } from './cluster-load.ts';

const READERS = 3;
const MEBIBYTE = 1024 ** 2;
/** Three caches hold about half of the subjects. */
const SIZED = { grants: 200_000, cacheBytes: 8 * MEBIBYTE, checks: 60_000 };
const SIZED_QUICK = { grants: 50_000, cacheBytes: 2 * MEBIBYTE, checks: 20_000 };
const SEED = 20_261_128;
const STRIDE = 7919;
/** Of what one shard with three times the cache hits: the subjects are not shared out evenly to the byte. */
const HIT_RATE_RATIO_MIN = 0.98;

async function measure(
  context: BenchContext,
  cassandra: CassandraCluster,
  directory: string,
  readers: number,
): Promise<number> {
  const { grants, cacheBytes, checks } = context.quick ? SIZED_QUICK : SIZED;
  const shards = readers + 1;
  const cluster = await GrantdCluster.start({
    cassandra,
    directory,
    keyspace: `pages${readers}`,
    shards,
    fronts: 1,
    environment: { shard: { GRANTD_PAGE_CACHE_BYTES: String(readers === 0 ? READERS * cacheBytes : cacheBytes) } },
  });
  try {
    const { access, data } = await fillOne(context, cluster, grants);
    await setReaders(cluster.addresses, access, readers);
    // The import has left its pages behind.
    await cluster.restartShards();
    const ranks = new Zipf(data.subjects).draws(SEED);
    const drawn = (): readonly PreparedRequest[] =>
      Array.from({ length: checks }, (_, number) => {
        const { tuple, authorized } = data.questionOn((ranks.next().value * STRIDE) % data.subjects, number);
        return { body: JSON.stringify(tuple), expectedStart: `{"authorized":${authorized},`, key: access.key };
      });
    const job = { ...checkJob(cluster, []), connections: CONNECTIONS, mode: { kind: 'each-once' } as const };
    context.progress(`filling the page cache, ${readers} readers`);
    await context.client.run({ ...job, requests: drawn() });
    const read = () => cluster.readShardMetric('grantd_page_lookups_total{result="miss"}');
    const before = await read();
    context.progress(`checks by popularity, ${readers} readers`);
    const { answered } = await context.client.run({ ...job, requests: drawn() });
    const misses = (await read()) - before;
    const evictions = await cluster.readShardMetric('grantd_page_cache_evictions_total');
    if (evictions === 0) throw new Error('All pages fit: the run proves nothing.');
    return 1 - misses / answered;
  } finally {
    await cluster.stop();
  }
}

export async function measureSharedPages(
  context: BenchContext,
  cassandra: CassandraCluster,
  directory: string,
): Promise<readonly Figure[]> {
  const one = await measure(context, cassandra, directory, 0);
  const many = await measure(context, cassandra, directory, READERS);
  const percent = (name: string, hitRate: number): Figure => ({ name, unit: '%', value: 100 * hitRate });
  return [
    {
      name: `hit rate, ${READERS} readers ÷ one shard with ${READERS} × the page cache`,
      unit: '×',
      value: many / one,
      target: { kind: 'at least', value: HIT_RATE_RATIO_MIN },
    },
    percent(`hit rate, ${READERS} readers`, many),
    percent(`hit rate, one shard with ${READERS} × the page cache`, one),
  ];
}
