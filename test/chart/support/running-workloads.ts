// As much of an API server as Helm's `lookup` asks: which resources there are, and how many pods the workloads have
// now.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NAMESPACE } from './helm.ts';

const RESOURCES = [
  { name: 'deployments', kind: 'Deployment' },
  { name: 'statefulsets', kind: 'StatefulSet' },
] as const;
const APPS = { groupVersion: 'apps/v1', version: 'v1' };

export interface RunningWorkloads {
  readonly kubeConfig: string;
  close(): void;
}

/** `replicas` by kind and name, such as `Deployment/grantd-front`. */
export async function serveRunningWorkloads(replicas: Readonly<Record<string, number>>): Promise<RunningWorkloads> {
  const documents = new Map<string, object>([
    ['/version', { major: '1', minor: '35', gitVersion: 'v1.35.0' }],
    ['/api', { kind: 'APIVersions', versions: [] }],
    [
      '/apis',
      { kind: 'APIGroupList', apiVersion: 'v1', groups: [{ name: 'apps', versions: [APPS], preferredVersion: APPS }] },
    ],
    [
      '/apis/apps/v1',
      {
        kind: 'APIResourceList',
        apiVersion: 'v1',
        groupVersion: APPS.groupVersion,
        resources: RESOURCES.map(({ name, kind }) => ({ name, kind, namespaced: true, verbs: ['get', 'list'] })),
      },
    ],
  ]);
  for (const { name: resource, kind } of RESOURCES) {
    for (const [key, count] of Object.entries(replicas)) {
      const [owner, name = ''] = key.split('/');
      if (owner !== kind) continue;
      documents.set(`/apis/apps/v1/namespaces/${NAMESPACE}/${resource}/${name}`, {
        apiVersion: APPS.groupVersion,
        kind,
        metadata: { name, namespace: NAMESPACE },
        spec: { replicas: count },
      });
    }
  }
  const server: Server = createServer(({ url = '' }, response) => {
    const found = documents.get(url.split('?')[0] ?? '');
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    kubeConfig: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      clusters: [{ name: 'test', cluster: { server: address } }],
      users: [{ name: 'test', user: {} }],
    }),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
