// Discovery by Kubernetes against a real API server, under the contract that the one of the other tests passes too.

import { after, before, describe } from 'node:test';
import { KubernetesCluster, missingKubernetes } from '../../tools/engines/kubernetes/cluster.ts';
import { defineRealKubernetesContract } from '../contract/discovery/kubernetes-real.ts';

const NAME = 'a real API server';

const missing = await missingKubernetes(NAME);

describe(NAME, { skip: missing ?? false }, () => {
  let started: KubernetesCluster | undefined;
  const cluster = (): KubernetesCluster => {
    if (started === undefined) throw new Error('Nothing runs.');
    return started;
  };

  before(async () => {
    started = await KubernetesCluster.start({ nodes: 1 });
  });
  after(async () => {
    await started?.stop();
  });

  defineRealKubernetesContract({
    kubeconfig: () => cluster().kubeconfig,
    restart: async () => {
      await cluster().stopApi();
      await cluster().startApi();
    },
  });
});
