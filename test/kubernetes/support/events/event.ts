// An event on a cluster of Kubernetes: what happens to grantd there, mostly under a steady load, and what must hold of
// what the clients saw. The load, its clients and its judge are those of the trials on a cluster of plain processes.

import assert from 'node:assert/strict';
import type { CassandraCluster } from '../../../../tools/engines/cassandra.ts';
import type { KubernetesCluster } from '../../../../tools/engines/kubernetes/cluster.ts';
import type { RedisServer } from '../../../../tools/engines/redis.ts';
import { type Load, type LoadTarget, percentile, type Window } from '../../../cluster/support/load.ts';
import { assertNoFailures, judgeWhereBorne, type Outcome, underLoad } from '../../../cluster/support/trials/trial.ts';
import type { Release } from '../release.ts';

/** How long the load runs before an event, and after it is over. */
const BEFORE_MS = 3000;
const AFTER_MS = 3000;

export interface EventBench {
  readonly kubernetes: KubernetesCluster;
  readonly cassandra: CassandraCluster;
  readonly release: Release;
  readonly redis: RedisServer;
  say(text: string): void;
}

export interface Event {
  readonly name: string;
  run(bench: EventBench): Promise<void>;
}

/** Runs a load on the Service of the fronts meanwhile. Their histories are in order, or this fails. */
export function loaded(
  { kubernetes, release, say }: EventBench,
  name: string,
  meanwhile: (load: Load) => Promise<void>,
): Promise<Outcome> {
  const cluster: LoadTarget = {
    operator: release.operator,
    frontUrls: [{ url: release.frontUrl, opsUrl: release.frontUrl }],
    directory: kubernetes.directory,
  };
  return underLoad({ cluster, beforeMs: BEFORE_MS, afterMs: AFTER_MS, say }, name, meanwhile);
}

/** The part of a load in which something was done. */
export async function during(load: Load, action: () => Promise<void>): Promise<Window> {
  const from = load.now();
  await action();
  return { from, to: load.now() };
}

/** Says how long the requests of the window took, and returns the 99th percentile in milliseconds. */
export function sayLatencies({ report }: Outcome, window: Window, say: (text: string) => void): number {
  const requests = report.within(window);
  const p99 = percentile(requests, 0.99);
  const worst = percentile(requests, 1);
  const seconds = ((window.to - window.from) / 1000).toFixed(1);
  say(`  over ${seconds} s: ${requests.length} requests, p99 ${p99.toFixed(0)} ms, worst ${worst.toFixed(0)} ms`);
  return p99;
}

/** No request failed, and those of the window were answered in time. */
export function assertUnnoticed(outcome: Outcome, window: Window, p99MsMax: number, say: (text: string) => void): void {
  const p99 = sayLatencies(outcome, window, say);
  assertNoFailures(outcome);
  judgeWhereBorne(say)(outcome.strain, () => assert.ok(p99 <= p99MsMax, `p99 ${p99.toFixed(0)} ms`));
}
