// A trial of a cluster: what is done to it, mostly a fault under load, and what must hold of what the clients saw. The
// same trials run once each in the tests and again and again in the soak.

import assert from 'node:assert/strict';
import { slotOfTenant } from '../../../../src/core/slots.ts';
import type { CassandraCluster } from '../../../../tools/engines/cassandra.ts';
import { Strain } from '../../../kit/strain.ts';
import { letRun } from '../../../kit/wait-for.ts';
import type { Cluster } from '../cluster.ts';
import { Load, type LoadOptions, type LoadReport, type LoadTarget } from '../load.ts';
import type { RequestRecord } from '../load-job.ts';
import type { SlotRecord } from '../operator-client.ts';

export interface Bench {
  readonly cluster: Cluster;
  readonly cassandra: CassandraCluster;
  /** How long the load runs before a fault, and after it is over. */
  readonly beforeMs: number;
  readonly afterMs: number;
  say(text: string): void;
}

/** What the clients saw, and how busy the machine was meanwhile. */
export interface Outcome {
  readonly report: LoadReport;
  /** By this factor bounds of time are stretched. */
  readonly strain: number;
}

export interface Trial {
  readonly name: string;
  run(bench: Bench): Promise<void>;
}

/**
 * Runs a load on tenants of its own, does something to the cluster meanwhile, and returns what the clients saw; their
 * histories are in order, or this fails.
 */
export async function underLoad(
  bench: Pick<Bench, 'beforeMs' | 'afterMs' | 'say'> & { readonly cluster: LoadTarget },
  name: string,
  meanwhile: (load: Load) => Promise<void>,
  options: LoadOptions = {},
): Promise<Outcome> {
  const load = await Load.start(bench.cluster, name, options);
  const strain = new Strain();
  let report: LoadReport;
  let factor = 1;
  try {
    await letRun(bench.beforeMs);
    await meanwhile(load);
    await letRun(bench.afterMs);
    factor = strain.take();
    report = await load.stop();
  } catch (error) {
    load.kill();
    throw error;
  } finally {
    strain.stop();
  }
  const { failures } = report;
  const verdict = report.verdict();
  bench.say(
    `${name}: ${report.requests.length} requests, ${failures.length} failed, strain ${factor.toFixed(1)}; checked: ${verdict.text}`,
  );
  for (const failure of failures.slice(0, 5)) bench.say(`  failed: ${describeRequest(failure)}`);
  assert.ok(verdict.ok, verdict.text);
  return { report, strain: factor };
}

export const describeRequest = ({ atMs, latencyMs, kind, failure, tenant }: RequestRecord): string =>
  `${kind} of tenant ${tenant} at ${atMs.toFixed(0)} ms after ${latencyMs.toFixed(0)} ms: ${failure}`;

/** From here on the machine is so busy that the deadline of 10 s can be passed without anybody's fault. */
const STRAIN_OF_DEADLINES = 2.5;

/** None failed; on a machine that is far too busy, none but by its deadline. */
export function assertNoFailures({ report: { failures }, strain }: Outcome): void {
  const unfair =
    strain < STRAIN_OF_DEADLINES ? failures : failures.filter(({ failure }) => !/^503 /.test(failure ?? ''));
  const text = failures.slice(0, 10).map(describeRequest).join('\n');
  assert.equal(unfair.length, 0, `${failures.length} requests failed (strain ${strain.toFixed(1)}):\n${text}`);
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
