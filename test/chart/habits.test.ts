// What other charts have under these names works here as people know it; and what belongs to the whole cluster is in
// the way of no other release.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KubernetesObject, missingHelm, type RenderOptions, render, renderNotes } from './support/helm.ts';
import { type Pod, podsOf } from './support/pods.ts';

const missing = await missingHelm('the habits of other charts');
const SERVING = ['front', 'shard', 'console'] as const;

interface Details {
  readonly hostAliases?: unknown;
  readonly initContainers?: readonly { readonly name: string }[];
  readonly containers: readonly { readonly lifecycle?: unknown }[];
}

async function podOf(options: RenderOptions, component: string): Promise<Pod> {
  const pod = podsOf(await render(options)).find((each) => each.component === component);
  return pod ?? assert.fail(`There is no pod of ${component}.`);
}

const find = (objects: readonly KubernetesObject[], kind: string, name: string): KubernetesObject =>
  objects.find((each) => each.kind === kind && each.metadata.name === name) ?? assert.fail(`${kind} ${name}`);

describe('by the names that other charts have', { skip: missing }, () => {
  it('pods get annotations, for all or for a part, over those of pod.annotations', async () => {
    const set = {
      podAnnotations: { a: '1', b: '1' },
      'pod.annotations': { a: '0', c: '0' },
      'shard.podAnnotations': { b: '2' },
    };
    const annotationsOf = async (component: string): Promise<Record<string, string>> => {
      const { object } = await podOf({ ci: 'minimal', set }, component);
      const { template } = object.spec as { template: { metadata: { annotations: Record<string, string> } } };
      const { a = '', b = '', c = '' } = template.metadata.annotations;
      return { a, b, c };
    };
    assert.deepEqual(await annotationsOf('front'), { a: '1', b: '1', c: '0' });
    assert.deepEqual(await annotationsOf('shard'), { a: '1', b: '2', c: '0' });
  });

  it('pods get init containers, hooks and entries of /etc/hosts', async () => {
    const set = {
      'pod.extraInitContainers': [{ name: 'first', image: 'x' }],
      'pod.lifecycle': { preStop: { sleep: { seconds: 1 } } },
      'pod.hostAliases': [{ ip: '10.0.0.1', hostnames: ['cassandra'] }],
    };
    for (const [ci, component] of [
      ...SERVING.map((each) => ['minimal', each]),
      ['standalone', 'standalone'],
    ] as const) {
      const { spec } = await podOf({ ci: ci ?? '', set }, component ?? '');
      const { hostAliases, initContainers, containers } = spec as Details;
      assert.deepEqual(hostAliases, set['pod.hostAliases'], component);
      assert.equal(initContainers?.[0]?.name, 'first', component);
      assert.deepEqual(containers[0]?.lifecycle, set['pod.lifecycle'], component);
    }
    const names = (await podOf({ ci: 'minimal', set }, 'shard')).spec.initContainers?.map(({ name }) => name);
    assert.deepEqual(names, ['first', 'watch']);
  });

  it('workloads are replaced as updateStrategy says', async () => {
    const strategiesOf = async (options: RenderOptions): Promise<unknown[]> => {
      const objects = await render(options);
      const front = find(objects, 'Deployment', 'grantd-front').spec as { strategy: unknown };
      const shard = find(objects, 'StatefulSet', 'grantd-shard').spec as { updateStrategy: unknown };
      return [front.strategy, shard.updateStrategy];
    };
    assert.deepEqual(await strategiesOf({ ci: 'minimal' }), [
      { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      { type: 'RollingUpdate' },
    ]);
    const set = {
      'front.updateStrategy.rollingUpdate.maxSurge': 2,
      'shard.updateStrategy.rollingUpdate': { partition: 1 },
    };
    assert.deepEqual(await strategiesOf({ ci: 'minimal', set }), [
      { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } },
      { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
    ]);
  });

  it('the path of the Ingress is compared as pathType says', async () => {
    const pathTypeOf = async (set: NonNullable<RenderOptions['set']>): Promise<string | undefined> => {
      type Ingress = { rules: { http: { paths: { pathType: string }[] } }[] };
      const { spec } = find(await render({ ci: 'high-availability', set }), 'Ingress', 'grantd');
      return (spec as Ingress).rules[0]?.http.paths[0]?.pathType;
    };
    assert.equal(await pathTypeOf({}), 'Prefix');
    assert.equal(await pathTypeOf({ 'ingress.pathType': 'ImplementationSpecific' }), 'ImplementationSpecific');
  });
});

describe('a release beside others', { skip: missing }, () => {
  it('has a PriorityClass whose name no release of another namespace has', async () => {
    const objects = await render({ ci: 'minimal', set: { 'priorityClass.create': true } });
    find(objects, 'PriorityClass', 'authorization-grantd');
    for (const { component, spec } of podsOf(objects)) {
      const wanted = component === 'secrets' ? undefined : 'authorization-grantd';
      if (component !== 'test') assert.equal(spec.priorityClassName, wanted, component);
    }
  });
});

describe('the notes', { skip: missing }, () => {
  it('say where there may be more shards than slots', async () => {
    const few = { 'cassandra.slots': 4 };
    assert.match(
      await renderNotes({ ci: 'minimal', set: { ...few, 'shard.replicas': 6 } }),
      /6 shards and there are 4 slots: 2 of the shards would stay idle/,
    );
    assert.match(
      await renderNotes({ ci: 'minimal', set: { ...few, 'shard.autoscaling.enabled': true } }),
      /12 shards and there are 4 slots/,
    );
    assert.doesNotMatch(await renderNotes({ ci: 'minimal', set: { ...few, 'shard.replicas': 4 } }), /stay idle/);
    assert.doesNotMatch(await renderNotes({ ci: 'minimal', set: { 'shard.replicas': 256 } }), /stay idle/);
  });
});
