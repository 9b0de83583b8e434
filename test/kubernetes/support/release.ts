// grantd as its chart installs it on a test's cluster, with what a test asks of it: values, pods, logs, metrics, and
// who serves which slots. Its Cassandra is one on the host, which pods reach through a forwarder that can be paused.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CassandraCluster } from '../../../tools/engines/cassandra.ts';
import type { KubernetesCluster } from '../../../tools/engines/kubernetes/cluster.ts';
import { REPOSITORY } from '../../../tools/engines/kubernetes/image.ts';
import { OperatorClient } from '../../cluster/support/operator-client.ts';
import { ServiceProcess } from '../../cluster/support/service-process.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { type ClientGateway, openClientGateway } from './client-gateway.ts';

const CHART = join(import.meta.dirname, '..', '..', '..', 'charts', 'grantd');
const FORWARDER = join(import.meta.dirname, '..', '..', 'cluster', 'support', 'forwarder-process.ts');
/** Of the release: what its objects are called follows from it. */
const NAME = 'grantd';
const TOKEN = 'token-of-the-tests-on-a-real-kubernetes';
const STORE_PORT = 9042;
const OPS_PORT = 8081;
const CONSOLE_PORT = 8090;
const HTTP_PORT = 80;
const PROBE_MS_MAX = 2000;
const ROLLOUT_MS_MAX = 180_000;
const SERVED_MS_MAX = 60_000;

export type Component = 'front' | 'shard' | 'console';

const WORKLOADS: Readonly<Record<Component, string>> = {
  front: `deployment/${NAME}-front`,
  shard: `statefulset/${NAME}-shard`,
  console: `deployment/${NAME}-console`,
};

export interface ReleaseOptions {
  readonly kubernetes: KubernetesCluster;
  readonly cassandra: CassandraCluster;
  /** Its keyspace has the same name. One namespace has one release. */
  readonly namespace: string;
  readonly imageTag: string;
  /** The last number of the address under which pods reach Cassandra. */
  readonly storeAddress: number;
  /** Where pods reach a Redis; without it fronts count for themselves. */
  readonly redisUrl?: string;
  /** The folder of the chart that is installed first; by default that of this checkout. */
  readonly firstChart?: string;
}

export interface Pod {
  readonly name: string;
  readonly node: string;
  readonly address: string;
  readonly ready: boolean;
  /** Milliseconds since 1970, of the last change; undefined while it is not ready. */
  readonly readySinceMs: number | undefined;
}

/** Values as YAML or JSON have them. */
export type Values = Readonly<Record<string, unknown>>;

const imageValues = (tag: string): Values => ({ registry: '', repository: REPOSITORY, tag, pullPolicy: 'Never' });

export class Release {
  readonly #options: ReleaseOptions;
  readonly #store: ServiceProcess;
  #gateway: ClientGateway | undefined;
  #console: string | undefined;
  #operator: OperatorClient | undefined;

