// What each file of `charts/grantd/ci` takes for given, made on a cluster of a test: labels of nodes, volumes, Secrets,
// kinds of custom resources. And the values that are laid over the file, for what the cluster cannot have.

import { createHash } from 'node:crypto';
import { type Authority, createAuthority, type Leaf } from '../../kit/certificates.ts';

type Values = Readonly<Record<string, unknown>>;
interface ObjectToMake {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

export interface Prerequisites {
  readonly objects: readonly ObjectToMake[];
  readonly values: Values;
}

const TOKEN = 'operator-token-of-the-examples-of-values';

/** The kinds of which no controller runs here: objects of them are stored, and nothing follows. */
const CUSTOM_KINDS: readonly (readonly [group: string, version: string, kind: string])[] = [
  ['cert-manager.io', 'v1', 'Certificate'],
  ['cert-manager.io', 'v1', 'Issuer'],
  ['gateway.networking.k8s.io', 'v1', 'HTTPRoute'],
  ['monitoring.coreos.com', 'v1', 'PodMonitor'],
  ['monitoring.coreos.com', 'v1', 'PrometheusRule'],
  ['monitoring.coreos.com', 'v1', 'ServiceMonitor'],
];

/** As strict as nothing: the objects are validated against the real schemas where the chart is rendered. */
function customKind([group, version, kind]: (typeof CUSTOM_KINDS)[number]): ObjectToMake {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      // Names that end in k8s.io belong to Kubernetes, and need this.
      ...(group.endsWith('k8s.io') ? { annotations: { 'api-approved.kubernetes.io': 'unapproved, of a test' } } : {}),
    },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}

export const CUSTOM_RESOURCE_DEFINITIONS: readonly ObjectToMake[] = CUSTOM_KINDS.map(customKind);

/** The labels that the examples select nodes by. */
export const nodeLabels = (node: number): readonly string[] => [
  'node.example.com/pool=memory',
  `topology.kubernetes.io/zone=zone-${node}`,
];

/** There is nothing in the cluster that makes volumes. */
export const volume = (name: string, path: string, storage: string): ObjectToMake => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: {
    capacity: { storage },
    accessModes: ['ReadWriteOnce'],
    local: { path },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['node1'] }] },
        ],
      },
    },
  },
});

const secret = (name: string, stringData: Readonly<Record<string, string>>): ObjectToMake => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData,
});
const certificate = (name: string, { cert, key, ca }: Leaf): ObjectToMake =>
  secret(name, { 'tls.crt': cert, 'tls.key': key, 'ca.crt': ca });

/** The Cassandra here has no TLS. The tests of the store use it with TLS. */
const WITHOUT_TLS_TO_CASSANDRA: Values = { cassandra: { tls: { enabled: false } } };

const NOTHING: Prerequisites = { objects: [], values: {} };

async function externalSecrets(authority: Authority, redisUrl: string): Promise<Prerequisites> {
  const [shard, front, console] = await Promise.all([
    authority.issue('shard', ['DNS:shards.grantd.internal']),
    authority.issue('front', ['DNS:front.grantd.internal']),
    authority.issue('console', ['DNS:console.grantd.internal']),
  ]);
  const hash = createHash('sha256').update('token-of-rob-which-is-long-enough').digest('hex');
  return {
    objects: [
      secret('cassandra-of-shards', { user: 'cassandra', pass: 'cassandra' }),
      secret('cassandra-of-migration', { username: 'cassandra', password: 'cassandra' }),
      secret('redis', { address: redisUrl, pass: 'unused', 'sentinel-pass': 'unused' }),
      secret('grantd-operators', { root: TOKEN, named: `rob:${hash}:read-only\n`, client: 'of-the-provider' }),
      certificate('grantd-tls-of-shards', shard),
      certificate('grantd-tls-of-fronts', front),
      certificate('grantd-tls-of-console', console),
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'plans' }, data: { 'plans.json': '{}' } },
    ],
    // The Redis here has no password and no sentinels.
    values: { ...WITHOUT_TLS_TO_CASSANDRA, image: { digest: '' }, redis: { passwordKey: '', sentinelPasswordKey: '' } },
  };
}

/** No cert-manager runs here: its certificates are made in its place. */
export async function certificatesOfPods(authority: Authority, namespace: string): Promise<readonly ObjectToMake[]> {
  const [shard, front, console] = await Promise.all([
    authority.issue('shard', [`DNS:grantd-shards.${namespace}.svc`, `DNS:*.grantd-shards.${namespace}.svc`]),
    authority.issue('front', [`DNS:grantd.${namespace}.svc`]),
    authority.issue('console', [`DNS:grantd-console.${namespace}.svc`]),
  ]);
  return [
    certificate('grantd-tls-shard', shard),
    certificate('grantd-tls-front', front),
    certificate('grantd-tls-console', console),
  ];
}

async function tlsEverywhere(authority: Authority, namespace: string): Promise<Prerequisites> {
  return {
    objects: [
      ...(await certificatesOfPods(authority, namespace)),
      secret('redis-authorities', { 'bundle.pem': authority.ca }),
      secret('collector', { authorization: 'Authorization=Bearer%20nothing' }),
    ],
    values: WITHOUT_TLS_TO_CASSANDRA,
  };
}

/** Of the file with that name. `redisUrl`: where pods reach a Redis. */
export async function prerequisitesOf(
  ci: string,
  { namespace, redisUrl }: { readonly namespace: string; readonly redisUrl: string },
): Promise<Prerequisites> {
  if (ci === 'external-secrets') return externalSecrets(await createAuthority(), redisUrl);
  if (ci === 'tls-everywhere') return tlsEverywhere(await createAuthority(), namespace);
  return NOTHING;
}
