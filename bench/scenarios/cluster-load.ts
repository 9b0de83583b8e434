// What the cluster scenarios share: Cassandra; equally many tenants on each shard; checks of all tenants in turn; and
// the processor time per response of each kind of process.

import { availableParallelism } from 'node:os';
import { rankShards, SLOTS_DEFAULT, slotOfTenant } from '../../src/core/slots.ts';
import { type CassandraCluster, missingCassandra, startCassandra } from '../../tools/engines/cassandra.ts';
import { forEachAtATime } from '../at-a-time.ts';
import { DataSet } from '../data-set.ts';
import type { Figure } from '../figure.ts';
import { type LoadJob, type LoadResult, type PreparedRequest, REST_MS } from '../load/load-job.ts';
import type { ProbedTenant } from '../load/tenant-probes.ts';
import { type BenchContext, CONNECTIONS, MissingEngine } from '../scenario.ts';
import type { GrantdCluster, Member } from '../server/grantd-cluster.ts';
import { createTenant, importGrants, type TenantAccess } from '../server/operator.ts';
import { cpuSecondsBetween, readCpuOfAll, readCpuSeconds } from '../server/resource-use.ts';
import { median } from '../statistics.ts';

const GRANTS_PER_TENANT = 1000;
const TENANTS_UNDER_WAY = 8;
/** Until code is fully compiled. */
const WARM_UP_MS = 4000;
const WARM_UP_MS_QUICK = 1000;

export type CheckJob = Omit<LoadJob, 'mode'>;

export interface Paced {
  readonly perSecond: number;
  readonly durationMs: number;
}

export interface ClusterRound extends LoadResult {
  readonly frontMicros: number;
  readonly shardMicros: number;
  /** Busy processors of the machine, including the load and everything else: 0 to 1. */
  readonly busy: number;
}

export async function startCassandraFor(context: BenchContext, nodes: number): Promise<CassandraCluster> {
  const missing = await missingCassandra('what runs over Cassandra');
  if (missing !== undefined) throw new MissingEngine(missing);
  context.progress(`starting ${nodes} × Cassandra`);
  return startCassandra({ nodes });
}

/** Creates tenants until each shard owns that many, in the order of the shards; surplus ones are not used. */
export async function createTenantsEvenly(
  cluster: GrantdCluster,
  tenantsPerShard: number,
): Promise<readonly TenantAccess[]> {
  const names = cluster.shards.map(({ name }) => name);
  const byShard = new Map<string, TenantAccess[]>(names.map((name) => [name, []]));
  const isShort = (): boolean => [...byShard.values()].some(({ length }) => length < tenantsPerShard);
  const createInTurn = async (): Promise<void> => {
    while (isShort()) {
      const access = await createTenant(cluster.addresses);
      const [owner = ''] = rankShards(names, slotOfTenant(access.tenantId, SLOTS_DEFAULT));
      const found = byShard.get(owner);
      if (found !== undefined && found.length < tenantsPerShard) found.push(access);
    }
  };
  await Promise.all(Array.from({ length: TENANTS_UNDER_WAY }, createInTurn));
  return [...byShard.values()].flat();
}

export function questionsOf(data: DataSet, count: number, key: string): readonly PreparedRequest[] {
  return Array.from({ length: count }, (_, number) => {
    const { tuple, authorized } = data.question(number);
    return { body: JSON.stringify(tuple), expectedStart: `{"authorized":${authorized},`, key };
  });
}

export function checkJob(cluster: GrantdCluster, requests: readonly PreparedRequest[]): CheckJob {
  const [url = '', ...furtherUrls] = cluster.fronts.map(({ address }) => `http://${address}`);
  return {
    url,
    furtherUrls,
    key: '',
    path: '/v1/check',
    expectedStatus: 200,
    connections: CONNECTIONS * cluster.fronts.length,
    requests,
  };
}

/** The same grants for each tenant. Resolves once they are in the state tables. */
async function importForEach(
  cluster: GrantdCluster,
  tenants: readonly TenantAccess[],
  grants: number,
): Promise<DataSet> {
  const data = new DataSet(grants);
  await forEachAtATime(tenants, TENANTS_UNDER_WAY, async (access) => {
    await importGrants(cluster.addresses, access, data);
  });
  await cluster.waitForCheckpoint();
  return data;
}