  constructor(options: ReleaseOptions) {
    const { kubernetes, cassandra, storeAddress, namespace } = options;
    this.#options = options;
    const [node = ''] = cassandra.contactPoints;
    this.#store = new ServiceProcess({
      name: `store of ${namespace}`,
      args: [FORWARDER, `${kubernetes.hostAddress(storeAddress)}:${STORE_PORT}=${node}:${STORE_PORT}`],
      environment: {},
      logFile: join(kubernetes.directory, `store-${namespace}.log`),
    });
  }

  get keyspace(): string {
    return this.#options.namespace.replaceAll('-', '_');
  }

  get operator(): OperatorClient {
    if (this.#operator === undefined) throw new Error('The release is not connected.');
    return this.#operator;
  }

  /** Of the console's pages, and the token that opens them. */
  get console(): { readonly url: string; readonly token: string } {
    if (this.#console === undefined) throw new Error('The release is not connected.');
    return { url: this.#console, token: TOKEN };
  }

  /** Where the clients of a load find the public API: the Service of the fronts. */
  get frontUrl(): string {
    if (this.#gateway === undefined) throw new Error('The release is not connected.');
    return this.#gateway.url;
  }

  #values(): Values {
    const { kubernetes, cassandra, imageTag, storeAddress, redisUrl } = this.#options;
    // Requests that leave room for twice the pods on one small node, and give them as much weight as the programs
    // beside them have; no limits, which would throttle them.
    const resources = { requests: { cpu: '150m', memory: '96Mi' } };
    return {
      image: imageValues(imageTag),
      cassandra: {
        contactPoints: [kubernetes.hostAddress(storeAddress)],
        localDatacenter: cassandra.localDatacenter,
        keyspace: this.keyspace,
        replicationFactor: 1,
        slots: 64,
      },
      operator: { token: TOKEN },
      ...(redisUrl === undefined ? {} : { redis: { url: redisUrl } }),
      // One of each on each node, so that the loss of a node is the loss of half; nodes that are drained or lost do not
      // count.
      pod: {
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'kubernetes.io/hostname',
            whenUnsatisfiable: 'DoNotSchedule',
            nodeTaintsPolicy: 'Honor',
          },
        ],
      },
      front: { replicas: 2, resources },
      shard: { replicas: 2, resources },
      console: { replicas: 1, resources },
    };
  }

  /** Cassandra can be reached from pods. */
  async openStore(): Promise<void> {
    this.#store.start();
    await waitFor('the forwarder to listen', () => this.#store.logTail().includes('listening'));
  }

  /** A namespace that takes only pods of the restricted standard. */
  async createNamespace(): Promise<void> {
    const { kubernetes, namespace } = this.#options;
    await kubernetes.apply(`
apiVersion: v1
kind: Namespace
metadata:
  name: ${namespace}
  labels: {pod-security.kubernetes.io/enforce: restricted}
`);
  }

  /** `helm install`, which does not wait for pods unless told to. Later values are laid over earlier ones. */
  async install(values: Values = {}, args: readonly string[] = []): Promise<void> {
    const chart = this.#options.firstChart ?? CHART;
    await this.helm(['install', NAME, chart, ...this.#valuesFiles(values), ...args]);
  }

  /**
   * As an evaluation begins: one pod with the embedded store, and nothing is given but the image. Resolves once it is
   * ready.
   */
  async installStandalone(): Promise<void> {
    const image = JSON.stringify(imageValues(this.#options.imageTag));
    const args = ['--set', 'standalone.enabled=true', '--set-json', `image=${image}`];
    await this.helm(['install', NAME, CHART, ...args, '--wait', `--timeout=${ROLLOUT_MS_MAX}ms`]);
  }

  /** What the chart's Job made up where no token was given. */
  async readOperatorToken(): Promise<string> {
    const secret = await this.kubectl(['get', 'secret', `${NAME}-operator`, '-o', 'jsonpath={.data.token}']);
    return Buffer.from(secret, 'base64').toString('utf8');
  }

  /** `helm upgrade` to these values laid over those of the tests, resolved once every pod is of the new revision. */
  async upgrade(values: Values): Promise<void> {
    await this.helm(['upgrade', NAME, CHART, ...this.#valuesFiles(values)]);
    await this.waitUntilRolledOut();
  }

  /** To the revision before. */
  async rollBack(): Promise<void> {
    await this.helm(['rollback', NAME]);
    await this.waitUntilRolledOut();
  }

  helm([command = '', ...args]: readonly string[]): Promise<string> {
    return this.#options.kubernetes.helm([command, '--namespace', this.#options.namespace, ...args]);
  }

  kubectl([command = '', ...args]: readonly string[]): Promise<string> {
    return this.#options.kubernetes.kubectl([command, '--namespace', this.#options.namespace, ...args]);
  }

  /** What the chart is given unless a test says otherwise, but for some. */
  writeValues(path: string, without: readonly string[] = []): void {
    const values = Object.entries(this.#values()).filter(([name]) => !without.includes(name));
    writeFileSync(path, JSON.stringify(Object.fromEntries(values)));
  }

  #valuesFiles(values: Values): string[] {
    return [this.#values(), values].flatMap((each, index) => {
      const path = join(this.#options.kubernetes.directory, `${this.#options.namespace}-values-${index}.json`);
      writeFileSync(path, JSON.stringify(each));
      return ['--values', path];
    });
  }

  /** From now on the addresses of the Services are known. */
  async connect(token = TOKEN): Promise<void> {
    const { kubernetes } = this.#options;
    const addressOf = (service: string): Promise<string> =>
      this.kubectl(['get', 'service', service, '-o', 'jsonpath={.spec.clusterIP}']);
    const host = await addressOf(NAME);
    this.#gateway = await openClientGateway({ network: kubernetes.network, host, port: HTTP_PORT });
    this.#console = `http://${await addressOf(`${NAME}-console`)}:${CONSOLE_PORT}`;
    this.#operator = new OperatorClient(this.#console, token);
  }

  async waitUntilRolledOut(components: readonly Component[] = ['shard', 'front', 'console']): Promise<void> {
    for (const component of components)
      await this.kubectl(['rollout', 'status', WORKLOADS[component], `--timeout=${ROLLOUT_MS_MAX}ms`]);
  }

  async scale(component: Component, replicas: number): Promise<void> {
    await this.kubectl(['scale', WORKLOADS[component], `--replicas=${replicas}`]);
  }

  /** Resolves when so many shards, and no others, serve every slot. */
  async waitUntilServedBy(shards: number, boundMs = SERVED_MS_MAX): Promise<void> {
    const wanted = Array.from({ length: shards }, (_, index) => `${NAME}-shard-${index}`);
    let owners: (string | null)[] = [];
    await waitFor(
      `every slot to be served by ${wanted.join(' and ')}`,
      async () => {
        const slots = await this.operator.slots();
        owners = [...new Set(slots.map(({ state, shard }) => (state === 'serving' ? shard : null)))].sort();
        return slots.length > 0 && owners.join() === wanted.join();
      },
      boundMs,
      () => `They are served by ${owners.join(' and ')}.`,
    );
  }

  /** Those that are not about to go. */
  async pods(component: Component): Promise<Pod[]> {
    const selector = `app.kubernetes.io/component=${component}`;
    const { items } = JSON.parse(await this.kubectl(['get', 'pods', '-l', selector, '-o', 'json']));
    const pods: Pod[] = [];
    for (const { metadata, spec, status } of items) {
      if (metadata.deletionTimestamp !== undefined) continue;
      const condition = status.conditions?.find(({ type }: { type: string }) => type === 'Ready');
      const ready = condition?.status === 'True';
      pods.push({
        name: metadata.name,
        node: spec.nodeName ?? '',
        address: status.podIP ?? '',
        ready,
        readySinceMs: ready ? Date.parse(condition.lastTransitionTime) : undefined,
      });
    }
    return pods;
  }

  async logs(pod: string, container?: string): Promise<string> {
    return this.kubectl(['logs', pod, ...(container === undefined ? [] : ['-c', container])]);
  }

  /** Whether `/readyz` of the pod answers 200. */
  async isReady({ address }: Pod): Promise<boolean> {
    try {
      const signal = AbortSignal.timeout(PROBE_MS_MAX);
      const response = await fetch(`http://${address}:${OPS_PORT}/readyz`, { signal });
      await response.body?.cancel();
      return response.status === 200;
    } catch {
      return false;
    }
  }

  /** A metric of a pod, summed over its labels. */
  async readMetric({ address }: Pod, name: string): Promise<number> {
    const response = await fetch(`http://${address}:${OPS_PORT}/metrics`, {
      signal: AbortSignal.timeout(PROBE_MS_MAX),
    });
    const lines = (await response.text()).split('\n').filter((line) => /^[a-z_]+/.exec(line)?.[0] === name);
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  /** What a person would look at first when something is wrong. */
  async describe(): Promise<string> {
    const texts = [
      await this.kubectl(['get', 'all', '-o', 'wide']),
      await this.kubectl(['get', 'events', '--sort-by=.lastTimestamp']),
    ];
    const { items } = JSON.parse(await this.kubectl(['get', 'pods', '-o', 'json']));
    for (const { metadata, spec } of items) {
      for (const { name } of [...(spec.initContainers ?? []), ...spec.containers]) {
        const log = await this.kubectl(['logs', metadata.name, '-c', name, '--tail=30']).catch(String);
        texts.push(`---- ${metadata.name} ${name}\n${log}`);
      }
    }
    return texts.join('\n');
  }

  async close(): Promise<void> {
    this.#gateway?.close();
    await this.#store.kill();
  }
}
