// The page that leads platform teams to production, on a real cluster: its commands in one shell, in their order, with
// its values and an image from a registry; it prints how long each step took. What this cluster cannot have is made in
// its place: the certificates of cert-manager, one node of Cassandra without TLS, the Service instead of an Ingress.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import packageFile from '../../package.json' with { type: 'json' };
import { type CassandraCluster, missingCassandra, startCassandra } from '../../tools/engines/cassandra.ts';
import { KubernetesCluster, missingKubernetes } from '../../tools/engines/kubernetes/cluster.ts';
import { buildImage } from '../../tools/engines/kubernetes/image.ts';
import { OciRegistry } from '../../tools/engines/oci-registry.ts';
import { missingRedis, RedisServer } from '../../tools/engines/redis.ts';
import { createAuthority } from '../kit/certificates.ts';
import { asShown, linesOf, type ShellStep, shellSteps } from '../kit/shell-blocks.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, certificatesOfPods } from './support/ci-values.ts';
import { Release } from './support/release.ts';

const NAME = 'the page for platform teams on a real Kubernetes';
const PAGE = 'docs/operating/production-in-an-hour.md';
const ROOT = join(import.meta.dirname, '..', '..');
const NAMESPACE = 'grantd';
const { version } = packageFile;
const STORE_ADDRESS = 1;
const REDIS_ADDRESS = 2;
const REDIS_TLS_PORT = 6380;
const REDIS_PASSWORD = 'password-of-the-redis-of-the-page';
const PAGE_MS_MAX = 900_000;
const SLOTS = 256;

const missing = (await missingKubernetes(NAME)) ?? (await missingCassandra(NAME)) ?? (await missingRedis(NAME));

