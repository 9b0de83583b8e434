// Another version and the way back, one pod after another: nobody notices.

import assert from 'node:assert/strict';
import type { Window } from '../../../cluster/support/load.ts';
import type { Component } from '../release.ts';
import { assertUnnoticed, during, type Event, type EventBench, loaded } from './event.ts';

const P99_MS_MAX = 100;
const COMPONENTS: readonly Component[] = ['shard', 'front', 'console'];
export const NEXT_TAG = '1.0.1';

async function podNames({ release }: EventBench): Promise<Set<string>> {
  const pods = await Promise.all(COMPONENTS.map((component) => release.pods(component)));
  // Pods of a StatefulSet keep their names; their addresses change.
  return new Set(pods.flat().map(({ name, address }) => `${name} ${address}`));
}

/** Every pod is another one than before. */
async function assertReplaced(bench: EventBench, before: ReadonlySet<string>): Promise<void> {
  const kept = [...(await podNames(bench))].filter((name) => before.has(name));
  assert.deepEqual(kept, []);
}

const upgrade: Event = {
  name: 'helm upgrade to another image and another setting, and helm rollback',
  async run(bench) {
    const { release, say } = bench;
    const windows: Window[] = [];
    const outcome = await loaded(bench, 'upgrade', async (load) => {
      for (const roll of [
        () => release.upgrade({ image: { tag: NEXT_TAG }, logLevel: 'debug' }),
        () => release.rollBack(),
      ]) {
        const before = await podNames(bench);
        windows.push(await during(load, roll));
        await assertReplaced(bench, before);
        await release.waitUntilServedBy(2);
      }
    });
    for (const window of windows) assertUnnoticed(outcome, window, P99_MS_MAX, say);
  },
};

const upgradeOfNothing: Event = {
  name: 'helm upgrade that changes nothing rolls no pod',
  async run(bench) {
    const before = await podNames(bench);
    await bench.release.upgrade({});
    assert.deepEqual(await podNames(bench), before);
  },
};

const upgradeThatScales: Event = {
  name: 'helm upgrade to another image, from 3 shards to 4 and from 2 fronts to 3 at once',
  async run(bench) {
    const { release, say } = bench;
    await release.scale('shard', 3);
    await release.waitUntilRolledOut();
    await release.waitUntilServedBy(3);
    let window: Window = { from: 0, to: 0 };
    const outcome = await loaded(bench, 'upgrade-and-scale', async (load) => {
      const before = await podNames(bench);
      const values = { image: { tag: NEXT_TAG }, shard: { replicas: 4 }, front: { replicas: 3 } };
      window = await during(load, async () => {
        await release.upgrade(values);
        await release.waitUntilServedBy(4);
      });
      await assertReplaced(bench, before);
    });
    assertUnnoticed(outcome, window, P99_MS_MAX, say);
    await release.rollBack();
  },
};

export const ROLLOUTS: readonly Event[] = [upgrade, upgradeOfNothing, upgradeThatScales];
