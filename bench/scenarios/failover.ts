// The first second after a failover: a shard is killed under checks of its tenants, and the other takes over their
// slots. Its memory knows none of their pages, except those that the list of hot pages names. What counts is a tenant's
// first second from its first answer on; how long the tenants wait for that is shown next to it.

import type { Figure } from '../figure.ts';
import { latenciesOf, type Sample, TenantProbes } from '../load/tenant-probes.ts';
import type { BenchContext, Scenario } from '../scenario.ts';
import { GrantdCluster, type Member } from '../server/grantd-cluster.ts';
import { delay } from '../server/grantd-process.ts';
import { median } from '../statistics.ts';
import { createTenantsEvenly, figureOf, fillProbed, startCassandraFor } from './cluster-load.ts';

const P99_MS_MAX = 1000;
const TENANTS = 32;
const GRANTS_PER_TENANT = 1000;
const QUESTIONS_PER_TENANT = 100;
/** Between two checks of a tenant: 1,600 checks a second in all. */
const INTERVAL_MS = 20;
/** An owner stores which pages are hot once a minute. */
const WARM_MS = 75_000;
/** Just before the kill. */
const WARM_COUNTED_MS = 10_000;
const FIRST_MS = 1000;
/** No other shard may answer for the dead one so soon; what comes earlier is the last of the dead one. */
const LEASE_MS_MIN = 500;
const FAILOVER_MS_MAX = 60_000;
const POLL_MS = 50;
const ROUNDS_MAX = 3;

interface Failover {
  readonly warm: { readonly p50: number; readonly p99: number };
  readonly first: { readonly p50: number; readonly p99: number };
  readonly secondsUntilFirst: readonly number[];
  readonly unavailable: number;
  readonly preloaded: number;
  readonly reads: number;
}

/** By tenant: when its new owner first answered. Undefined until each tenant has been answered for long enough. */
function firstAnswers(samples: readonly Sample[], killedMs: number, nowMs: number): readonly number[] | undefined {
  const first: number[] = new Array(TENANTS).fill(Number.POSITIVE_INFINITY);
  for (const { tenant, answeredMs } of samples) {
    if (answeredMs > killedMs + LEASE_MS_MIN) first[tenant] = Math.min(first[tenant] ?? 0, answeredMs);
  }
  return first.every((answeredMs) => answeredMs + FIRST_MS < nowMs) ? first : undefined;
}

async function waitForFirst(probes: TenantProbes, killedMs: number): Promise<readonly number[]> {
  for (;;) {
    await delay(POLL_MS);
    probes.assertRight();
    const nowMs = performance.now();
    const first = firstAnswers(probes.samples, killedMs, nowMs);
    if (first !== undefined) return first;
    if (nowMs > killedMs + FAILOVER_MS_MAX) throw new Error('Some tenants have no owner.');
  }
}

async function readPages(cluster: GrantdCluster, shard: Member) {
  const [preloaded = 0] = await cluster.readMetrics('grantd_pages_preloaded_total{result="loaded"}', [shard]);
  const [reads = 0] = await cluster.readMetrics('grantd_page_lookups_total{result="miss"}', [shard]);
  return { preloaded, reads };
}

async function failOver(cluster: GrantdCluster, probes: TenantProbes): Promise<Failover> {
  await delay(WARM_MS);
  probes.assertRight();
  const [dying, survivor] = cluster.shards;
  if (dying === undefined || survivor === undefined) throw new Error('The cluster has two shards.');
  const before = { ...(await readPages(cluster, survivor)), unavailable: probes.unavailable };
  const killedMs = performance.now();
  await cluster.killShard(dying);
  const first = await waitForFirst(probes, killedMs);
  const { samples } = probes;
  const isFirst = ({ tenant, sentMs }: Sample): boolean => {
    const sinceMs = sentMs - (first[tenant] ?? Number.NaN);
    return sinceMs >= 0 && sinceMs < FIRST_MS;
  };
  const after = await readPages(cluster, survivor);
  return {
    warm: latenciesOf(
      samples.filter(({ sentMs, answeredMs }) => sentMs > killedMs - WARM_COUNTED_MS && answeredMs < killedMs),
    ),
    first: latenciesOf(samples.filter(isFirst)),
    secondsUntilFirst: first.map((answeredMs) => (answeredMs - killedMs) / 1000),
    unavailable: probes.unavailable - before.unavailable,
    preloaded: after.preloaded - before.preloaded,
    reads: after.reads - before.reads,
  };
}

function figuresOf(rounds: readonly Failover[]): readonly Figure[] {
  const of = (name: string, unit: string, value: (round: Failover) => number): Figure =>
    figureOf(name, unit, rounds, value);
  return [
    {
      ...of('p99 in the first second after a failover', 'ms', ({ first }) => first.p99),
      target: { kind: 'at most', value: P99_MS_MAX },
    },
    of('p99 before', 'ms', ({ warm }) => warm.p99),
    of('p50 in the first second', 'ms', ({ first }) => first.p50),
    of('p50 before', 'ms', ({ warm }) => warm.p50),
    of('from the kill to the first answer, median tenant', 's', (round) => median(round.secondsUntilFirst)),
    of('the same, last tenant', 's', (round) => Math.max(...round.secondsUntilFirst)),
    of('checks refused with 503', '', ({ unavailable }) => unavailable),
    of('pages loaded ahead of checks', '', ({ preloaded }) => preloaded),
    of('checks that had to read the store', '', ({ reads }) => reads),
  ];
}

async function run(context: BenchContext): Promise<readonly Figure[]> {
  await using parts = new AsyncDisposableStack();
  const cassandra = await startCassandraFor(context, 1);
  parts.defer(() => cassandra.stop());
  const directory = context.createDirectory();
  const cluster = await GrantdCluster.start({ cassandra, directory, keyspace: 'failover', shards: 2, fronts: 1 });
  parts.defer(() => cluster.stop());
  context.progress(`importing ${TENANTS * GRANTS_PER_TENANT} grants of ${TENANTS} tenants of one shard`);
  const tenants = (await createTenantsEvenly(cluster, TENANTS)).slice(0, TENANTS);
  const probed = await fillProbed(cluster, tenants, GRANTS_PER_TENANT, QUESTIONS_PER_TENANT);
  const count = context.quick ? 1 : Math.min(ROUNDS_MAX, context.rounds);
  const rounds: Failover[] = [];
  for (let round = 1; round <= count; round += 1) {
    context.progress(`checks for ${WARM_MS / 1000} s, then a kill: round ${round} of ${count}`);
    const probes = new TenantProbes(probed, INTERVAL_MS);
    rounds.push(await failOver(cluster, probes).finally(() => probes.stop()));
    const [killed] = cluster.shards;
    if (round < count && killed !== undefined) await cluster.restoreShard(killed);
  }
  return figuresOf(rounds);
}

export const failoverScenario: Scenario = {
  name: 'failover',
  summary: `a shard is killed: p99 of its tenants' checks in the first second, once answered, ≤ ${P99_MS_MAX} ms`,
  run,
};
