// More pods and fewer: nobody notices, and new pods take load at once.

import assert from 'node:assert/strict';
import type { Window } from '../../../cluster/support/load.ts';
import { assertNoFailures } from '../../../cluster/support/trials/trial.ts';
import { letRun, waitFor } from '../../../kit/wait-for.ts';
import type { Component, Pod } from '../release.ts';
import { assertUnnoticed, during, type Event, type EventBench, loaded } from './event.ts';

const P99_MS_MAX = 100;
/** From when a pod is ready. */
const TAKES_LOAD_MS_MAX = 10_000;
/** Moments of Kubernetes are whole seconds. */
const CLOCK_MS = 1000;
const READY_MS_MAX = 60_000;
const SETTLE_MS = 2000;

/** The pods that were not there before. */
async function waitForNewPods(
  { release }: EventBench,
  component: Component,
  before: readonly Pod[],
  count: number,
): Promise<Pod[]> {
  const known = new Set(before.map(({ name }) => name));
  let pods: Pod[] = [];
  await waitFor(
    `${count} pods of ${component}`,
    async () => {
      pods = await release.pods(component);
      return pods.length === count && pods.every(({ ready }) => ready);
    },
    READY_MS_MAX,
  );
  return pods.filter(({ name }) => !known.has(name));
}

/** How long after it was ready the last of these pods did its first work. */
async function takeLoadMs(
  what: string,
  pods: readonly Pod[],
  works: (pod: Pod) => Promise<boolean>,
  strainMs: number,
): Promise<number> {
  const readyMs = Math.max(...pods.map(({ readySinceMs }) => readySinceMs ?? 0));
  await waitFor(
    `${what} to take load`,
    async () => (await Promise.all(pods.map(works))).every(Boolean),
    TAKES_LOAD_MS_MAX + strainMs,
  );
  return Date.now() - readyMs;
}

const scaleShards: Event = {
  name: 'shards from 2 to 4 and back to 2',
  async run(bench) {
    const { release, say } = bench;
    let window: Window = { from: 0, to: 0 };
    const outcome = await loaded(bench, 'scale-shards', async (load) => {
      window = await during(load, async () => {
        const before = await release.pods('shard');
        await release.scale('shard', 4);
        const added = await waitForNewPods(bench, 'shard', before, 4);
        const owns = async ({ name }: Pod): Promise<boolean> =>
          (await release.operator.slots()).some(({ shard, state }) => shard === name && state === 'serving');
        const tookMs = await takeLoadMs('new shards', added, owns, CLOCK_MS);
        say(`  new shards served slots ${(tookMs / 1000).toFixed(0)} s after they were ready`);
        await release.waitUntilServedBy(4);
        await letRun(SETTLE_MS);
        await release.scale('shard', 2);
        await release.waitUntilServedBy(2);
        await waitFor('two shards to be gone', async () => (await release.pods('shard')).length === 2, READY_MS_MAX);
      });
    });
    assertUnnoticed(outcome, window, P99_MS_MAX, say);
  },
};

const scaleFronts: Event = {
  name: 'fronts from 1 to 3 and back to 1',
  async run(bench) {
    const { release, say } = bench;
    await release.scale('front', 1);
    await release.waitUntilRolledOut(['front']);
    let window: Window = { from: 0, to: 0 };
    const outcome = await loaded(bench, 'scale-fronts', async (load) => {
      window = await during(load, async () => {
        const before = await release.pods('front');
        await release.scale('front', 3);
        const added = await waitForNewPods(bench, 'front', before, 3);
        const answers = async (pod: Pod): Promise<boolean> =>
          (await release.readMetric(pod, 'grantd_checks_total')) > 0;
        const tookMs = await takeLoadMs('new fronts', added, answers, CLOCK_MS);
        say(`  new fronts answered checks ${(tookMs / 1000).toFixed(0)} s after they were ready`);
        await letRun(SETTLE_MS);
        await release.scale('front', 1);
        await waitFor('two fronts to be gone', async () => (await release.pods('front')).length === 1, READY_MS_MAX);
        await letRun(SETTLE_MS);
      });
    });
    assertUnnoticed(outcome, window, P99_MS_MAX, say);
  },
};

/** Nothing in the cluster measures pods, so that the autoscalers leave the numbers as they find them. */
const switchAutoscalersOn: Event = {
  name: 'autoscalers that are switched on, and upgraded, keep the 3 shards and 3 fronts that run',
  async run(bench) {
    const { release } = bench;
    const autoscaling = { enabled: true, replicasMin: 1 };
    const wanted = async (workload: string): Promise<number> =>
      Number(await release.kubectl(['get', workload, '-o', 'jsonpath={.spec.replicas}']));
    await release.upgrade({ shard: { replicas: 3 }, front: { replicas: 3 } });
    await release.waitUntilServedBy(3);
    const outcome = await loaded(bench, 'autoscalers', async () => {
      // The second upgrade finds no number in the values of the first.
      for (const logLevel of ['info', 'warn']) {
        await release.upgrade({
          shard: { autoscaling },
          front: { autoscaling },
          console: { annotations: { logLevel } },
        });
        assert.equal(await wanted('statefulset/grantd-shard'), 3);
        assert.equal(await wanted('deployment/grantd-front'), 3);
        await letRun(SETTLE_MS);
      }
      await release.waitUntilServedBy(3);
    });
    assertNoFailures(outcome);
    await release.upgrade({});
  },
};

export const RESCALING: readonly Event[] = [scaleShards, scaleFronts, switchAutoscalersOn];
