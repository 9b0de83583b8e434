// A planned move of slots: a shard stops in order and starts again, under checks of all tenants. It hands its slots
// over to the others, and takes them back. What counts is how long a tenant waits at most.

import type { Figure } from '../figure.ts';
import { latenciesOf, type Sample, TenantProbes } from '../load/tenant-probes.ts';
import type { BenchContext, Scenario } from '../scenario.ts';
import { GrantdCluster } from '../server/grantd-cluster.ts';
import { delay } from '../server/grantd-process.ts';
import { median } from '../statistics.ts';
import { createTenantsEvenly, figureOf, fillProbed, startCassandraFor } from './cluster-load.ts';

const PAUSE_MS_MAX = 750;
const P99_MS_MAX = 200;
const SHARDS = 3;
const TENANTS_PER_SHARD = 20;
const GRANTS_PER_TENANT = 1000;
const QUESTIONS_PER_TENANT = 100;
/** Between two checks of a tenant: 600 checks a second in all. */
const INTERVAL_MS = 100;
/** A front that does not know of a move yet learns it from the shard that has stopped. */
const DRAIN_SECONDS = '2';
/** An owner stores which pages are hot every 30 seconds. */
const WARM_MS = 45_000;
/** Just before the stop. */
const WARM_COUNTED_MS = 5000;
const ROUNDS_MAX = 3;

interface Move {
  readonly p99: number;
  readonly before: number;
  /** Of each tenant, its longest wait. */
  readonly pauses: readonly number[];
  readonly seconds: number;
  readonly unavailable: number;
}

const waitOf = ({ sentMs, answeredMs }: Sample): number => answeredMs - sentMs;

function longestByTenant(samples: readonly Sample[]): readonly number[] {
  const longest = new Map<number, number>();
  for (const sample of samples) {
    longest.set(sample.tenant, Math.max(longest.get(sample.tenant) ?? 0, waitOf(sample)));
  }
  return [...longest.values()];
}

async function move(cluster: GrantdCluster, probes: TenantProbes): Promise<Move> {
  await delay(WARM_MS);
  const [shard] = cluster.shards;
  if (shard === undefined) throw new Error('The cluster has shards.');
  const [startMs, unavailable] = [performance.now(), probes.unavailable];
  await cluster.stopShard(shard);
  await cluster.restoreShard(shard);
  const endMs = performance.now();
  await delay(INTERVAL_MS);
  probes.assertRight();
  const during = probes.samples.filter(({ answeredMs, sentMs }) => answeredMs >= startMs && sentMs <= endMs);
  return {
    p99: latenciesOf(during).p99,
    before: latenciesOf(
      probes.samples.filter(({ sentMs, answeredMs }) => sentMs > startMs - WARM_COUNTED_MS && answeredMs < startMs),
    ).p99,
    pauses: longestByTenant(during),
    seconds: (endMs - startMs) / 1000,
    unavailable: probes.unavailable - unavailable,
  };
}

function figuresOf(rounds: readonly Move[]): readonly Figure[] {
  const of = (name: string, unit: string, value: (round: Move) => number): Figure =>
    figureOf(name, unit, rounds, value);
  return [
    {
      ...of('the longest wait of a tenant', 'ms', ({ pauses }) => Math.max(...pauses)),
      target: { kind: 'at most', value: PAUSE_MS_MAX },
    },
    of('the longest wait of the median tenant', 'ms', ({ pauses }) => median(pauses)),
    { ...of('p99 of all checks', 'ms', ({ p99 }) => p99), target: { kind: 'at most', value: P99_MS_MAX } },
    of('p99 before', 'ms', ({ before }) => before),
    of('from the signal until all slots are back', 's', ({ seconds }) => seconds),
    of('checks refused with 503', '', ({ unavailable }) => unavailable),
  ];
}

async function run(context: BenchContext): Promise<readonly Figure[]> {
  await using parts = new AsyncDisposableStack();
  const cassandra = await startCassandraFor(context, 1);
  parts.defer(() => cassandra.stop());
  const directory = context.createDirectory();
  const cluster = await GrantdCluster.start({
    cassandra,
    directory,
    keyspace: 'moves',
    shards: SHARDS,
    fronts: 1,
    environment: { shard: { GRANTD_DRAIN_SECONDS: DRAIN_SECONDS } },
  });
  parts.defer(() => cluster.stop());
  context.progress(`importing ${SHARDS * TENANTS_PER_SHARD * GRANTS_PER_TENANT} grants`);
  const tenants = await createTenantsEvenly(cluster, TENANTS_PER_SHARD);
  const probed = await fillProbed(cluster, tenants, GRANTS_PER_TENANT, QUESTIONS_PER_TENANT);
  const count = context.quick ? 1 : Math.min(ROUNDS_MAX, context.rounds);
  const rounds: Move[] = [];
  for (let round = 1; round <= count; round += 1) {
    context.progress(`a shard restarts: round ${round} of ${count}`);
    const probes = new TenantProbes(probed, INTERVAL_MS);
    rounds.push(await move(cluster, probes).finally(() => probes.stop()));
  }
  return figuresOf(rounds);
}

export const movesScenario: Scenario = {
  name: 'moves',
  summary: `a shard restarts in order: no tenant waits longer than ${PAUSE_MS_MAX} ms, p99 of all checks ≤ ${P99_MS_MAX} ms`,
  run,
};
