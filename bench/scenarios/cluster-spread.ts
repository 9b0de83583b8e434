// The cost of many processes: processor time of a check with four shards and two fronts, compared with one of each,
// with the same load per shard. The two clusters are measured in turns, so that other load on the machine affects both.
// While the smaller one is measured, the larger one gets enough load to keep the machine as busy as in its own turn,
// because a check costs several times as much on a machine that sleeps between requests.

import type { Figure } from '../figure.ts';
import { LoadClient } from '../load/load-client.ts';
import type { BenchContext } from '../scenario.ts';
import type { GrantdCluster } from '../server/grantd-cluster.ts';
import { readResidentBytes } from '../server/resource-use.ts';
import { median } from '../statistics.ts';
import {
  type CheckJob,
  type ClusterRound,
  figureOf,
  measureCluster,
  paced,
  perSecondOf,
  warmUp,
} from './cluster-load.ts';

export const CPU_RATIO_MAX = 1.15;
export const SATURATED_RATIO_MAX = 1.5;
/**
 * The share of the machine's processors that the larger cluster may keep busy, including the load: nothing waits for a
 * processor.
 */
const BUSY_AIM = 0.5;
const BUSY_MIN = 0.4;
const BUSY_MAX = 0.6;
const LOOKS_MAX = 4;
/** The first rate, as a share of what the larger cluster can handle; the search starts there. */
const FIRST_SHARE = 0.3;
const MEBIBYTE = 1024 ** 2;

export interface Side {
  readonly cluster: GrantdCluster;
  readonly job: CheckJob;
}

interface Pair {
  readonly one: ClusterRound;
  readonly many: ClusterRound;
}

const saturate = (context: BenchContext, { cluster, job }: Side): Promise<ClusterRound> =>
  measureCluster(context, cluster, job, { kind: 'saturate', durationMs: context.durationMs });

/** Checks a second per shard. */
async function findRate(context: BenchContext, side: Side): Promise<number> {
  const { durationMs } = context;
  const { cluster, job } = side;
  context.progress('searching for the rate');
  let perSecond = FIRST_SHARE * perSecondOf(await saturate(context, side));
  for (let look = 1; look <= LOOKS_MAX; look += 1) {
    const { busy } = await measureCluster(context, cluster, job, paced({ perSecond, durationMs }));
    if (busy > BUSY_MIN && busy < BUSY_MAX) break;
    // With a lower rate, each check costs more: so the rate must change by more than the wanted change of the load.
    perSecond *= (BUSY_AIM / busy) ** 1.5;
  }
  return Math.floor(perSecond / cluster.shards.length);
}

/** Lookups in the memory of each shard so far: one per check. */
const readAnswered = (cluster: GrantdCluster): Promise<readonly number[]> =>
  cluster.readMetrics('grantd_page_lookups_total');

async function measureInTurns(
  context: BenchContext,
  one: Side,
  many: Side,
  perShard: number,
): Promise<readonly Pair[]> {
  // Processor time is reported in hundredths of a second, so this takes twice as long as other rounds.
  const durationMs = 2 * context.durationMs;
  const beside = new LoadClient();
  /**
   * One shard's share of the load goes to that side; the share of the three others always goes to the larger cluster.
   */
  const measure = async ({ cluster, job }: Side): Promise<ClusterRound> => {
    const others = paced({ perSecond: perShard * (many.cluster.shards.length - 1), durationMs });
    const [round, rest] = await Promise.all([
      measureCluster(context, cluster, job, paced({ perSecond: perShard, durationMs })),
      beside.run({ ...many.job, mode: others }),
    ]);
    const share = cluster === many.cluster ? round.answered / (round.answered + rest.answered) : 1;
    return { ...round, frontMicros: round.frontMicros * share, shardMicros: round.shardMicros * share };
  };
  try {
    await measure(one);
    await measure(many);
    const found: Pair[] = [];
    for (let round = 1; round <= context.rounds; round += 1) {
      context.progress(`${perShard} checks/s for each shard, round ${round} of ${context.rounds}`);
      found.push({ one: await measure(one), many: await measure(many) });
    }
    return found;
  } finally {
    beside.close();
  }
}

async function saturateInTurns(context: BenchContext, one: Side, many: Side): Promise<readonly Pair[]> {
  const found: Pair[] = [];
  for (let round = 1; round <= context.rounds; round += 1) {
    context.progress(`both saturated, round ${round} of ${context.rounds}`);
    found.push({ one: await saturate(context, one), many: await saturate(context, many) });
  }
  return found;
}

const total = ({ frontMicros, shardMicros }: ClusterRound): number => frontMicros + shardMicros;

const ratio = (name: string, pairs: readonly Pair[]): Figure => ({
  name,
  unit: '×',
  value: median(pairs.map(({ many }) => total(many))) / median(pairs.map(({ one }) => total(one))),
  rounds: pairs.map(({ one, many }) => total(many) / total(one)),
});

const both = (
  name: string,
  unit: string,
  pairs: readonly Pair[],
  of: (round: ClusterRound) => number,
): readonly Figure[] => [
  figureOf(`${name}, 4 + 2`, unit, pairs, ({ many }) => of(many)),
  figureOf(`${name}, 1 + 1`, unit, pairs, ({ one }) => of(one)),
];

export async function measureSpread(context: BenchContext, one: Side, many: Side): Promise<readonly Figure[]> {
  for (const { cluster, job } of [one, many]) await warmUp(context, cluster, job);
  const perShard = await findRate(context, many);
  const before = await readAnswered(many.cluster);
  const equal = await measureInTurns(context, one, many, perShard);
  const answered = (await readAnswered(many.cluster)).map((after, index) => after - (before[index] ?? 0));
  const all = answered.reduce((sum, value) => sum + value, 0);
  const saturated = await saturateInTurns(context, one, many);
  const resident = (members: readonly { readonly pid: number }[]): number =>
    median(members.map(({ pid }) => readResidentBytes(pid))) / MEBIBYTE;
  return [
    {
      ...ratio('CPU per check, 4 shards + 2 fronts ÷ 1 + 1', equal),
      target: { kind: 'at most', value: CPU_RATIO_MAX },
    },
    ...both('CPU per check', 'µs', equal, total),
    ...both('CPU per check, fronts', 'µs', equal, (round) => round.frontMicros),
    ...both('CPU per check, shards', 'µs', equal, (round) => round.shardMicros),
    ...both('p99', 'ms', equal, (round) => round.latencyMs.p99),
    { name: 'checks for each shard', value: perShard, unit: '/s' },
    ...both('busy processors of the machine', '', equal, (round) => round.busy),
    { name: 'smallest share of a shard, 4 + 2', value: Math.min(...answered) / all, unit: '' },
    { name: 'largest share of a shard, 4 + 2', value: Math.max(...answered) / all, unit: '' },
    // The machine limits both, and each of four shards has a quarter of the single one's load.
    {
      ...ratio('CPU per check, 4 shards + 2 fronts ÷ 1 + 1, both saturated', saturated),
      target: { kind: 'at most', value: SATURATED_RATIO_MAX },
    },
    ...both('CPU per check, saturated', 'µs', saturated, total),
    ...both('checks, saturated', '/s', saturated, perSecondOf),
    { name: 'resident memory of a front, 4 + 2', value: resident(many.cluster.fronts), unit: 'MiB' },
    { name: 'resident memory of a shard, 4 + 2', value: resident(many.cluster.shards), unit: 'MiB' },
  ];
}
