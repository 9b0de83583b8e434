// Whatever one client does, another tenant is served: each attack next to a victim that sends a check every 20 ms,
// first on the service as one process, then on a front and a shard over Cassandra.

import type { Figure } from '../figure.ts';
import { ATTACKS, type Attack } from '../isolation/attack-list.ts';
import { VictimProgram } from '../isolation/child-programs.ts';
import { type Durations, measureAttack } from '../isolation/measure-attack.ts';
import { ClusterService, CONTAINER_1024, EmbeddedService, type ServiceUnderAttack } from '../isolation/service.ts';
import { describeMisses, describeOutcomes, figuresOf, notMeasured } from '../isolation/verdict.ts';
import { type BenchContext, MissingEngine, type Scenario } from '../scenario.ts';
import { startCassandraFor } from './cluster-load.ts';

const P99_FLOOR_MS = 25;
type Timing = Omit<Durations, 'p99FloorMs' | 'mayLastAsFlood' | 'hasControl'>;
const DURATIONS: Timing = {
  warmUpRequests: 2000,
  idleMs: 10_000,
  attackMs: 12_000,
  duringMs: 10_000,
};
const DURATIONS_QUICK: Timing = {
  warmUpRequests: 500,
  idleMs: 1500,
  attackMs: 3000,
  duringMs: 2000,
};
/** With 10,000 grants and 10 MB each: four times what fits the heap. */
const LARGE_SUBJECTS = 200;
/** More than fits the heap. */
const LARGE_SUBJECTS_QUICK = 60;
/** Otherwise filling Cassandra would take most of the run. */
const LARGE_SUBJECTS_CLUSTER = 80;
const LARGE_SUBJECTS_CLUSTER_QUICK = 20;
/** For a short run in a cluster: the attacks that reach the shard, and the one that fills a front. */
const CLUSTER_QUICK: ReadonlySet<string> = new Set([
  'sorted-listings',
  'unread-listings',
  'unfinished-bodies',
  'cold-bulk',
  'dear-requests',
]);

function durationsFor(
  { quick }: BenchContext,
  { mode }: ServiceUnderAttack,
  { p99FloorMs, victimReconnects = false }: Attack,
): Durations {
  const floorMs = p99FloorMs?.[mode] ?? P99_FLOOR_MS;
  return {
    ...(quick ? DURATIONS_QUICK : DURATIONS),
    p99FloorMs: (strain) => floorMs * strain,
    // New connections wait in the system's queue behind those that an attacker opens at once.
    mayLastAsFlood: victimReconnects,
    hasControl: true,
  };
}

async function attackAll(
  context: BenchContext,
  service: ServiceUnderAttack,
  attacks: readonly Attack[],
): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const attack of attacks) {
    context.progress(`${service.mode}: ${attack.name}`);
    const victim = await VictimProgram.start();
    try {
      const measurement = await measureAttack(service, victim, attack, durationsFor(context, service, attack));
      context.progress(`  ${describeOutcomes(measurement)}`);
      for (const miss of describeMisses(measurement)) context.progress(`  missed: ${miss}`);
      figures.push(...figuresOf(measurement));
    } catch (error) {
      context.progress(`  not measured: ${error instanceof Error ? error.message : String(error)}`);
      figures.push(notMeasured(service.mode, attack));
    } finally {
      victim.close();
    }
  }
  return figures;
}

/** Only cold attacks ask about large subjects, and filling them takes longer than all attacks. */
function largeSubjectsFor(attacks: readonly Attack[], most: number): number {
  return attacks.some(({ isCold }) => isCold === true) ? most : 0;
}

async function attackEmbedded(context: BenchContext, attacks: readonly Attack[]): Promise<readonly Figure[]> {
  const largeSubjects = largeSubjectsFor(attacks, context.quick ? LARGE_SUBJECTS_QUICK : LARGE_SUBJECTS);
  context.progress(`embedded: filling ${largeSubjects} subjects of 10,000 grants`);
  const service = await EmbeddedService.fill({
    directory: context.createDirectory(),
    searchPath: context.searchPath,
    container: CONTAINER_1024,
    largeSubjects,
  });
  return attackAll(context, service, attacks).finally(() => service.stop());
}

async function attackCluster(context: BenchContext, attacks: readonly Attack[]): Promise<readonly Figure[]> {
  await using parts = new AsyncDisposableStack();
  const cassandra = await startCassandraFor(context, 1);
  parts.defer(() => cassandra.stop());
  const most = context.quick ? LARGE_SUBJECTS_CLUSTER_QUICK : LARGE_SUBJECTS_CLUSTER;
  const largeSubjects = largeSubjectsFor(attacks, most);
  context.progress(`cluster: filling ${largeSubjects} subjects of 10,000 grants`);
  const service = await ClusterService.fill(cassandra, { directory: context.createDirectory(), largeSubjects });
  parts.defer(() => service.stop());
  // Awaited here, because what it needs is stopped afterwards.
  return await attackAll(context, service, attacks);
}

export const isolationScenario: Scenario = {
  name: 'isolation',
  summary: `attacks next to another tenant's checks: p99 ≤ 2 × idle or ${P99_FLOOR_MS} ms, none failed, memory in bounds`,
  parts: ATTACKS,
  failsOnMiss: true,
  async run(context) {
    const attacks = ATTACKS.filter(({ name }) => context.only.length === 0 || context.only.includes(name));
    const embedded = await attackEmbedded(context, attacks);
    const inCluster = attacks.filter(
      ({ name, isEmbeddedOnly }) =>
        isEmbeddedOnly !== true && (!context.quick || CLUSTER_QUICK.has(name) || context.only.includes(name)),
    );
    if (inCluster.length === 0) return embedded;
    try {
      return [...embedded, ...(await attackCluster(context, inCluster))];
    } catch (error) {
      if (!(error instanceof MissingEngine)) throw error;
      context.progress('the cluster is skipped, because this machine lacks Cassandra');
      return embedded;
    }
  },
};
