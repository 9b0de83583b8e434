// What a check costs in a cluster of some size, apart from what the same cluster takes without any: processor time of
// its fronts and of its shards, by the number of checks that share a message. Of the saturated loads follow what a
// check costs by itself, and what a message costs, which its checks share.

import type { Figure } from '../figure.ts';
import type { LoadJob } from '../load/load-job.ts';
import { type BenchContext, CONNECTIONS } from '../scenario.ts';
import type { GrantdCluster } from '../server/grantd-cluster.ts';
import { delay } from '../server/grantd-process.ts';
import { cpuSecondsBetween, findDescendants, readCpuOfAll } from '../server/resource-use.ts';
import { fitLine } from '../statistics.ts';
import { type CheckJob, type ClusterRound, figureOf, measureCluster, paced, perSecondOf } from './cluster-load.ts';
import type { Side } from './cluster-spread.ts';

const IDLE_MS = 10_000;
const IDLE_MS_QUICK = 3000;
/** Until the code of ten shards, each with a tenth of the load, is fully compiled. */
const WARM_UP_MS = 8000;
const WARM_UP_MS_QUICK = 2000;
const SHARING = 'checks per message';
const BATCHES = 'grantd_stream_batch_checks';
const MANY_CONNECTIONS = 4 * CONNECTIONS;
const PER_SECOND = [2000, 4600];
/** In the rows of saturated loads. */
const SATURATED = 'connections for each front';
/** Two sizes have so many. */
const FITTED_MIN = 4;

/** Processors kept busy without load, by all processes of a kind. */
interface Idle {
  readonly front: number;
  readonly shard: number;
  readonly console: number;
  readonly cassandra: number;
}

interface SizeRound extends ClusterRound {
  readonly checksPerMessage: number;
}

interface Load {
  readonly name: string;
  readonly job: CheckJob;
  readonly mode: LoadJob['mode'];
}

async function measureIdle(context: BenchContext, { fronts, shards, console }: GrantdCluster): Promise<Idle> {
  context.progress('without load');
  const idleMs = context.quick ? IDLE_MS_QUICK : IDLE_MS;
  const before = readCpuOfAll();
  await delay(idleMs);
  const after = readCpuOfAll();
  const processors = (pids: readonly number[]): number => {
    const ofThese = new Map(pids.map((pid) => [pid, after.get(pid) ?? Number.NaN]));
    return cpuSecondsBetween(before, ofThese) / (idleMs / 1000);
  };
  return {
    front: processors(fronts.map(({ pid }) => pid)),
    shard: processors(shards.map(({ pid }) => pid)),
    console: processors([console.pid]),
    cassandra: processors(findDescendants('CassandraDaemon')),
  };
}

const readBatches = async (cluster: GrantdCluster, count: 'sum' | 'count'): Promise<number> =>
  (await cluster.readMetrics(`${BATCHES}_${count}`, cluster.fronts)).reduce((total, value) => total + value, 0);

async function measureLoad(
  context: BenchContext,
  cluster: GrantdCluster,
  { job, mode }: Load,
  idle: Idle,
): Promise<SizeRound> {
  const [checksBefore, messagesBefore] = [await readBatches(cluster, 'sum'), await readBatches(cluster, 'count')];
  const round = await measureCluster(context, cluster, job, mode);
  const [checks, messages] = [await readBatches(cluster, 'sum'), await readBatches(cluster, 'count')];
  const idleMicros = (processors: number): number => (processors * round.seconds * 1e6) / round.answered;
  return {
    ...round,
    frontMicros: round.frontMicros - idleMicros(idle.front),
    shardMicros: round.shardMicros - idleMicros(idle.shard),
    checksPerMessage: (checks - checksBefore) / (messages - messagesBefore),
  };
}

export async function measureSize(context: BenchContext, { cluster, job }: Side): Promise<readonly Figure[]> {
  const { durationMs, client } = context;
  const { fronts, shards } = cluster;
  await client.run({ ...job, mode: { kind: 'each-once' } });
  await client.run({
    ...job,
    mode: { kind: 'saturate', durationMs: context.quick ? WARM_UP_MS_QUICK : WARM_UP_MS },
  });
  const idle = await measureIdle(context, cluster);
  const withConnections = (connections: number): CheckJob => ({ ...job, connections: connections * fronts.length });
  const loads: readonly Load[] = [
    ...[CONNECTIONS, MANY_CONNECTIONS].map((connections) => ({
      name: `${connections} ${SATURATED}`,
      job: withConnections(connections),
      mode: { kind: 'saturate', durationMs } as const,
    })),
    ...PER_SECOND.map((perSecond) => ({
      name: `${perSecond}/s`,
      job: withConnections(CONNECTIONS),
      mode: paced({ perSecond, durationMs }),
    })),
  ];
  const rounds = new Map<Load, SizeRound[]>(loads.map((load) => [load, []]));
  for (let round = 1; round <= context.rounds; round += 1) {
    for (const [load, measured] of rounds) {
      context.progress(`${load.name}, round ${round} of ${context.rounds}`);
      measured.push(await measureLoad(context, cluster, load, idle));
    }
  }
  const size = `${shards.length}+${fronts.length}`;
  const ofLoad = ({ name }: Load, measured: readonly SizeRound[]): readonly Figure[] =>
    [
      figureOf('CPU per check', 'µs', measured, ({ frontMicros, shardMicros }) => frontMicros + shardMicros),
      figureOf('front', 'µs', measured, ({ frontMicros }) => frontMicros),
      figureOf('shard', 'µs', measured, ({ shardMicros }) => shardMicros),
      figureOf(SHARING, '', measured, ({ checksPerMessage }) => checksPerMessage),
      figureOf('checks', '/s', measured, perSecondOf),
      figureOf('p50', 'ms', measured, ({ latencyMs }) => latencyMs.p50),
      figureOf('p99', 'ms', measured, ({ latencyMs }) => latencyMs.p99),
    ].map((figure) => ({ ...figure, row: `${size}, ${name}` }));
  const ofIdle = (what: string, processors: number): Figure => ({
    name: `processors kept busy without load, ${size}, ${what}`,
    unit: '',
    value: processors,
  });
  return [
    ofIdle('fronts', idle.front),
    ofIdle('shards', idle.shard),
    ofIdle('console', idle.console),
    ofIdle('Cassandra', idle.cassandra),
    ...[...rounds].flatMap(([load, measured]) => ofLoad(load, measured)),
  ];
}

/** A check = its own part + a message ÷ the checks that share it; nothing if fewer than two sizes were measured. */
export function messageFigures(figures: readonly Figure[]): readonly Figure[] {
  const rows = Map.groupBy(
    figures.filter(({ row }) => row?.endsWith(SATURATED)),
    ({ row }) => row,
  );
  if (rows.size < FITTED_MIN) return [];
  return ['front', 'shard'].flatMap((role) => {
    const points = Array.from(rows.values(), (ofRow) => {
      const read = (name: string): number => ofRow.find((figure) => figure.name === name)?.value ?? Number.NaN;
      return { x: 1 / read(SHARING), y: read(role) };
    });
    const { slope, intercept } = fitLine(points);
    return [
      { name: `CPU per check by itself, ${role}`, unit: 'µs', value: intercept },
      { name: `CPU per message, which its checks share, ${role}`, unit: 'µs', value: slope },
    ];
  });
}
