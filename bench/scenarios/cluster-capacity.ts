// For the capacity guide: the cost of a check at a front and at a shard, separately, and what one tenant, which is on
// one shard, can reach.

import type { Figure } from '../figure.ts';
import type { LoadJob, PreparedRequest } from '../load/load-job.ts';
import type { BenchContext } from '../scenario.ts';
import type { GrantdCluster } from '../server/grantd-cluster.ts';
import { readStreamBytes } from '../server/stream-bytes.ts';
import { median } from '../statistics.ts';
import {
  type CheckJob,
  type ClusterRound,
  checkJob,
  figureOf,
  measureCluster,
  paced,
  perSecondOf,
  warmUp,
} from './cluster-load.ts';
import type { Side } from './cluster-spread.ts';

const HALF = 0.5;
const CHECKS_PER_BULK = 100;
const BULK_CALLS = 200;

async function measureRounds(
  context: BenchContext,
  cluster: GrantdCluster,
  job: CheckJob,
  mode: LoadJob['mode'],
  what: string,
  answers = 1,
): Promise<readonly ClusterRound[]> {
  const rounds: ClusterRound[] = [];
  for (let round = 1; round <= context.rounds; round += 1) {
    context.progress(`${what}, round ${round} of ${context.rounds}`);
    rounds.push(await measureCluster(context, cluster, job, mode, answers));
  }
  return rounds;
}

const cpuFigures = (rounds: readonly ClusterRound[], what: string): readonly Figure[] => [
  figureOf(`CPU per check, front, ${what}`, 'µs', rounds, ({ frontMicros }) => frontMicros),
  figureOf(`CPU per check, shard, ${what}`, 'µs', rounds, ({ shardMicros }) => shardMicros),
];

/** One shard and one front, with single checks of many tenants. */
export async function measureSingles(context: BenchContext, { cluster, job }: Side): Promise<readonly Figure[]> {
  const { durationMs } = context;
  const [stream = ''] = cluster.shards.map(({ address }) => address);
  const bytesBefore = readStreamBytes(stream);
  const saturated = await measureRounds(context, cluster, job, { kind: 'saturate', durationMs }, 'saturated');
  const bytesAfter = readStreamBytes(stream);
  const answered = saturated.reduce((sum, round) => sum + round.answered, 0);
  const perSecond = Math.floor(HALF * median(saturated.map(perSecondOf)));
  const half = await measureRounds(context, cluster, job, paced({ perSecond, durationMs }), 'at half of that');
  return [
    figureOf('checks, 1 shard + 1 front, saturated', '/s', saturated, perSecondOf),
    ...cpuFigures(saturated, 'saturated'),
    ...cpuFigures(half, 'at half of that'),
    figureOf('p99, saturated', 'ms', saturated, ({ latencyMs }) => latencyMs.p99),
    figureOf('p99, at half of that', 'ms', half, ({ latencyMs }) => latencyMs.p99),
    figureOf('bytes of a request', 'bytes', saturated, (round) => round.bytes.sent / round.answered),
    figureOf('bytes of an answer', 'bytes', saturated, (round) => round.bytes.received / round.answered),
    ...(bytesBefore === undefined || bytesAfter === undefined
      ? []
      : [
          {
            name: 'bytes between front and shard per check, both ways',
            unit: 'bytes',
            value: (bytesAfter - bytesBefore) / answered,
          },
        ]),
  ];
}

/** The same, with checks in bulks about different subjects of one tenant. */
export async function measureBulks(
  context: BenchContext,
  cluster: GrantdCluster,
  singles: readonly PreparedRequest[],
): Promise<readonly Figure[]> {
  const requests = Array.from({ length: BULK_CALLS }, (_, call) => {
    const asked = Array.from(
      { length: CHECKS_PER_BULK },
      (__, index) => singles[(call * CHECKS_PER_BULK + index) % singles.length],
    ).filter((each) => each !== undefined);
    const results = asked.map(({ expectedStart }) => `${expectedStart.slice(0, -1)}}`);
    return {
      body: `{"checks":[${asked.map(({ body }) => body).join(',')}]}`,
      expectedStart: `{"results":[${results.join(',')}],`,
      key: asked[0]?.key ?? '',
    };
  });
  const { durationMs } = context;
  const job = { ...checkJob(cluster, requests), path: '/v1/check/bulk' };
  await warmUp(context, cluster, job);
  const mode = { kind: 'saturate', durationMs } as const;
  const what = `bulks of ${CHECKS_PER_BULK}`;
  const rounds = await measureRounds(context, cluster, job, mode, what, CHECKS_PER_BULK);
  return [
    figureOf(`checks, ${what}`, '/s', rounds, (round) => perSecondOf(round) * CHECKS_PER_BULK),
    ...cpuFigures(rounds, what),
  ];
}

/** One tenant, so one slot and one shard, through all fronts of the cluster. */
export async function measureTenant(
  context: BenchContext,
  cluster: GrantdCluster,
  requests: readonly PreparedRequest[],
): Promise<readonly Figure[]> {
  const { durationMs } = context;
  const { length } = cluster.fronts;
  const what = `one tenant, ${length} ${length === 1 ? 'front' : 'fronts'}`;
  const job = checkJob(cluster, requests);
  await warmUp(context, cluster, job);
  const rounds = await measureRounds(context, cluster, job, { kind: 'saturate', durationMs }, what);
  return [
    figureOf(`checks, ${what}`, '/s', rounds, perSecondOf),
    ...cpuFigures(rounds, what),
    figureOf(`checks that a core of its shard could answer, ${what}`, '/s', rounds, (round) => 1e6 / round.shardMicros),
    figureOf(`busy processors of the machine, ${what}`, '', rounds, ({ busy }) => busy),
  ];
}
