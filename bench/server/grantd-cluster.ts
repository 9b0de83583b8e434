// grantd as a cluster: shards, fronts and a console as separate processes, over a given Cassandra. Several clusters may
// share one Cassandra, each in a keyspace of its own. It ends every process that it started.

import { join } from 'node:path';
import { rankShards } from '../../src/core/slots.ts';
import type { CassandraCluster } from '../../tools/engines/cassandra.ts';
import { freePorts } from '../../tools/engines/free-port.ts';
import { answersOk, BackgroundProcess } from './background-process.ts';
import { type Addresses, COMPILE_CACHE, delay, PLANS } from './grantd-process.ts';
import { readMetric } from './metrics-text.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
const OPERATOR_TOKEN = 'the-operator-token-of-the-benchmark';
const START_SECONDS_MAX = 90;
const LAG_SECONDS_MAX = 600;
const POLL_MS = 250;

export interface ClusterOptions {
  readonly cassandra: CassandraCluster;
  readonly keyspace: string;
  readonly shards: number;
  readonly fronts: number;
  /** For the logs of the processes. */
  readonly directory: string;
  /** Default: that of the program. */
  readonly slots?: number;
  /** Whether each shard has a `grantd watch`, which knows its death at once. */
  readonly watched?: boolean;
  /** Added to the environment of each process of that role. */
  readonly environment?: Readonly<Partial<Record<'shard' | 'front', Readonly<Record<string, string>>>>>;
}

export interface Member {
  readonly name: string;
  readonly pid: number;
  /** Of HTTP at a front, of gRPC at a shard, of the operator's API at a console. */
  readonly address: string;
  readonly opsAddress: string;
  readonly logFile: string;
  readonly program: { readonly hasEnded: boolean };
}

interface Started extends Member {
  readonly program: BackgroundProcess;
}

export class GrantdCluster {
  readonly #options: ClusterOptions;
  readonly #store: Readonly<Record<string, string>>;
  /** The gRPC addresses of the shards, which stay the same over restarts. */
  readonly #shardAddresses: readonly string[];
  #shards: readonly Started[] = [];
  readonly #fronts: Started[] = [];
  #console: Started | undefined;

