// For the capacity guide: Cassandra's work for a new grant and for an uncached subject, on one node, and on three with
// three copies. Its idle work is measured first and subtracted. The work for a grant includes writing it to the state
// tables. There are one shard and one front.

import type { CassandraCluster } from '../../tools/engines/cassandra.ts';
import type { DataSet } from '../data-set.ts';
import type { Figure } from '../figure.ts';
import type { PreparedRequest } from '../load/load-job.ts';
import { type BenchContext, CONNECTIONS, GRANTS, type Scenario } from '../scenario.ts';
import { CassandraUse, type Work, workBetween } from '../server/cassandra-use.ts';
import { GrantdCluster } from '../server/grantd-cluster.ts';
import { delay } from '../server/grantd-process.ts';
import {
  type ClusterRound,
  checkJob,
  figureOf,
  fillOne,
  measureCluster,
  perSecondOf,
  startCassandraFor,
} from './cluster-load.ts';

interface StoreSubject {
  readonly cluster: GrantdCluster;
  readonly use: CassandraUse;
  readonly data: DataSet;
  readonly key: string;
  /** One question about every subject of the tenant. */
  readonly questions: readonly PreparedRequest[];
}

const NODES = [1, 3];
const NODES_QUICK = [1];
const GRANTS_QUICK = 10_000;
const IDLE_MS = 6000;
const IDLE_MS_QUICK = 2000;
const ROUNDS_COLD_MAX = 3;
const GRANTS_ALONE = 500;
const GRANTS_TOGETHER = 10_000;
const GRANTS_ALONE_QUICK = 100;
const GRANTS_TOGETHER_QUICK = 5000;

interface StoreRound extends ClusterRound {
  /** Per request. */
  readonly work: Work;
  readonly operationsPerAppend: number;
  /** Rows of the state tables per grant. */
  readonly rows: number;
}

const workFigures = (what: string, rounds: readonly { readonly work: Work }[]): readonly Figure[] => [
  figureOf(`CPU of Cassandra per ${what}`, 'µs', rounds, ({ work }) => work.cpuSeconds * 1e6),
  figureOf(`requests to Cassandra per ${what}`, '', rounds, ({ work }) => work.requests),
  figureOf(`bytes that Cassandra writes per ${what}`, 'bytes', rounds, ({ work }) => work.writtenBytes),
];

async function measureIdle(context: BenchContext, { use }: StoreSubject): Promise<Work> {
  context.progress('without work');
  const before = await use.read();
  await delay(context.quick ? IDLE_MS_QUICK : IDLE_MS);
  const after = await use.read();
  return workBetween(before, after, (after.atMs - before.atMs) / 1000);
}

/** The shard has just started: every question reads its subject from Cassandra. */
async function measureCold(context: BenchContext, subject: StoreSubject, idle: Work): Promise<readonly Figure[]> {
  const { cluster, use, questions } = subject;
  const rounds: (ClusterRound & { readonly work: Work })[] = [];
  for (let round = 1; round <= Math.min(ROUNDS_COLD_MAX, context.rounds); round += 1) {
    context.progress(`cold subjects, round ${round}`);
    await cluster.restartShards();
    const missesBefore = await cluster.readShardMetric('grantd_page_lookups_total{result="miss"}');
    const before = await use.read();
    const measured = await measureCluster(context, cluster, checkJob(cluster, questions), { kind: 'each-once' });
    const after = await use.read();
    const misses = (await cluster.readShardMetric('grantd_page_lookups_total{result="miss"}')) - missesBefore;
    if (misses < questions.length) throw new Error(`Of ${questions.length} subjects only ${misses} were read cold.`);
    rounds.push({ ...measured, work: workBetween(before, after, questions.length, idle) });
  }
  return [
    figureOf('cold subjects', '/s', rounds, perSecondOf),
    figureOf('CPU per cold subject, shard', 'µs', rounds, ({ shardMicros }) => shardMicros),
    ...workFigures('cold subject of 10 grants', rounds),
  ];
}

