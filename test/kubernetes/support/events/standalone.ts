// grantd as somebody tries it: one pod with the embedded store, on a volume.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { waitFor } from '../../../kit/wait-for.ts';
import { answerFirstCheck, check } from '../first-check.ts';
import { Release } from '../release.ts';
import type { Event, EventBench } from './event.ts';

export const FIRST_TAG = '1.0.0';
const NAMESPACE = 'standalone';
const READY_MS_MAX = 60_000;

/** There is nothing in the cluster that makes volumes: one of node 1 is there, for the first claim. */
async function offerVolume({ kubernetes }: EventBench): Promise<void> {
  const path = join(kubernetes.directory, 'volume');
  mkdirSync(path);
  await kubernetes.apply(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: of-the-standalone-pod}
spec:
  capacity: {storage: 2Gi}
  accessModes: [ReadWriteOnce]
  local: {path: ${path}}
  nodeAffinity:
    required:
      nodeSelectorTerms:
        - matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node1]}]
`);
}

/** Where the Service leads is known a moment later than that the pod is ready. */
async function checkAgain(release: Release, key: string): Promise<boolean> {
  let last: unknown;
  let authorized = false;
  const answered = async (): Promise<boolean> => {
    try {
      authorized = await check(release, key);
      return true;
    } catch (error) {
      last = error;
      return false;
    }
  };
  await waitFor('a check after the restart', answered, READY_MS_MAX, () => inspect(last));
  return authorized;
}

const standalone: Event = {
  name: 'standalone: installed with one value, and what it stores outlives its pod',
  async run(bench) {
    const { kubernetes, cassandra } = bench;
    await offerVolume(bench);
    const release = new Release({
      kubernetes,
      cassandra,
      namespace: NAMESPACE,
      imageTag: FIRST_TAG,
      storeAddress: 9,
    });
    await release.createNamespace();
    try {
      await release.installStandalone();
      await release.connect(await release.readOperatorToken());
      const key = await answerFirstCheck(release);
      await release.helm(['test', 'grantd', '--logs']);
      await release.kubectl(['delete', 'pod', 'grantd-standalone-0']);
      await release.kubectl(['rollout', 'status', 'statefulset/grantd-standalone', `--timeout=${READY_MS_MAX}ms`]);
      assert.equal(await checkAgain(release, key), true);
    } catch (error) {
      bench.say(await release.describe());
      throw error;
    } finally {
      await release.close();
      await kubernetes.kubectl(['delete', 'namespace', NAMESPACE]);
    }
  },
};

export const STANDALONE: readonly Event[] = [standalone];
