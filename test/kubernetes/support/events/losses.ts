// Pods and nodes that go, in order and without a word.

import assert from 'node:assert/strict';
import type { Load, LoadReport, Window } from '../../../cluster/support/load.ts';
import {
  assertNoFailures,
  describeRequest,
  judgeWhereBorne,
  tenantsOf,
} from '../../../cluster/support/trials/trial.ts';
import { letRun, waitFor } from '../../../kit/wait-for.ts';
import { during, type Event, type EventBench, loaded, sayLatencies } from './event.ts';

/** Of a shard that has gone: its lease, and the openings of its slots. */
const FAILOVER_MS_MAX = 4000;
const WATCH_MS = 10_000;
const NODE_LOSS_MS_MAX = 20_000;
const NODE_BACK_MS_MAX = 90_000;
const DRAIN_SECONDS_MAX = 120;
const VICTIM = 'grantd-shard-1';

/** When the last of these tenants was answered again: milliseconds after the moment. */
function answeredAgainMs(report: LoadReport, tenants: ReadonlySet<number>, since: number): number {
  const firsts = [...tenants].map((tenant) => {
    const after = report.requests.filter(
      (each) => each.tenant === tenant && each.atMs >= since && each.failure === undefined,
    );
    return Math.min(...after.map(({ atMs, latencyMs }) => atMs + latencyMs - since));
  });
  return Math.max(0, ...firsts);
}

/** A shard that goes without handing over: its tenants wait, and nobody fails. */
function lossOfShard(name: string, title: string, take: (bench: EventBench) => Promise<unknown>): Event {
  return {
    name: title,
    async run(bench) {
      const { release, say } = bench;
      let since = 0;
      let owned = new Set<number>();
      const outcome = await loaded(bench, name, async (load) => {
        owned = tenantsOf(load, await release.operator.slots(), VICTIM);
        since = load.now();
        await take(bench);
        await letRun(WATCH_MS);
        await release.waitUntilRolledOut(['shard']);
        await release.waitUntilServedBy(2);
      });
      assert.ok(owned.size > 0, 'The shard served a tenant.');
      const backMs = answeredAgainMs(outcome.report, owned, since);
      say(`  ${owned.size} tenants of the shard were answered again after ${backMs.toFixed(0)} ms at the latest`);
      assertNoFailures(outcome);
      judgeWhereBorne(say)(outcome.strain, () => assert.ok(backMs <= FAILOVER_MS_MAX, `back after ${backMs} ms`));
    },
  };
}

const deleteShard = lossOfShard('delete-shard', 'a shard deleted with no grace', ({ release }) =>
  release.kubectl(['delete', 'pod', VICTIM, '--grace-period=0', '--force']),
);

const killContainer = lossOfShard(
  'kill-container',
  'a container of a shard killed, as for lack of memory',
  ({ kubernetes }) => kubernetes.killContainer(VICTIM, 'shard'),
);

const drainNode: Event = {
  name: 'kubectl drain of a node',
  async run(bench) {
    const { kubernetes, release, say } = bench;
    let window: Window = { from: 0, to: 0 };
    try {
      const outcome = await loaded(bench, 'drain', async (load) => {
        window = await during(load, async () => {
          const args = ['drain', 'node2', '--ignore-daemonsets', '--delete-emptydir-data'];
          await kubernetes.kubectl([...args, `--timeout=${DRAIN_SECONDS_MAX}s`]);
          await release.waitUntilRolledOut();
          await release.waitUntilServedBy(2);
        });
      });
      sayLatencies(outcome, window, say);
      assertNoFailures(outcome);
    } finally {
      await kubernetes.kubectl(['uncordon', 'node2']);
    }
    const pods = [...(await release.pods('shard')), ...(await release.pods('front'))];
    assert.deepEqual(new Set(pods.map(({ node }) => node)), new Set(['node1']));
    await spread(bench);
  },
};

/** Fronts and shards are on both nodes again, as at first: nothing moves them by itself. */
async function spread({ release }: EventBench): Promise<void> {
  await release.kubectl(['rollout', 'restart', 'statefulset/grantd-shard', 'deployment/grantd-front']);
  await release.waitUntilRolledOut();
  await release.waitUntilServedBy(2);
}

async function victimNode({ release }: EventBench): Promise<number> {
  const shard = (await release.pods('shard')).find(({ name }) => name === VICTIM);
  return Number(shard?.node.replace('node', ''));
}

const cutNode: Event = {
  name: "a node's link down",
  async run(bench) {
    const { kubernetes, release, say } = bench;
    const node = await victimNode(bench);
    const fronts = await release.pods('front');
    assert.ok(
      fronts.some((front) => front.node !== `node${node}`),
      'A front is on the other node.',
    );
    let since = 0;
    let owned = new Set<number>();
    let isCut = false;
    const mend = async (): Promise<void> => {
      if (isCut) await kubernetes.mendNode(node);
      isCut = false;
    };
    try {
      const outcome = await loaded(bench, 'cut-node', async (load) => {
        owned = tenantsOf(load, await release.operator.slots(), VICTIM);
        since = load.now();
        await kubernetes.cutNode(node);
        isCut = true;
        await letRun(NODE_LOSS_MS_MAX + WATCH_MS);
        await mend();
        await untilBack(bench, node, load);
      });
      const late = outcome.report.failures.filter(({ atMs }) => atMs > since + NODE_LOSS_MS_MAX * outcome.strain);
      const backMs = answeredAgainMs(outcome.report, owned, since);
      say(`  ${owned.size} tenants of its shard were answered again after ${backMs.toFixed(0)} ms at the latest`);
      const lastMs = Math.max(0, ...outcome.report.failures.map(({ atMs }) => atMs - since));
      say(
        `  ${outcome.report.failures.length} failed, the last was sent ${(lastMs / 1000).toFixed(1)} s after the cut`,
      );
      assert.deepEqual(late.slice(0, 5).map(describeRequest), []);
    } finally {
      await mend();
    }
    await spread(bench);
  },
};

async function untilBack({ kubernetes, release }: EventBench, node: number, load: Load): Promise<void> {
  await kubernetes.kubectl(['wait', '--for=condition=Ready', `node/node${node}`, `--timeout=${NODE_BACK_MS_MAX}ms`]);
  await waitFor('two shards', async () => (await release.pods('shard')).length === 2, NODE_BACK_MS_MAX);
  await release.waitUntilRolledOut();
  await release.waitUntilServedBy(2);
  await letRun(Math.max(0, WATCH_MS - load.now()));
}

export const LOSSES: readonly Event[] = [deleteShard, killContainer, drainNode, cutNode];
