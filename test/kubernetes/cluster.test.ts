// The cluster that the tests on Kubernetes run on is a real one: pods start, Services lead to those that are ready,
// names are found, and what a test can do to it has the effect that it is to have.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { KubernetesCluster, missingKubernetes } from '../../tools/engines/kubernetes/cluster.ts';
import { waitFor } from '../kit/wait-for.ts';

const IMAGE = 'example.com/name-server:1';
const REPLICAS = 2;
const PROBE_MS_MAX = 1000;
/** The time after which a node that says nothing counts as gone, and as much for what follows from it. */
const NODE_MS_MAX = 20_000;

/** A name server that answers over HTTP whether it is well, one on each node. */
const WORKLOAD = `
apiVersion: v1
kind: ConfigMap
metadata: {name: names}
data: {Corefile: ".:1053 {\\n  health :8080\\n}\\n"}
---
apiVersion: v1
kind: Service
metadata: {name: names}
spec: {selector: {app: names}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {name: each-name}
spec: {clusterIP: None, selector: {app: names}, ports: [{name: http, port: 8080}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: names}
spec:
  replicas: ${REPLICAS}
  selector: {matchLabels: {app: names}}
  template:
    metadata: {labels: {app: names}}
    spec:
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: 1
      topologySpreadConstraints:
        - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: names}}}
      containers:
        - name: names
          image: ${IMAGE}
          imagePullPolicy: Never
          args: [-conf, /etc/names/Corefile]
          readinessProbe: {httpGet: {path: /health, port: 8080}, periodSeconds: 1}
          volumeMounts: [{name: names, mountPath: /etc/names}]
      volumes: [{name: names, configMap: {name: names}}]
`;

const missing = await missingKubernetes('a cluster of real nodes');

describe('a cluster of real nodes', { skip: missing ?? false }, () => {
  let started: KubernetesCluster | undefined;
  const cluster = (): KubernetesCluster => {
    if (started === undefined) throw new Error('There is no cluster.');
    return started;
  };
  const reaches = async (address: string): Promise<boolean> => {
    try {
      const response = await fetch(`http://${address}/health`, { signal: AbortSignal.timeout(PROBE_MS_MAX) });
      return (await response.text()) === 'OK';
    } catch {
      return false;
    }
  };
  const serviceAddress = async (): Promise<string> => (await cluster().read(['service', 'names'])).spec.clusterIP;
  const readyNodes = async (): Promise<string[]> => {
    const slices = await cluster().read(['endpointslices', '-l', 'kubernetes.io/service-name=names']);
    const endpoints: { nodeName: string; conditions: { ready: boolean } }[] = slices.items.flatMap(
      (slice: { endpoints: unknown[] | null }) => slice.endpoints ?? [],
    );
    return endpoints
      .filter(({ conditions }) => conditions.ready)
      .map(({ nodeName }) => nodeName)
      .sort();
  };
  const untilReadyOn = (...nodes: string[]): Promise<void> =>
    waitFor(`a pod on each of ${nodes}`, async () => (await readyNodes()).join() === nodes.join(), NODE_MS_MAX * 2);

  before(async () => {
    started = await KubernetesCluster.start({ nodes: 2 });
    await started.loadProgram('coredns', IMAGE);
    await started.apply(WORKLOAD);
    await started.kubectl(['rollout', 'status', 'deployment/names', '--timeout=60s']);
  });
  after(() => started?.stop());

  it('runs pods on every node, which the host reaches by their addresses and by their Service', async () => {
    await untilReadyOn('node1', 'node2');
    const pods = await cluster().read(['pods', '-l', 'app=names']);
    for (const pod of pods.items) assert.ok(await reaches(`${pod.status.podIP}:8080`), pod.status.podIP);
    await waitFor('the Service', async () => reaches(await serviceAddress()), PROBE_MS_MAX * 5);
  });

  it('installs charts', async () => {
    assert.equal(JSON.parse(await cluster().helm(['list', '-o', 'json'])).length, 0);
  });

  it('starts a container again that was killed', async () => {
    const [pod] = (await cluster().read(['pods', '-l', 'app=names'])).items;
    const { name } = pod.metadata;
    await cluster().killContainer(name, 'names');
    const restarts = async (): Promise<number> => {
      const [container] = (await cluster().read(['pod', name])).status.containerStatuses;
      return container.ready ? container.restartCount : 0;
    };
    await waitFor('the container to run again', async () => (await restarts()) === 1, NODE_MS_MAX);
    await assert.rejects(cluster().killContainer('nobody', 'names'), /failed kill nobody names/);
  });

  it('leaves Services as they are while the API server is away', async () => {
    const address = await serviceAddress();
    await cluster().stopApi();
    await assert.rejects(cluster().kubectl(['get', 'nodes', '--request-timeout=2s']));
    assert.ok(await reaches(address));
    await cluster().startApi();
    await cluster().kubectl(['get', 'nodes']);
  });

  it('moves what ran on a node that was cut off, and takes the node back', async () => {
    await untilReadyOn('node1', 'node2');
    await cluster().cutNode(2);
    await untilReadyOn('node1', 'node1');
    assert.ok(await reaches(await serviceAddress()));
    await cluster().mendNode(2);
    await cluster().kubectl(['wait', '--for=condition=Ready', 'node/node2', `--timeout=${NODE_MS_MAX}ms`]);
  });

  it('empties a node that is drained', async () => {
    await cluster().kubectl(['drain', 'node1', '--ignore-daemonsets', '--timeout=60s']);
    await untilReadyOn('node2', 'node2');
    await cluster().kubectl(['uncordon', 'node1']);
  });

  it('leaves nothing behind', async () => {
    const { directory } = cluster();
    await cluster().stop();
    assert.ok(!existsSync(directory));
  });
});
