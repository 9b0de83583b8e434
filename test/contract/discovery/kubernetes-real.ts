// Discovery by Kubernetes keeps its contract against a real API server, and finds there what the server of the tests is
// only said to be like: bookmarks, watches that are ended in time, versions that are too old. The caller names the
// server by a kubeconfig whose user may do everything.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { type Cluster, CoreV1Api, DiscoveryV1Api, KubeConfig, RbacAuthorizationV1Api } from '@kubernetes/client-node';
import { createApiServer, type LoadKubeConfig } from '../../../src/discovery/kubernetes/api-server.ts';
import { parseSliceEvent, parseSliceList } from '../../../src/discovery/kubernetes/endpoint-slices.ts';
import { startTcpLink, type TcpLink } from '../../kit/tcp-link.ts';
import { kubeConfigText, loadFromText } from './kubernetes-api/kube-configs.ts';
import { type SliceFixture, sliceObject } from './kubernetes-api/slice-fixture.ts';
import { watchDiscovery } from './kubernetes-api/watched-discovery.ts';
import { defineKubernetesContract, type KubernetesUnderTest } from './kubernetes-contract.ts';

const ACCOUNT = 'front';
const ROLE = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: ACCOUNT };
/** What fronts and consoles are given. */
const RULES = [{ apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['get', 'list', 'watch'] }];

interface RealKubernetes extends KubernetesUnderTest {
  /** A client that may do everything, without the link. */
  readonly admin: LoadKubeConfig;
}

/** The authority as a kubeconfig holds it in itself. */
function authorityOf(cluster: Cluster): string | undefined {
  return cluster.caFile === undefined ? cluster.caData : readFileSync(cluster.caFile, 'base64');
}

function clusterOf(config: KubeConfig): Cluster {
  const cluster = config.getCurrentCluster();
  assert.ok(cluster, 'the kubeconfig has a current context');
  return cluster;
}

/**
 * A client through the link, with the token of a service account. The certificate is for a name that every API server
 * has.
 */
async function loadThroughLink(admin: KubeConfig, namespace: string, link: TcpLink): Promise<LoadKubeConfig> {
  const request = { spec: { audiences: [], expirationSeconds: 3600 } };
  const { status } = await admin
    .makeApiClient(CoreV1Api)
    .createNamespacedServiceAccountToken({ name: ACCOUNT, namespace, body: request });
  const cluster = {
    server: `https://${link.address}`,
    'tls-server-name': 'kubernetes.default.svc',
    'certificate-authority-data': authorityOf(clusterOf(admin)),
  };
  return loadFromText(kubeConfigText(cluster, { token: status?.token }));
}

async function openRealKubernetes(kubeconfig: string): Promise<RealKubernetes> {
  const admin = new KubeConfig();
  admin.loadFromFile(kubeconfig);
  const [core, slices, rights] = [
    admin.makeApiClient(CoreV1Api),
    admin.makeApiClient(DiscoveryV1Api),
    admin.makeApiClient(RbacAuthorizationV1Api),
  ];
  const namespace = `grantd-discovery-${randomBytes(4).toString('hex')}`;
  const otherNamespace = `${namespace}-other`;
  for (const name of [namespace, otherNamespace]) await core.createNamespace({ body: { metadata: { name } } });
  await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: ACCOUNT } } });
  await rights.createNamespacedRole({ namespace, body: { metadata: { name: ACCOUNT }, rules: RULES } });
  const allow = async (): Promise<void> => {
    const subjects = [{ kind: 'ServiceAccount', name: ACCOUNT, namespace }];
    const body = { metadata: { name: ACCOUNT }, roleRef: ROLE, subjects };
    await rights.createNamespacedRoleBinding({ namespace, body });
  };
  await allow();
  const { host } = new URL(clusterOf(admin).server);
  const link = await startTcpLink(host);
  const written = new Set<string>();
  return {
    namespace,
    otherNamespace,
    admin: async () => admin,
    loadKubeConfig: await loadThroughLink(admin, namespace, link),
    link,
    async writeSlice(fixture: SliceFixture) {
      const { namespace: where, name } = fixture;
      const body = sliceObject(fixture);
      const key = `${where}/${name}`;
      if (written.has(key)) await slices.replaceNamespacedEndpointSlice({ namespace: where, name, body });
      else await slices.createNamespacedEndpointSlice({ namespace: where, body });
      written.add(key);
    },
    async removeSlice(where, name) {
      await slices.deleteNamespacedEndpointSlice({ namespace: where, name });
      written.delete(`${where}/${name}`);
    },
    async deny() {
      await rights.deleteNamespacedRoleBinding({ namespace, name: ACCOUNT });
    },
    allow,
    async close() {
      for (const name of [namespace, otherNamespace]) await core.deleteNamespace({ name });
      await link.close();
    },
  };
}