async function measureGrants(
  context: BenchContext,
  { cluster, use, data, key }: StoreSubject,
  writers: number,
  idle: Work,
  takeNumbers: (count: number) => number,
): Promise<readonly Figure[]> {
  const together = context.quick ? GRANTS_TOGETHER_QUICK : GRANTS_TOGETHER;
  const count = writers > 1 ? together : context.quick ? GRANTS_ALONE_QUICK : GRANTS_ALONE;
  const what = writers > 1 ? `grant, ${writers} writers` : 'grant, one writer';
  const sum = (): Promise<number> => cluster.readShardMetric('grantd_append_batch_operations_sum');
  const appends = (): Promise<number> => cluster.readShardMetric('grantd_append_batch_operations_count');
  const rows = (): Promise<number> => cluster.readShardMetric('grantd_state_writes_total');
  const write = async (): Promise<StoreRound> => {
    const start = takeNumbers(count);
    const requests = Array.from({ length: count }, (_, index) => ({
      body: JSON.stringify(data.newGrant(start + index)),
      expectedStart: '{"grant_id":"grt_',
      key,
    }));
    const job = { ...checkJob(cluster, requests), path: '/v1/grants', expectedStatus: 201, connections: writers };
    const [sumBefore, appendsBefore, rowsBefore] = [await sum(), await appends(), await rows()];
    const before = await use.read();
    const measured = await measureCluster(context, cluster, job, { kind: 'each-once' });
    await cluster.waitForCheckpoint();
    const after = await use.read();
    return {
      ...measured,
      work: workBetween(before, after, count, idle),
      operationsPerAppend: ((await sum()) - sumBefore) / ((await appends()) - appendsBefore),
      rows: ((await rows()) - rowsBefore) / count,
    };
  };
  context.progress(`a ${what}: warming up`);
  await write();
  const rounds: StoreRound[] = [];
  for (let round = 1; round <= context.rounds; round += 1) {
    context.progress(`a ${what}: round ${round} of ${context.rounds}`);
    rounds.push(await write());
  }
  return [
    figureOf(`acknowledged, ${what}`, '/s', rounds, perSecondOf),
    figureOf(`p99, ${what}`, 'ms', rounds, ({ latencyMs }) => latencyMs.p99),
    figureOf(`grants in one append, ${what}`, 'grants', rounds, ({ operationsPerAppend }) => operationsPerAppend),
    figureOf(`CPU per ${what}, front`, 'µs', rounds, ({ frontMicros }) => frontMicros),
    figureOf(`CPU per ${what}, shard until the last answer`, 'µs', rounds, ({ shardMicros }) => shardMicros),
    ...workFigures(what, rounds),
    figureOf(`rows of the state tables per ${what}`, 'rows', rounds, (round) => round.rows),
  ];
}

async function measureNodes(
  context: BenchContext,
  cassandra: CassandraCluster,
  cluster: GrantdCluster,
): Promise<readonly Figure[]> {
  const { access, data, requests } = await fillOne(context, cluster, context.quick ? GRANTS_QUICK : GRANTS);
  const use = new CassandraUse(cassandra);
  try {
    const subject = { cluster, use, data, key: access.key, questions: requests };
    const idle = await measureIdle(context, subject);
    let next = 0;
    const takeNumbers = (count: number): number => {
      next += count;
      return next - count;
    };
    return [
      { name: 'processors that Cassandra keeps busy without work', value: idle.cpuSeconds, unit: '' },
      { name: 'requests to Cassandra without work', value: idle.requests, unit: '/s' },
      ...(await measureCold(context, subject, idle)),
      ...(await measureGrants(context, subject, 1, idle, takeNumbers)),
      ...(await measureGrants(context, subject, CONNECTIONS, idle, takeNumbers)),
    ];
  } finally {
    await use.close();
  }
}

export const cassandraScenario: Scenario = {
  name: 'cassandra',
  summary: 'what Cassandra does for a grant and for a cold read, on one node and on three',
  async run(context) {
    const found: Figure[] = [];
    for (const nodes of context.quick ? NODES_QUICK : NODES) {
      await using parts = new AsyncDisposableStack();
      const cassandra = await startCassandraFor(context, nodes);
      parts.defer(() => cassandra.stop());
      const directory = context.createDirectory();
      const cluster = await GrantdCluster.start({ cassandra, keyspace: 'grantd', shards: 1, fronts: 1, directory });
      parts.defer(() => cluster.stop());
      const figures = await measureNodes(context, cassandra, cluster);
      found.push(...figures.map((figure) => ({ ...figure, name: `${figure.name}, ${nodes} × Cassandra` })));
    }
    return found;
  },
};
