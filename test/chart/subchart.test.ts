// The chart as a part of another one: switched by a condition, with what the parent shares, beside others in the
// cluster.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { stringify } from 'yaml';
import packageFile from '../../package.json' with { type: 'json' };
import { useDirectory } from '../kit/directory.ts';
import { CHART, type KubernetesObject, missingHelm, type RenderOptions, render } from './support/helm.ts';
import { containersOf, podsOf } from './support/pods.ts';

const missing = await missingHelm('the chart as a part of another one');
const { version } = packageFile;
const parent = useDirectory();
mkdirSync(join(parent, 'charts'));
cpSync(CHART, join(parent, 'charts', 'grantd'), { recursive: true });
writeFileSync(
  join(parent, 'Chart.yaml'),
  stringify({
    apiVersion: 'v2',
    name: 'platform',
    version: '1.0.0',
    dependencies: [{ name: 'grantd', version, condition: 'grantd.enabled' }],
  }),
);
const CASSANDRA = { 'grantd.cassandra.contactPoints': ['cassandra'], 'grantd.cassandra.localDatacenter': 'dc1' };
const IMAGE = { 'grantd.image.registry': 'ghcr.io', 'grantd.image.repository': 'platform/grantd' };

/** The example's own values are the parent's, which has no such keys and leaves them. */
const renderParent = (set: NonNullable<RenderOptions['set']>): Promise<KubernetesObject[]> =>
  render({ ci: 'minimal', chart: parent, set: { ...CASSANDRA, ...IMAGE, ...set } });
const imagesOf = (objects: readonly KubernetesObject[]): (string | undefined)[] => [
  ...new Set(podsOf(objects).flatMap((pod) => containersOf(pod).map(({ image }) => image))),
];
const pullSecretsOf = (objects: readonly KubernetesObject[]): unknown[] =>
  podsOf(objects).map(({ spec }) => (spec as { readonly imagePullSecrets?: unknown }).imagePullSecrets);

describe('the chart as a part of another one', { skip: missing }, () => {
  it('is installed, or not, as the condition of the parent says', async () => {
    assert.ok(podsOf(await renderParent({ 'grantd.enabled': true })).length >= 3);
    assert.deepEqual(podsOf(await renderParent({ 'grantd.enabled': false })), []);
  });

  it('takes the registry and the pull secrets of the parent, and leaves its other global values alone', async () => {
    const objects = await renderParent({
      'global.imageRegistry': 'registry.example.com',
      'global.imagePullSecrets': ['first', { name: 'second' }],
      'global.storageClass': 'fast',
      'grantd.image.pullSecrets': ['own', 'first'],
    });
    assert.deepEqual(imagesOf(objects), [`registry.example.com/platform/grantd:${version}`]);
    for (const secrets of pullSecretsOf(objects)) {
      assert.deepEqual(secrets, [{ name: 'own' }, { name: 'first' }, { name: 'second' }]);
    }
  });

  it('uses the registry of its own if the parent names none', async () => {
    assert.deepEqual(imagesOf(await renderParent({})), [`ghcr.io/platform/grantd:${version}`]);
  });
});
