// How many pods the chart asks for: what the values say, or what runs where an autoscaler has the say.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { useDirectory } from '../kit/directory.ts';
import { missingHelm, type RenderOptions, render } from './support/helm.ts';
import { serveRunningWorkloads } from './support/running-workloads.ts';

const missing = await missingHelm('the number of pods that the chart asks for');
const AUTOSCALED = { 'front.autoscaling.enabled': true, 'shard.autoscaling.enabled': true };
const directory = useDirectory();

/** By workload; undefined where the field is left out. */
async function replicasOf(options: RenderOptions): Promise<Record<string, number | undefined>> {
  const workloads = (await render(options)).filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind));
  return Object.fromEntries(
    workloads.map(({ metadata, spec }) => [metadata.name, (spec as { readonly replicas?: number }).replicas]),
  );
}

async function onCluster(
  running: Readonly<Record<string, number>>,
  set: NonNullable<RenderOptions['set']>,
): Promise<Record<string, number | undefined>> {
  const workloads = await serveRunningWorkloads(running);
  // A file of its own for each: what was rendered with it is remembered by its name.
  const kubeConfigFile = join(directory, `${JSON.stringify([running, set]).replaceAll(/\W+/g, '-')}.json`);
  writeFileSync(kubeConfigFile, workloads.kubeConfig);
  try {
    return await replicasOf({ ci: 'minimal', set, kubeConfigFile });
  } finally {
    workloads.close();
  }
}

describe('the number of pods', { skip: missing }, () => {
  it('is that of the values, under both of its names', async () => {
    assert.deepEqual(await replicasOf({ ci: 'minimal' }), {
      'grantd-console': 1,
      'grantd-front': 2,
      'grantd-shard': 3,
    });
    const set = { 'front.replicaCount': 5, 'shard.replicaCount': 0, 'shard.replicas': 4, 'console.replicaCount': 2 };
    assert.deepEqual(await replicasOf({ ci: 'minimal', set }), {
      'grantd-console': 2,
      'grantd-front': 5,
      'grantd-shard': 0,
    });
  });

  it('is kept as it is when the autoscaler is switched on, and at every upgrade after that', async () => {
    const running = { 'Deployment/grantd-front': 4, 'StatefulSet/grantd-shard': 7, 'Deployment/grantd-console': 9 };
    assert.deepEqual(await onCluster(running, AUTOSCALED), {
      'grantd-console': 1,
      'grantd-front': 4,
      'grantd-shard': 7,
    });
  });

  it('is left to the autoscaler where nothing runs yet, or no cluster is asked', async () => {
    const left = { 'grantd-console': 1, 'grantd-front': undefined, 'grantd-shard': undefined };
    assert.deepEqual(await onCluster({}, AUTOSCALED), left);
    assert.deepEqual(await replicasOf({ ci: 'minimal', set: AUTOSCALED }), left);
  });

  it('is that of the values without an autoscaler, whatever runs', async () => {
    const running = { 'Deployment/grantd-front': 4, 'StatefulSet/grantd-shard': 7 };
    assert.deepEqual(await onCluster(running, {}), { 'grantd-console': 1, 'grantd-front': 2, 'grantd-shard': 3 });
  });

  it('goes down one by one under an autoscaler, and never below what survives the loss of one', async () => {
    type Autoscaler = {
      readonly minReplicas: number;
      readonly behavior: {
        readonly scaleDown: { readonly policies: readonly { type: string; value: number; periodSeconds: number }[] };
      };
    };
    const objects = await render({ ci: 'minimal', set: AUTOSCALED });
    const autoscalers = objects.filter(({ kind }) => kind === 'HorizontalPodAutoscaler');
    assert.deepEqual(autoscalers.map(({ metadata }) => metadata.name).sort(), ['grantd-front', 'grantd-shard']);
    for (const { metadata, spec } of autoscalers) {
      const { minReplicas, behavior } = spec as Autoscaler;
      assert.ok(minReplicas >= 2, metadata.name);
      assert.ok(behavior.scaleDown.policies.every(({ type, value }) => type === 'Pods' && value === 1));
    }
  });
});
