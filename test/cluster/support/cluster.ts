// A whole cluster of real processes on loopback: shards, fronts and a console over a Cassandra that is given. It has a
// network of its own (127.A.B.x), so that every process keeps its address over restarts and no other program takes it.
//
// Three cuts are prepared: the last shard reaches Cassandra through a forwarder and the first shard through another,
// the last front reaches the first shard through a third; all others reach them directly.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CassandraCluster } from '../../../tools/engines/cassandra.ts';
import { letRun, waitFor } from '../../kit/wait-for.ts';
import { takeNetwork } from './loopback-network.ts';
import { OperatorClient } from './operator-client.ts';
import { ServiceProcess } from './service-process.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const MAIN = join(ROOT, 'src', 'main.ts');
const FORWARDER = join(import.meta.dirname, 'forwarder-process.ts');
const REDIRECTS = join(import.meta.dirname, 'redirects.ts');
const BLOCK_LOOP = join(import.meta.dirname, 'block-loop.ts');
const TOKEN = 'token-of-the-tests-of-a-whole-cluster';
const FIRST_SHARD_HOST = 11;
const FIRST_FRONT_HOST = 51;
const CONSOLE_HOST = 71;
const STORE_CUT_HOST = 81;
const SHARD_CUT_HOST = 91;
const OWNER_CUT_HOST = 92;
const HTTP_PORT = 8080;
const OPS_PORT = 8081;
const RPC_PORT = 8082;
const CONSOLE_PORT = 8090;
const STORE_PORT = 9042;
const REPLICAS = 3;
const SLOTS_POLL_MS = 100;

export interface ClusterOptions {
  readonly cassandra: Pick<CassandraCluster, 'contactPoints' | 'localDatacenter'>;
  /** Of the first shards; more can be added. */
  readonly shards: number;
  readonly fronts: number;
  readonly slots?: number;
  /** Several clusters may share one Cassandra. */
  readonly keyspace?: string;
}

export class Cluster {
  readonly directory: string;
  readonly operator: OperatorClient;
  readonly #options: ClusterOptions;
  readonly #network: string;
  readonly #releaseNetwork: () => void;
  readonly #shards: ServiceProcess[] = [];
  readonly #fronts: ServiceProcess[] = [];
  readonly #forwarders: ServiceProcess[] = [];
  readonly #console: ServiceProcess;

  static async start(options: ClusterOptions): Promise<Cluster> {
    const { network, release } = await takeNetwork();
    const cluster = new Cluster(options, network, release);
    try {
      await cluster.#start();
      return cluster;
    } catch (error) {
      await cluster.end({ keepLogs: true });
      throw new Error(`The cluster did not start. The logs: ${cluster.directory}`, { cause: error });
    }
  }