export interface RealApiServer {
  /** The path of a file. Asked for once the tests run. */
  kubeconfig(): string;
  /** Ends the API server and starts it on the same data; resolves when it answers. */
  restart(): Promise<void>;
}

/** Defines suites, so it is called while a test file or a suite is being read. */
export function defineRealKubernetesContract(server: RealApiServer): void {
  const open = (): Promise<RealKubernetes> => openRealKubernetes(server.kubeconfig());
  defineKubernetesContract('a real API server', { open });

  describe('a real API server', () => {
    let kubernetes: RealKubernetes;
    let path: string;
    before(async () => {
      kubernetes = await open();
      path = `/apis/discovery.k8s.io/v1/namespaces/${kubernetes.namespace}/endpointslices`;
    });
    after(() => kubernetes.close());
    const soon = (): AbortSignal => AbortSignal.timeout(30_000);

    it('ends a watch in time, after a bookmark from which another goes on and misses nothing', async () => {
      const api = createApiServer(kubernetes.loadKubeConfig);
      const fixture = { namespace: kubernetes.namespace, name: 'a', service: 'shards', hosts: ['10.0.0.1'] };
      await kubernetes.writeSlice(fixture);
      const { version, slices } = parseSliceList(await api.read(path, soon()));
      assert.deepEqual(
        slices.map(({ name, hosts }) => [name, hosts]),
        [['a', ['10.0.0.1']]],
      );
      const follow = (from: string) =>
        api.watch(`${path}?watch=true&allowWatchBookmarks=true&resourceVersion=${from}&timeoutSeconds=5`, soon());
      // Of another namespace: the version goes on, and this watch has no event.
      await kubernetes.writeSlice({ ...fixture, namespace: kubernetes.otherNamespace });
      let bookmark = '';
      for await (const line of await follow(version)) {
        const event = parseSliceEvent(line);
        assert.equal(event.kind, 'bookmark');
        bookmark = event.version;
      }
      assert.notEqual(bookmark, version);
      await kubernetes.writeSlice({ ...fixture, hosts: ['10.0.0.2'] });
      const events = (await Array.fromAsync(await follow(bookmark))).map(parseSliceEvent);
      const [first] = events;
      assert.ok(first?.kind === 'changed');
      assert.deepEqual(first.slice.hosts, ['10.0.0.2']);
      assert.ok(events.slice(1).every(({ kind }) => kind === 'bookmark'));
    });

    it('refuses a token that is none, and a namespace that the account may not see', async () => {
      const admin = await kubernetes.admin();
      const cluster = clusterOf(admin);
      const reached = { server: cluster.server, 'certificate-authority-data': authorityOf(cluster) };
      const stranger = createApiServer(loadFromText(kubeConfigText(reached, { token: 'not-a-token' })));
      await assert.rejects(stranger.read(path, soon()), { kind: 'forbidden', status: 401 });
      const api = createApiServer(kubernetes.loadKubeConfig);
      const elsewhere = `/apis/discovery.k8s.io/v1/namespaces/${kubernetes.otherNamespace}/endpointslices`;
      await assert.rejects(api.read(elsewhere, soon()), {
        kind: 'forbidden',
        status: 403,
        message: new RegExp(`"system:serviceaccount:${kubernetes.namespace}:${ACCOUNT}" cannot list`),
      });
    });

    it('does not know old versions after its restart, and says so in a way that is understood', async () => {
      const discovery = watchDiscovery(kubernetes.loadKubeConfig, {
        namespace: kubernetes.namespace,
        service: 'restarted',
      });
      try {
        const fixture = { namespace: kubernetes.namespace, name: 'restarted', service: 'restarted' };
        await kubernetes.writeSlice({ ...fixture, hosts: ['10.0.0.1'] });
        await discovery.untilTold('10.0.0.1:8082');
        await server.restart();
        await kubernetes.writeSlice({ ...fixture, hosts: ['10.0.0.2'] });
        await discovery.untilToldInTime('10.0.0.2:8082');
        assert.equal(discovery.told.length, 2);
        const api = createApiServer(kubernetes.loadKubeConfig);
        const watchOldest = async (): Promise<void> => {
          const lines = await api.watch(`${path}?watch=true&resourceVersion=1&timeoutSeconds=5`, soon());
          for await (const line of lines) parseSliceEvent(line);
        };
        await assert.rejects(watchOldest(), { kind: 'expired' });
      } finally {
        discovery.stop();
      }
    });
  });
}