/** Imports grants for each tenant; what `TenantProbes` asks about them, through the first front. */
export async function fillProbed(
  cluster: GrantdCluster,
  tenants: readonly TenantAccess[],
  grants: number,
  questions: number,
): Promise<readonly ProbedTenant[]> {
  const data = await importForEach(cluster, tenants, grants);
  const { base_url: url } = cluster.addresses;
  return tenants.map(({ key }) => ({ url, key, requests: questionsOf(data, questions, key) }));
}

/** Checks of all tenants in turn, equally many of each, and of all subjects. */
export async function fillEvenly(
  context: BenchContext,
  cluster: GrantdCluster,
  tenantsPerShard: number,
): Promise<CheckJob> {
  const count = tenantsPerShard * cluster.shards.length;
  context.progress(`importing ${count * GRANTS_PER_TENANT} grants of ${count} tenants`);
  const tenants = await createTenantsEvenly(cluster, tenantsPerShard);
  const data = await importForEach(cluster, tenants, GRANTS_PER_TENANT);
  const byTenant = tenants.map(({ key }) => questionsOf(data, data.subjects, key));
  const inTurn = Array.from({ length: data.subjects }, (_, number) =>
    byTenant.flatMap((questions) => questions.slice(number, number + 1)),
  );
  return checkJob(cluster, inTurn.flat());
}

/** One tenant with its own grants, and checks of all its subjects. */
export async function fillOne(
  context: BenchContext,
  cluster: GrantdCluster,
  grants: number,
): Promise<{ readonly access: TenantAccess; readonly data: DataSet; readonly requests: readonly PreparedRequest[] }> {
  context.progress(`importing ${grants} grants of one tenant`);
  const access = await createTenant(cluster.addresses);
  const data = new DataSet(grants);
  await importGrants(cluster.addresses, access, data);
  await cluster.waitForCheckpoint();
  return { access, data, requests: questionsOf(data, data.subjects, access.key) };
}

export const sumCpuSeconds = (members: readonly Member[]): number =>
  members.reduce((sum, { pid }) => sum + readCpuSeconds(pid), 0);

/** `answers`: per response, for bulk requests. */
export async function measureCluster(
  context: BenchContext,
  cluster: GrantdCluster,
  job: CheckJob,
  mode: LoadJob['mode'],
  answers = 1,
): Promise<ClusterRound> {
  const { fronts, shards } = cluster;
  const read = () => ({
    front: sumCpuSeconds(fronts),
    shard: sumCpuSeconds(shards),
    machine: readCpuOfAll(),
    atMs: performance.now(),
  });
  const before = read();
  const result = await context.client.run({ ...job, mode });
  const after = read();
  const micros = (role: 'front' | 'shard'): number => ((after[role] - before[role]) * 1e6) / result.answered / answers;
  return {
    ...result,
    frontMicros: micros('front'),
    shardMicros: micros('shard'),
    busy:
      cpuSecondsBetween(before.machine, after.machine) / ((after.atMs - before.atMs) / 1000) / availableParallelism(),
  };
}

/** Load that does not count. */
export async function warmUp(context: BenchContext, cluster: GrantdCluster, job: CheckJob): Promise<void> {
  const durationMs = context.quick ? WARM_UP_MS_QUICK : WARM_UP_MS;
  await measureCluster(context, cluster, job, { kind: 'saturate', durationMs });
}

export const paced = ({ perSecond, durationMs }: Paced): LoadJob['mode'] => ({
  kind: 'rate',
  perSecond,
  durationMs,
  restMs: REST_MS,
});

export const perSecondOf = ({ answered, seconds }: LoadResult): number => answered / seconds;

export function figureOf<Of>(name: string, unit: string, rounds: readonly Of[], of: (round: Of) => number): Figure {
  const values = rounds.map(of);
  return { name, unit, value: median(values), rounds: values };
}
