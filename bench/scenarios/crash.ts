// A crash: one of three shards is killed and started again half a second later, as a supervisor would, under checks of
// tenants on all of them. Each has a watch, whose log says when it knew of the death. What counts is how long the last
// tenant waits for its next answer. With one node of Cassandra, and with three on the same processors.

import { readFileSync } from 'node:fs';
import type { Figure } from '../figure.ts';
import { TenantProbes } from '../load/tenant-probes.ts';
import type { BenchContext, Scenario } from '../scenario.ts';
import { GrantdCluster, type Member } from '../server/grantd-cluster.ts';
import { delay } from '../server/grantd-process.ts';
import { percentile } from '../statistics.ts';
import { createTenantsEvenly, figureOf, fillProbed, startCassandraFor } from './cluster-load.ts';

const PARTS = [
  { name: 'one-node', summary: 'over one Cassandra node', nodes: 1, secondsMax: 1.5 },
  { name: 'three-nodes', summary: 'over three Cassandra nodes', nodes: 3, secondsMax: 4 },
] as const;
const TENANTS_PER_SHARD = 20;
const GRANTS_PER_TENANT = 100;
/** One about each subject. */
const QUESTIONS_PER_TENANT = 10;
/** Between two checks of a tenant. */
const INTERVAL_MS = 300;
const WARM_MS = 5000;
const RESTART_AFTER_MS = 500;
/** A check that was answered after the kill may have been answered before it by the dead process. */
const STRAY_MS = 50;
const POLL_MS = 50;
const CRASH_MS_MAX = 60_000;

/** Seconds since the kill. */
interface Crash {
  readonly declared: number;
  readonly firstTenant: number;
  readonly medianTenant: number;
  readonly lastTenant: number;
  readonly unavailable: number;
}

/** When the death was declared, in seconds after `sinceMs` of the wall clock; NaN: it was not. */
function readDeclaration(logFile: string, sinceMs: number): number {
  for (const line of readFileSync(logFile, 'utf8').split('\n')) {
    if (!line.includes('declared it dead')) continue;
    const { time }: { readonly time: string } = JSON.parse(line);
    if (Date.parse(time) >= sinceMs) return (Date.parse(time) - sinceMs) / 1000;
  }
  return Number.NaN;
}

/** By tenant: when it was answered first after the kill, in ascending order. Undefined until each was. */
function firstAnswers(probes: TenantProbes, tenants: number, killedMs: number): readonly number[] | undefined {
  const first = new Map<number, number>();
  for (const { tenant, answeredMs } of probes.samples) {
    if (answeredMs > killedMs + STRAY_MS && !first.has(tenant)) first.set(tenant, (answeredMs - killedMs) / 1000);
  }
  return first.size < tenants ? undefined : [...first.values()].sort((left, right) => left - right);
}

async function crash(cluster: GrantdCluster, victim: Member, probes: TenantProbes, tenants: number): Promise<Crash> {
  await delay(WARM_MS);
  probes.assertRight();
  const [killedMs, killedAtMs] = [performance.now(), Date.now()];
  await cluster.killShard(victim);
  await delay(RESTART_AFTER_MS);
  const restored = cluster.restoreShard(victim);
  try {
    let first: readonly number[] | undefined;
    while (first === undefined) {
      await delay(POLL_MS);
      probes.assertRight();
      first = firstAnswers(probes, tenants, killedMs);
      if (performance.now() > killedMs + CRASH_MS_MAX) throw new Error('Some tenants have no owner.');
    }
    const ascending = Float64Array.from(first);
    return {
      declared: readDeclaration(victim.logFile, killedAtMs),
      firstTenant: ascending[0] ?? Number.NaN,
      medianTenant: percentile(ascending, 0.5),
      lastTenant: ascending.at(-1) ?? Number.NaN,
      unavailable: probes.unavailable,
    };
  } finally {
    await restored;
  }
}

async function measure(context: BenchContext, part: (typeof PARTS)[number]): Promise<readonly Figure[]> {
  await using parts = new AsyncDisposableStack();
  const cassandra = await startCassandraFor(context, part.nodes);
  parts.defer(() => cassandra.stop());
  const directory = context.createDirectory();
  const common = { cassandra, directory, keyspace: 'crash', watched: true };
  const cluster = await GrantdCluster.start({ ...common, shards: 3, fronts: 1 });
  parts.defer(() => cluster.stop());
  const tenants = await createTenantsEvenly(cluster, TENANTS_PER_SHARD);
  const probed = await fillProbed(cluster, tenants, GRANTS_PER_TENANT, QUESTIONS_PER_TENANT);
  const rounds: Crash[] = [];
  for (let round = 0; round < context.rounds; round += 1) {
    context.progress(`a crash ${part.summary}: round ${round + 1} of ${context.rounds}`);
    const victim = cluster.shards[round % cluster.shards.length];
    if (victim === undefined) throw new Error('The cluster has three shards.');
    // Those of the victim; the others show only that they are not held up.
    const own = probed.slice((round % 3) * TENANTS_PER_SHARD, ((round % 3) + 1) * TENANTS_PER_SHARD);
    const others = probed.filter((tenant) => !own.includes(tenant));
    const probes = new TenantProbes(own, INTERVAL_MS);
    const otherProbes = new TenantProbes(others, INTERVAL_MS);
    try {
      rounds.push(await crash(cluster, victim, probes, own.length));
      otherProbes.assertRight();
    } finally {
      probes.stop();
      otherProbes.stop();
    }
  }
  const of = (name: string, value: (round: Crash) => number): Figure =>
    figureOf(`${name}, ${part.summary}`, 's', rounds, value);
  return [
    {
      ...of('from a crash to the answer to the last tenant', ({ lastTenant }) => lastTenant),
      target: { kind: 'at most', value: part.secondsMax },
    },
    of('the same, median tenant', ({ medianTenant }) => medianTenant),
    of('the same, first tenant', ({ firstTenant }) => firstTenant),
    of('to the declaration of death', ({ declared }) => declared),
    figureOf(`checks refused with 503, ${part.summary}`, '', rounds, ({ unavailable }) => unavailable),
  ];
}

async function run(context: BenchContext): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const part of PARTS) {
    if (context.only.length > 0 && !context.only.includes(part.name)) continue;
    figures.push(...(await measure(context, part)));
  }
  return figures;
}

export const crashScenario: Scenario = {
  name: 'crash',
  summary:
    'one of three shards is killed and started again 0.5 s later: its last tenant is answered within 1.5 s, over three nodes 4 s',
  parts: PARTS.map(({ name, summary }) => ({ name, summary })),
  run,
};