  static async start(options: ClusterOptions): Promise<GrantdCluster> {
    const ports = await freePorts(options.shards);
    const cluster = new GrantdCluster(
      options,
      ports.map((port) => `127.0.0.1:${port}`),
    );
    try {
      await cluster.#start();
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  private constructor(options: ClusterOptions, shardAddresses: readonly string[]) {
    this.#options = options;
    this.#shardAddresses = shardAddresses;
    const { contactPoints, localDatacenter } = options.cassandra;
    this.#store = {
      GRANTD_STORE: 'cassandra',
      GRANTD_CASSANDRA_KEYSPACE: options.keyspace,
      GRANTD_CASSANDRA_CONTACT_POINTS: contactPoints.join(','),
      GRANTD_CASSANDRA_LOCAL_DATACENTER: localDatacenter,
    };
  }

  get shards(): readonly Member[] {
    return this.#shards;
  }

  get fronts(): readonly Member[] {
    return this.#fronts;
  }

  get console(): Member {
    if (this.#console === undefined) throw new Error('The cluster is not started.');
    return this.#console;
  }

  /** Those of the first front, for code that needs only one. */
  get addresses(): Addresses {
    const [front] = this.#fronts;
    return {
      base_url: `http://${front?.address}`,
      ops_url: `http://${front?.opsAddress}`,
      console_url: `http://${this.console.address}`,
      operator_token: OPERATOR_TOKEN,
    };
  }

  async #start(): Promise<void> {
    const { contactPoints } = this.#options.cassandra;
    const migration = this.#launch('migrate', 'migrate', {
      ...this.#store,
      GRANTD_CASSANDRA_REPLICATION_FACTOR: String(Math.min(3, contactPoints.length)),
      ...(this.#options.slots === undefined ? {} : { GRANTD_SLOTS: String(this.#options.slots) }),
    });
    await migration.waitForEnd();
    await this.#startShards();
    for (let index = 0; index < this.#options.fronts; index += 1) await this.startFront();
    this.#console = await this.#startReady('console', 'console', {
      ...this.#settingsOfSeekers(),
      GRANTD_OPERATOR_TOKEN: OPERATOR_TOKEN,
    });
    await this.#waitForSlots();
  }

  /** Kills a shard, which cannot tell anyone. */
  async killShard(shard: Member): Promise<void> {
    await this.#shards.find(({ name }) => name === shard.name)?.program.stop('SIGKILL');
  }

  /** Stops a shard in order: it hands its slots over first. */
  async stopShard(shard: Member): Promise<void> {
    await this.#shards.find(({ name }) => name === shard.name)?.program.stop();
  }

  /** Starts a shard that has stopped, and resolves once all slots are where they were. */
  async restoreShard(shard: Member): Promise<void> {
    const index = this.#shards.findIndex(({ name }) => name === shard.name);
    const restored = await this.#startShard(index);
    this.#shards = this.#shards.with(index, restored);
    await this.#waitForSlots();
  }

  /** Stops all in order and starts them again on the same addresses, with empty memory. */
  async restartShards(): Promise<void> {
    await Promise.all(this.#shards.map(({ program }) => program.stop()));
    await this.#startShards();
    await this.#waitForSlots();
  }

  /** Stops all in order, and starts as many again on other addresses. */
  async restartFronts(): Promise<void> {
    const stopped = this.#fronts.splice(0);
    await Promise.all(stopped.map(({ program }) => program.stop()));
    for (const _ of stopped) await this.startFront();
  }

  async startFront(): Promise<void> {
    const name = `front-${this.#fronts.length + 1}`;
    this.#fronts.push(await this.#startReady('front', name, this.#settingsOfSeekers()));
  }

  /** Of each of these processes: by default, of the shards. */
  readMetrics(name: string, members: readonly Member[] = this.#shards): Promise<readonly number[]> {
    return Promise.all(
      members.map(async ({ opsAddress }) => {
        const response = await fetch(`http://${opsAddress}/metrics`);
        return readMetric(await response.text(), name);
      }),
    );
  }

  /** The sum over all shards. */
  async readShardMetric(name: string): Promise<number> {
    return (await this.readMetrics(name)).reduce((sum, value) => sum + value, 0);
  }

  /** Resolves once every acknowledged write is also in the state tables. */
  async waitForCheckpoint(): Promise<void> {
    const endMs = performance.now() + LAG_SECONDS_MAX * 1000;
    while ((await this.readShardMetric('grantd_checkpoint_lag_entries')) > 0) {
      if (performance.now() > endMs) throw new Error('The state tables do not catch up with the log.');
      await delay(POLL_MS);
    }
  }

  async stop(): Promise<void> {
    const serving = [...this.#fronts, ...(this.#console === undefined ? [] : [this.#console])];
    await Promise.all(serving.map(({ program }) => program.stop()));
    // All at once; otherwise they would hand their slots to each other until none is left.
    await Promise.all(this.#shards.map(({ program }) => program.stop('SIGKILL')));
  }

  async #startShards(): Promise<void> {
    this.#shards = await Promise.all(this.#shardAddresses.map((_, index) => this.#startShard(index)));
  }

  #startShard(index: number): Promise<Started> {
    const settings = { ...this.#store, GRANTD_PLANS: PLANS };
    return this.#startReady('shard', `shard-${index + 1}`, settings, this.#shardAddresses[index]);
  }

  /** For the processes that must find shards. */
  #settingsOfSeekers(): Readonly<Record<string, string>> {
    return {
      GRANTD_DISCOVERY: `static:${this.#shardAddresses.join(',')}`,
      GRANTD_BASE_URL: 'http://127.0.0.1',
      GRANTD_PLANS: PLANS,
    };
  }

  async #startReady(
    role: 'shard' | 'front' | 'console',
    name: string,
    settings: Readonly<Record<string, string>>,
    given?: string,
  ): Promise<Started> {
    const [port, opsPort] = await freePorts(2);
    const address = given ?? `127.0.0.1:${port}`;
    const opsAddress = `127.0.0.1:${opsPort}`;
    const listens = { shard: 'GRANTD_RPC_ADDRESS', front: 'GRANTD_HTTP_ADDRESS', console: 'GRANTD_CONSOLE_ADDRESS' };
    const program = this.#launch(role, name, {
      ...settings,
      [listens[role]]: address,
      ...(role === 'shard' ? { GRANTD_SHARD_NAME: name } : {}),
      GRANTD_OPS_ADDRESS: opsAddress,
      GRANTD_DRAIN_SECONDS: '0',
      ...(role === 'console' ? {} : this.#options.environment?.[role]),
    });
    try {
      await program.waitUntil(() => answersOk(`http://${opsAddress}/readyz`), START_SECONDS_MAX);
    } catch (error) {
      await program.stop('SIGKILL');
      throw error;
    }
    return { name, pid: program.pid, address, opsAddress, logFile: this.#logFileOf(name), program };
  }

  #launch(role: string, name: string, settings: Readonly<Record<string, string>>): BackgroundProcess {
    return new BackgroundProcess({
      name: `grantd ${name}`,
      command: [process.execPath, MAIN, role, ...(role === 'shard' && this.#options.watched ? ['--watched'] : [])],
      environment: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...settings },
      logFile: this.#logFileOf(name),
    });
  }

  #logFileOf(name: string): string {
    const { directory, keyspace } = this.#options;
    return join(directory, `${keyspace}-${name}.log`);
  }

  /** Resolves once every slot is served by its wanted owner: joining shards take their share from the others. */
  async #waitForSlots(): Promise<void> {
    const names = this.#shards.map(({ name }) => name);
    const endMs = performance.now() + START_SECONDS_MAX * 1000;
    for (;;) {
      const response = await fetch(`${this.addresses.console_url}/operator/v1/slots`, {
        headers: { Authorization: `Bearer ${OPERATOR_TOKEN}` },
      });
      if (response.ok) {
        const { slots }: SlotsBody = JSON.parse(await response.text());
        const isHome = ({ slot, state, shard }: SlotsBody['slots'][number]): boolean =>
          state === 'serving' && shard === rankShards(names, slot)[0];
        if (slots.length > 0 && slots.every(isHome)) return;
      }
      if (performance.now() > endMs) throw new Error('The slots keep moving.');
      await delay(POLL_MS);
    }
  }
}

interface SlotsBody {
  readonly slots: readonly { readonly slot: number; readonly state: string; readonly shard: string | null }[];
}
