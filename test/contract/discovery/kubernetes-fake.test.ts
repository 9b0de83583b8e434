// Discovery by Kubernetes keeps its contract against an API server of the tests' own, over HTTP.

import { startTcpLink } from '../../kit/tcp-link.ts';
import { FakeApiServer } from './kubernetes-api/fake-api-server.ts';
import { kubeConfigText, loadFromText, plainCluster } from './kubernetes-api/kube-configs.ts';
import { defineKubernetesContract } from './kubernetes-contract.ts';

defineKubernetesContract('a server of the tests', {
  open: async () => {
    const server = new FakeApiServer();
    const link = await startTcpLink(await server.listen());
    return {
      namespace: 'grantd',
      otherNamespace: 'other',
      loadKubeConfig: loadFromText(kubeConfigText(plainCluster(link.address), { token: 'token-of-the-test' })),
      link,
      writeSlice: async (fixture) => server.write(fixture),
      removeSlice: async (namespace, name) => server.remove(namespace, name),
      deny: async () => {
        server.trouble = { list: 403 };
      },
      allow: async () => {
        server.trouble = {};
      },
      close: async () => {
        await link.close();
        await server.close();
      },
    };
  },
});