  private constructor(options: ClusterOptions, network: string, releaseNetwork: () => void) {
    this.#options = options;
    this.#network = network;
    this.#releaseNetwork = releaseNetwork;
    this.directory = mkdtempSync(join(tmpdir(), 'grantd-cluster-'));
    const consoleUrl = `http://${network}.${CONSOLE_HOST}:${CONSOLE_PORT}`;
    this.operator = new OperatorClient(consoleUrl, TOKEN);
    this.#console = this.#service('console', CONSOLE_HOST, {
      GRANTD_CONSOLE_ADDRESS: `${network}.${CONSOLE_HOST}:${CONSOLE_PORT}`,
      GRANTD_OPERATOR_TOKEN: TOKEN,
      GRANTD_ERRORS_BASE: 'https://errors.example',
      GRANTD_DISCOVERY: this.#discovery(),
    });
  }

  get shards(): readonly ServiceProcess[] {
    return this.#shards;
  }

  get fronts(): readonly ServiceProcess[] {
    return this.#fronts;
  }

  shard(index: number): ServiceProcess {
    const shard = this.#shards[index];
    if (shard === undefined) throw new RangeError(`There is no shard ${index}.`);
    return shard;
  }

  front(index: number): ServiceProcess {
    const front = this.#fronts[index];
    if (front === undefined) throw new RangeError(`There is no front ${index}.`);
    return front;
  }

  /** Paused, the last of the first shards is cut off from every node of Cassandra. */
  get storeCut(): ServiceProcess {
    return this.#forwarder(0);
  }

  /** Paused, the last front is cut off from the first shard. */
  get shardCut(): ServiceProcess {
    return this.#forwarder(1);
  }

  /** Paused, the last of the first shards is cut off from the first one, whose tenants it reads for. */
  get ownerCut(): ServiceProcess {
    return this.#forwarder(2);
  }

  /** By each process of a shard that runs now: calls that it has answered as a reader so far. */
  async readerCalls(): Promise<Map<number, number>> {
    const running = this.#shards.filter(({ isRunning }) => isRunning);
    const counts = running.map(
      async (shard) => [shard.pid, await shard.readMetric('grantd_reader_calls_total')] as const,
    );
    return new Map(await Promise.all(counts));
  }

  /** Where clients reach the fronts, and where those say whether they are ready. */
  get frontUrls(): { readonly url: string; readonly opsUrl: string }[] {
    return this.#fronts.map(({ options }, index) => ({
      url: `http://${this.#network}.${FIRST_FRONT_HOST + index}:${HTTP_PORT}`,
      opsUrl: options.opsUrl ?? '',
    }));
  }

  /** The settings of a role that has the store. */
  get storeSettings(): Record<string, string> {
    const { cassandra, keyspace = 'grantd' } = this.#options;
    return {
      GRANTD_STORE: 'cassandra',
      GRANTD_CASSANDRA_KEYSPACE: keyspace,
      GRANTD_CASSANDRA_CONTACT_POINTS: cassandra.contactPoints.join(','),
      GRANTD_CASSANDRA_LOCAL_DATACENTER: cassandra.localDatacenter,
      GRANTD_CASSANDRA_REPLICATION_FACTOR: String(Math.min(REPLICAS, cassandra.contactPoints.length)),
    };
  }

  #forwarder(index: number): ServiceProcess {
    const forwarder = this.#forwarders[index];
    if (forwarder === undefined) throw new RangeError('The cluster is not started.');
    return forwarder;
  }

  /** Every shard that may ever be: discovery only seeds. */
  #discovery(): string {
    const addresses = Array.from({ length: this.#options.shards }, (_, index) => this.#shardAddress(index));
    return `static:${addresses.join(',')}`;
  }

  #shardAddress(index: number): string {
    return `${this.#network}.${FIRST_SHARD_HOST + index}:${RPC_PORT}`;
  }

  #service(name: string, host: number, environment: Readonly<Record<string, string>>): ServiceProcess {
    const address = `${this.#network}.${host}:${OPS_PORT}`;
    const [role = ''] = name.split('-');
    return new ServiceProcess({
      name,
      args: ['--import', REDIRECTS, '--import', BLOCK_LOOP, MAIN, role],
      environment: { GRANTD_OPS_ADDRESS: address, GRANTD_DRAIN_SECONDS: '1', ...environment },
      logFile: join(this.directory, `${name}.log`),
      opsUrl: `http://${address}`,
    });
  }

  /** A shard more, not started. */
  addShard(): ServiceProcess {
    const index = this.#shards.length;
    const behindCut = index === this.#options.shards - 1;
    const shard = this.#service(`shard-${index + 1}`, FIRST_SHARD_HOST + index, {
      ...this.storeSettings,
      GRANTD_SHARD_NAME: `shard-${index + 1}`,
      GRANTD_RPC_ADDRESS: this.#shardAddress(index),
      ...(behindCut
        ? { TEST_REDIRECTS: [...this.#storeRedirects(), this.#firstShardRedirect(OWNER_CUT_HOST)].join(',') }
        : {}),
    });
    this.#shards.push(shard);
    return shard;
  }

  /** What declares the shard dead once its process has ended; not started. */
  watchOf({ name: shardName, options }: ServiceProcess): ServiceProcess {
    const name = `watch-of-${shardName}`;
    const args = [...options.args.slice(0, -1), 'watch'];
    return new ServiceProcess({ ...options, name, args, logFile: join(this.directory, `${name}.log`) });
  }

  #addFront(): void {
    const index = this.#fronts.length;
    const host = FIRST_FRONT_HOST + index;
    const url = `${this.#network}.${host}:${HTTP_PORT}`;
    const behindCut = index === this.#options.fronts - 1;
    this.#fronts.push(
      this.#service(`front-${index + 1}`, host, {
        GRANTD_HTTP_ADDRESS: url,
        GRANTD_BASE_URL: `http://${url}`,
        GRANTD_DISCOVERY: this.#discovery(),
        ...(behindCut ? { TEST_REDIRECTS: this.#firstShardRedirect(SHARD_CUT_HOST) } : {}),
      }),
    );
  }

  /** `from=to`. */
  #firstShardRedirect(cutHost: number): string {
    return `${this.#shardAddress(0)}=${this.#network}.${cutHost}:${RPC_PORT}`;
  }

  /** The same of each node of Cassandra. */
  #storeRedirects(): string[] {
    return this.#options.cassandra.contactPoints.map(
      (host, index) => `${host}:${STORE_PORT}=${this.#network}.${STORE_CUT_HOST + index}:${STORE_PORT}`,
    );
  }

  async #startForwarder(name: string, redirects: readonly string[]): Promise<void> {
    const pairs = redirects.map((redirect) => redirect.split('=').reverse().join('='));
    const logFile = join(this.directory, `${name}.log`);
    const forwarder = new ServiceProcess({ name, args: [FORWARDER, ...pairs], environment: {}, logFile });
    this.#forwarders.push(forwarder);
    forwarder.start();
    await waitFor(`${name} to listen`, () => forwarder.logTail().includes('listening'));
  }

  async #start(): Promise<void> {
    const { shards, fronts } = this.#options;
    await this.#startForwarder('store-cut', this.#storeRedirects());
    await this.#startForwarder('shard-cut', [this.#firstShardRedirect(SHARD_CUT_HOST)]);
    await this.#startForwarder('owner-cut', [this.#firstShardRedirect(OWNER_CUT_HOST)]);
    await this.#migrate();
    for (let index = 0; index < shards; index += 1) this.addShard().start();
    for (let index = 0; index < fronts; index += 1) this.#addFront();
    for (const service of [...this.#fronts, this.#console]) service.start();
    await this.waitUntilReady();
  }

  async #migrate(): Promise<void> {
    const { slots = 256 } = this.#options;
    const migrate = new ServiceProcess({
      name: 'migrate',
      args: [MAIN, 'migrate'],
      environment: { ...this.storeSettings, GRANTD_SLOTS: String(slots) },
      logFile: join(this.directory, 'migrate.log'),
    });
    migrate.start();
    const { code } = await migrate.ended();
    if (code !== 0) throw new Error(`grantd migrate failed:\n${migrate.logTail()}`);
  }

  /** Resolves when every process that runs is ready. */
  async waitUntilReady(): Promise<void> {
    const services = [...this.#shards, ...this.#fronts, this.#console].filter(({ isRunning }) => isRunning);
    await Promise.all(services.map((service) => service.waitUntilReady()));
  }

  /** Resolves when the shards that run, and no others, serve every slot, each its own share. */
  async waitUntilServed(boundMs?: number): Promise<void> {
    const running = new Set(this.#shards.filter(({ isRunning }) => isRunning).map(({ name }) => name));
    await waitFor(
      'every slot to be served by the shards that run',
      async () => {
        const slots = await this.operator.slots().catch(() => []);
        const owners = new Set(slots.map(({ shard }) => shard));
        const served =
          slots.length > 0 &&
          slots.every(({ state, shard }) => state === 'serving' && shard !== null && running.has(shard)) &&
          owners.size === running.size;
        // The question costs every process some time, which the claims need.
        if (!served) await letRun(SLOTS_POLL_MS);
        return served;
      },
      boundMs,
    );
  }

  /** As at the start, whatever was done to it: the first shards and every front run and reach one another. */
  async restore(): Promise<void> {
    const { shards } = this.#options;
    for (const service of [...this.#shards, ...this.#fronts, this.#console, ...this.#forwarders]) {
      if (service.isRunning) service.signal('SIGCONT');
    }
    for (const service of this.#shards.slice(shards)) await service.kill();
    for (const service of [...this.#shards.slice(0, shards), ...this.#fronts, this.#console]) {
      if (!service.isRunning) service.start();
    }
    await this.waitUntilReady();
    await this.waitUntilServed();
  }

  /** Ends every process. */
  async end(options: { readonly keepLogs: boolean }): Promise<void> {
    const services = [...this.#fronts, this.#console, ...this.#shards, ...this.#forwarders];
    await Promise.all(services.map((service) => service.kill()));
    this.#releaseNetwork();
    if (!options.keepLogs) rmSync(this.directory, { recursive: true });
  }
}
