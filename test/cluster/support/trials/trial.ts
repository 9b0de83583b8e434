// A trial of a cluster: what is done to it, mostly a fault under load, and what must hold of what the clients saw. The
// same trials run once each in the tests and again and again in the soak.

import assert from 'node:assert/strict';
import { slotOfTenant } from '../../../../src/core/slots.ts';
import type { CassandraCluster } from '../../../../tools/engines/cassandra.ts';
import type { SharedCassandra } from '../../../../tools/engines/shared-cassandra.ts';
import { judgeTimes, STRAIN_MAX, Strain } from '../../../kit/strain.ts';
import { letRun } from '../../../kit/wait-for.ts';
import type { Cluster } from '../cluster.ts';
import { FULL_LOAD, Load, type LoadReport, type LoadSize, type LoadTarget } from '../load.ts';
import type { RequestRecord } from '../load-job.ts';
import type { SlotRecord } from '../operator-client.ts';

/** `Store`: whether the nodes of Cassandra are the trial's own, which it may kill and pause. */
export interface Bench<Store extends SharedCassandra = SharedCassandra> {
  readonly cluster: Cluster;
  readonly cassandra: Store;
  readonly load: LoadSize;
  /** How long the load runs before a fault, and after it is over. */
  readonly beforeMs: number;
  readonly afterMs: number;
  readonly judgeTimes: typeof judgeTimes;
  say(text: string): void;
}

export type OwnNodes = SharedCassandra & CassandraCluster;

export interface Trial<Store extends SharedCassandra = SharedCassandra> {
  readonly name: string;
  readonly run: (bench: Bench<Store>) => Promise<void>;
}

/** What the clients saw, and how busy the machine was meanwhile. */
export interface Outcome {
  readonly report: LoadReport;
  readonly strain: number;
  /** Judges times, as `judgeTimes` does, by that strain. */
  judge(judge: () => void): void;
}

/** Resolves with what tells how many calls readers have answered since; undefined: nobody counts them. */
async function countReaderCalls(cluster: LoadTarget): Promise<() => Promise<number | undefined>> {
  const before = await cluster.readerCalls?.();
  return async () => {
    const since = await cluster.readerCalls?.();
    return (
      since && Array.from(since, ([pid, count]) => count - (before?.get(pid) ?? 0)).reduce((sum, each) => sum + each, 0)
    );
  };
}

/**
 * Runs a load on tenants of its own, does something to the cluster meanwhile, and returns what the clients saw; their
 * histories are in order, or this fails.
 */
export async function underLoad(
  bench: Pick<Bench, 'beforeMs' | 'afterMs' | 'say'> &
    Partial<Pick<Bench, 'load' | 'judgeTimes'>> & { readonly cluster: LoadTarget },
  name: string,
  meanwhile: (load: Load) => Promise<void>,
  options: Partial<LoadSize> = {},
): Promise<Outcome> {
  const readerCalls = await countReaderCalls(bench.cluster);
  const load = await Load.start(bench.cluster, name, { ...FULL_LOAD, ...bench.load, ...options });
  using measured = new Strain();
  let report: LoadReport;
  let strain = 1;
  try {
    await letRun(bench.beforeMs);
    await meanwhile(load);
    await letRun(bench.afterMs);
    strain = measured.take();
    report = await load.stop();
  } catch (error) {
    load.kill();
    throw error;
  }
  const { failures } = report;
  const verdict = report.verdict();
  bench.say(
    `${name}: ${report.requests.length} requests, ${failures.length} failed, strain ${strain.toFixed(1)}; checked: ${verdict.text}`,
  );
  const answered = await readerCalls();
  if (answered !== undefined) bench.say(`  ${answered} calls answered by readers that still run`);
  for (const failure of failures.slice(0, 5)) bench.say(`  failed: ${describeRequest(failure)}`);
  assert.ok(verdict.ok, verdict.text);
  assert.notEqual(answered, 0, 'no reader has answered anything');
  const judgeBy = bench.judgeTimes ?? judgeTimes;
  return { report, strain, judge: (judge) => judgeBy(strain, judge) };
}

/** For a load that a machine may be too small for: what is inconclusive there is said, and not judged. */
export const judgeWhereBorne =
  (say: (text: string) => void): typeof judgeTimes =>
  (strain, judge) => {
    if (strain <= STRAIN_MAX) return judge();
    try {
      judgeTimes(strain, judge);
    } catch (error) {
      say(`  not judged: ${error instanceof Error ? error.message : String(error)}`);
    }
  };

export const describeRequest = ({ atMs, latencyMs, kind, failure, tenant }: RequestRecord): string =>
  `${kind} of tenant ${tenant} at ${atMs.toFixed(0)} ms after ${latencyMs.toFixed(0)} ms: ${failure ?? 'answered'}`;

/** The service gives up a request after 10 s; what it refuses sooner has another reason. */
const REFUSED_BY_DEADLINE_MS = 9000;

const passedDeadline = ({ failure, latencyMs }: RequestRecord): boolean =>
  /^503 /.test(failure ?? '') && latencyMs >= REFUSED_BY_DEADLINE_MS;

function assertNone(failures: readonly RequestRecord[]): void {
  assert.equal(
    failures.length,
    0,
    `${failures.length} requests failed:\n${failures.slice(0, 10).map(describeRequest).join('\n')}`,
  );
}

/** None failed. Only a deadline can pass because of the machine. */
export function assertNoFailures({ report: { failures }, judge }: Outcome): void {
  assertNone(failures.filter((request) => !passedDeadline(request)));
  judge(() => assertNone(failures));
}

/** Resolves with the judge of what follows: no shard is declared dead, and no slot moves. */
export async function watchLeases({ cluster }: Pick<Bench, 'cluster'>): Promise<(outcome: Outcome) => Promise<void>> {
  const lost = async (): Promise<number> => {
    const running = cluster.shards.filter(({ isRunning }) => isRunning);
    const counts = await Promise.all(running.map((shard) => shard.readMetric('grantd_sessions_lost_total')));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  const owners = async (): Promise<readonly string[]> =>
    (await cluster.operator.slots()).map(({ slot, shard, epoch }) => `${slot} ${shard} ${epoch}`);
  const [lostBefore, ownersBefore] = [await lost(), await owners()];
  return async ({ judge }) => {
    const [lostAfter, ownersAfter] = [await lost(), await owners()];
    judge(() => {
      assert.equal(lostAfter - lostBefore, 0, 'nobody was declared dead');
      assert.deepEqual(ownersAfter, ownersBefore, 'no slot moved');
    });
  };
}

/** The tenants (by index) whose slots a shard serves. */
export function tenantsOf(load: Load, slots: readonly SlotRecord[], shard: string): Set<number> {
  const owners = new Map(slots.map((slot) => [slot.slot, slot.shard]));
  const indexes = load.tenants.map(({ tenantId }, index) => ({ index, slot: slotOfTenant(tenantId, slots.length) }));
  return new Set(indexes.filter(({ slot }) => owners.get(slot) === shard).map(({ index }) => index));
}

/** The longest and the middle of tenants' pauses. */
export function describePauses(pauses: readonly number[]): { worst: number; median: number; text: string } {
  const sorted = pauses.toSorted((left, right) => left - right);
  const worst = sorted.at(-1) ?? 0;
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return { worst, median, text: `worst pause ${worst.toFixed(0)} ms, median over tenants ${median.toFixed(0)} ms` };
}