/** The number of the heading above each block. */
function numberedSteps(): readonly (ShellStep & { readonly number: number })[] {
  const headings = readFileSync(join(ROOT, PAGE), 'utf8').split(/^(?=## \d\. )/m);
  const numbers = headings.flatMap((section) => {
    const number = Number(/^## (\d)\. /.exec(section)?.[1] ?? 0);
    return [...section.matchAll(/^```sh$/gm)].map(() => number);
  });
  return shellSteps(PAGE).map((step, index) => ({ ...step, number: numbers[index] ?? 0 }));
}

describe(NAME, { skip: missing ?? false }, () => {
  let cassandra: CassandraCluster;
  let kubernetes: KubernetesCluster;
  let registry: OciRegistry;
  let redis: RedisServer;
  let release: Release;
  let directory = '';

  before(async () => {
    [cassandra, kubernetes] = await Promise.all([
      startCassandra({ nodes: 1, auth: true }),
      KubernetesCluster.start({ nodes: 2 }),
    ]);
    directory = join(kubernetes.directory, 'checkout');
    mkdirSync(directory);
    symlinkSync(join(ROOT, 'charts'), join(directory, 'charts'));
    registry = await OciRegistry.start(kubernetes.registry.host, kubernetes.registry.port);
    const image = `${registry.address}/platform/grantd:${version}`;
    await registry.crane('push', await buildImage(version, kubernetes.directory), image);
    await kubernetes.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: CUSTOM_RESOURCE_DEFINITIONS }));
    release = new Release({ kubernetes, cassandra, namespace: NAMESPACE, imageTag: '', storeAddress: STORE_ADDRESS });
    await release.openStore();
  });
  after(async () => {
    await release?.close();
    await redis?.stop();
    await registry?.stop();
    await kubernetes?.stop();
    await cassandra?.stop();
  });

  async function startStores(): Promise<readonly { readonly [field: string]: unknown }[]> {
    const authority = await createAuthority();
    const host = kubernetes.hostAddress(REDIS_ADDRESS);
    const { cert, key, ca } = await authority.issue('redis', [`IP:${host}`]);
    const file = (name: string, content: string): string => {
      writeFileSync(join(directory, name), content);
      return join(directory, name);
    };
    file('cassandra-ca.pem', ca);
    redis = await RedisServer.start(
      [
        ...['--bind', '127.0.0.1', host, '--tls-port', String(REDIS_TLS_PORT), '--tls-auth-clients', 'no'],
        ...['--tls-ca-cert-file', file('redis-ca.pem', ca), '--tls-cert-file', file('redis.pem', cert)],
        ...['--tls-key-file', file('redis-key.pem', key)],
      ],
      REDIS_PASSWORD,
    );
    return certificatesOfPods(authority, NAMESPACE);
  }

  /** The values of the page, and another file for what is another thing here. */
  function writeValues(): void {
    const [, values = ''] = /^```yaml\n(.*?)^```$/ms.exec(readFileSync(join(ROOT, PAGE), 'utf8')) ?? [];
    writeFileSync(join(directory, 'values.yaml'), values.replace('registry.example.com', registry.address));
    const resources = { requests: { cpu: '20m', memory: '96Mi' } };
    const others = {
      cassandra: {
        contactPoints: [kubernetes.hostAddress(STORE_ADDRESS)],
        replicationFactor: 1,
        tls: { enabled: false },
      },
      front: { resources },
      shard: { resources },
      console: { resources },
    };
    writeFileSync(join(directory, 'here.yaml'), JSON.stringify(others));
  }

  /** As it stands on the page, but for addresses, the place of cqlsh, and the second file of values. */
  function asHere(commands: string, objects: string): string {
    const [contactPoint] = cassandra.contactPoints;
    const program = join(import.meta.dirname, 'support', 'cqlsh-process.ts');
    const cqlsh = [process.execPath, program, contactPoint, cassandra.localDatacenter, 'cassandra', 'cassandra'].join(
      ' ',
    );
    return (
      commands
        .replace('cqlsh --ssl --username cassandra cassandra-1.example.com', cqlsh)
        .replace("'datacenter1': 3", "'datacenter1': 1")
        .replace('redis.example.com:6379', `${kubernetes.hostAddress(REDIS_ADDRESS)}:${REDIS_TLS_PORT}`)
        .replace('--values values.yaml', '--values values.yaml --values here.yaml')
        .replaceAll('https://grantd.example.com', 'http://$FRONT')
        // It forwards until it is stopped; that it does is tested with the notes of the chart.
        .replace(/^kubectl .* port-forward .*$/m, 'echo')
        .replace(/^helm install /m, `kubectl --namespace grantd apply --filename ${objects} > /dev/null\n$&`)
    );
  }

  it('leads to a cluster that serves a tenant and survives a shard', { timeout: PAGE_MS_MAX }, async () => {
    const items = await startStores();
    const objects = join(directory, 'certificates.json');
    writeFileSync(objects, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    writeValues();
    const steps = numberedSteps().filter(({ number }) => number > 1);
    assert.equal(steps.at(-1)?.number, 8);
    const script = [
      `export REDIS_PASSWORD=${REDIS_PASSWORD}`,
      "front() { kubectl --namespace grantd get service grantd --output jsonpath='{.spec.clusterIP}'; }",
      ...steps.map(
        ({ commands, number }) =>
          `echo "=== $SECONDS ${number}"\nFRONT=$(front 2> /dev/null || true)\n${asHere(commands, objects)}`,
      ),
      'echo; echo "=== $SECONDS 9"',
    ].join('\n');
    const stdout = await kubernetes.shell(script, directory, PAGE_MS_MAX).catch(async (error: unknown) => {
      process.stderr.write(`\n${await release.describe().catch(String)}\n`);
      throw error;
    });
    const parts = [...stdout.matchAll(/^=== (\d+) (\d)\n(.*?)(?=^=== |$(?![\s\S]))/gms)];
    assert.equal(parts.length, steps.length + 1);
    // One step may have several blocks.
    const starts = new Map(parts.map(([, seconds, number]) => [number, Number(seconds)] as const).toReversed());
    const took = [...starts].toReversed().map(([number, start], index, all) => {
      const [, end = start] = all[index + 1] ?? [];
      return `step ${number}: ${end - start} s`;
    });
    process.stderr.write(`${took.slice(0, -1).join(', ')}\n`);
    for (const [index, [, , , output = '']] of parts.slice(0, -1).entries()) {
      const { printed, commands = '' } = steps[index] ?? {};
      if (printed === undefined) continue;
      const lines = linesOf(output);
      assert.deepEqual(asShown(lines, printed), printed, commands);
    }
  });

  it('has the figures that the page tells people to look for in Prometheus', async () => {
    const metric = async (component: string, pattern: RegExp): Promise<number[]> => {
      const pods = await kubernetes.read([
        ...['pods', '--namespace', NAMESPACE],
        ...['--selector', `app.kubernetes.io/component=${component}`],
      ]);
      return Promise.all(
        pods.items.map(async ({ metadata }: { metadata: { name: string } }) => {
          const path = `/api/v1/namespaces/${NAMESPACE}/pods/${metadata.name}:8081/proxy/metrics`;
          const text = await kubernetes.kubectl(['get', '--raw', path]);
          return Number(pattern.exec(text)?.[1] ?? 0);
        }),
      );
    };
    const served = await metric('shard', /^grantd_shard_slots\{.*state="serving".*\} (\d+)$/m);
    assert.equal(
      served.reduce((sum, each) => sum + each, 0),
      SLOTS,
    );
    assert.equal(Math.min(...(await metric('front', /^grantd_redis_fronts(?:\{.*\})? (\d+)$/m))), 2);
  });
});
