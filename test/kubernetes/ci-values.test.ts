// Each file of values in `charts/grantd/ci` on a real cluster, as chart-testing would run it: installed until every pod
// is ready, tested by `helm test`, uninstalled. No cert-manager, Prometheus operator, Gateway, metrics server or
// identity provider runs here: their objects are stored, and nothing follows from them.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type CassandraCluster, missingCassandra, startCassandra } from '../../tools/engines/cassandra.ts';
import { KubernetesCluster, missingKubernetes } from '../../tools/engines/kubernetes/cluster.ts';
import { buildImage } from '../../tools/engines/kubernetes/image.ts';
import { missingRedis, RedisServer } from '../../tools/engines/redis.ts';
import { CHART, CI_VALUES, ciFile } from '../chart/support/helm.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, nodeLabels, prerequisitesOf, volume } from './support/ci-values.ts';
import { Release } from './support/release.ts';

const NAME = 'the examples of values on a real Kubernetes';
const NODES = 2;
const TAG = '1.0.0';
const STORE_ADDRESS = 1;
const RELEASE_MS_MAX = 600_000;

const missing = (await missingKubernetes(NAME)) ?? (await missingCassandra(NAME)) ?? (await missingRedis(NAME));

describe(NAME, { skip: missing ?? false }, () => {
  let cassandra: CassandraCluster;
  let kubernetes: KubernetesCluster;
  let redis: RedisServer;

  before(async () => {
    [cassandra, kubernetes] = await Promise.all([
      startCassandra({ nodes: 1 }),
      KubernetesCluster.start({ nodes: NODES }),
    ]);
    await kubernetes.loadImage(await buildImage(TAG, kubernetes.directory));
    redis = await RedisServer.start(['--bind', '127.0.0.1', kubernetes.hostAddress(1), '--protected-mode', 'no']);
    for (let node = 1; node <= NODES; node += 1) {
      await kubernetes.kubectl(['label', 'node', `node${node}`, ...nodeLabels(node)]);
    }
    const volumes = ['2Gi', '10Gi'].map((size) => {
      const path = join(kubernetes.directory, `volume-${size}`);
      mkdirSync(path);
      return volume(`volume-${size.toLowerCase()}`, path, size);
    });
    const items = [...CUSTOM_RESOURCE_DEFINITIONS, ...volumes];
    await kubernetes.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  });
  after(async () => {
    await redis?.stop();
    await kubernetes?.stop();
    await cassandra?.stop();
  });

  for (const ci of CI_VALUES) {
    it(ci, { timeout: RELEASE_MS_MAX }, async () => {
      const namespace = `ci-${ci}`;
      const release = new Release({ kubernetes, cassandra, namespace, imageTag: TAG, storeAddress: STORE_ADDRESS });
      const redisUrl = `redis://${kubernetes.hostAddress(1)}:${redis.port}`;
      const { objects, values } = await prerequisitesOf(ci, { namespace, redisUrl });
      const files = [
        ciFile(ci),
        ...['of-the-cluster', 'of-the-example'].map((name) => join(kubernetes.directory, name)),
      ];
      // What runs where is the example's own affair.
      release.writeValues(files[1] ?? '', ['pod', 'operator']);
      writeFileSync(files[2] ?? '', JSON.stringify(values));
      await release.createNamespace();
      await release.openStore();
      try {
        for (const object of objects) {
          const metadata = { ...object.metadata, namespace };
          await kubernetes.apply(JSON.stringify({ ...object, metadata }));
        }
        const args = files.flatMap((file) => ['--values', file]);
        await release.helm(['install', 'grantd', CHART, ...args, '--wait', '--timeout=4m']);
        assert.match(await release.helm(['test', 'grantd', '--logs']), /grantd works as expected\./);
        await release.helm(['uninstall', 'grantd', '--wait', '--timeout=3m']);
        // The pods end by themselves; that of the test stays, for its log.
        assert.equal(await release.kubectl(['get', 'deployment,statefulset,job', '--output', 'name']), '');
      } catch (error) {
        process.stderr.write(`\n${await release.describe().catch(String)}\n`);
        throw error;
      } finally {
        await release.close();
        await kubernetes.kubectl(['delete', 'namespace', namespace, '--wait=false']);
      }
    });
  }
});
