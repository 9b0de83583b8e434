// The target of the attacks: `grantd dev` or the parts of a cluster, each with the heap that Node uses in a container
// of the stated size. Resident memory beyond that size counts as its death, because the kernel would kill it there.

import { openStore as openCassandraStore } from '../../test/kit/store/cassandra-keyspace.ts';
import { openStore as openSqliteStore } from '../../test/kit/store/store-directory.ts';
import type { CassandraCluster } from '../../tools/engines/cassandra.ts';
import { GrantdCluster } from '../server/grantd-cluster.ts';
import { type Addresses, GrantdProcess } from '../server/grantd-process.ts';
import { findDescendants } from '../server/resource-use.ts';
import { createTenants, fillStore, type Tenants } from './tenants.ts';

/** The kernel ends it together with this process, however that ends. */
const WITH_PARENT = ['setpriv', '--pdeathsig', 'KILL', '--'];
const KEYSPACE = 'isolation';
/** Few, so that a new owner soon has all of them. */
const CLUSTER_SLOTS = 16;

export interface Container {
  readonly memoryMib: number;
  /** The heap that Node chooses for a container of that size. */
  readonly heapMib: number;
}

/** A front in the chart. */
export const CONTAINER_512: Container = { memoryMib: 512, heapMib: 268 };
/** A shard in the chart. */
export const CONTAINER_1024: Container = { memoryMib: 1024, heapMib: 536 };

const limitHeap = ({ heapMib }: Container): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--max-heap-size=${heapMib}`,
});

export interface Part {
  readonly name: string;
  readonly pid: number;
  readonly opsUrl: string;
  readonly container: Container;
  hasEnded(): boolean;
}

export interface ServiceUnderAttack {
  readonly mode: 'embedded' | 'cluster';
  readonly tenants: Tenants;
  readonly addresses: Addresses;
  readonly parts: readonly Part[];
  /** The processes of the store, if it has any. */
  readonly storePids: readonly number[];
  /** Starts new processes; if `isCold`, those with a page cache start without any cached grants. */
  restart(options: { readonly isCold: boolean; readonly settings: Readonly<Record<string, string>> }): Promise<void>;
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly directory: string;
  readonly searchPath: string;
  readonly container: Container;
  readonly largeSubjects: number;
  readonly settings?: Readonly<Record<string, string>>;
}

export class EmbeddedService implements ServiceUnderAttack {
  readonly mode = 'embedded';
  readonly storePids = [];
  readonly #options: EmbeddedOptions;
  readonly tenants: Tenants;
  #process: GrantdProcess | undefined;

  static async fill(options: EmbeddedOptions): Promise<EmbeddedService> {
    const service = await startDev(options, {});
    const tenants = await createTenants(service.addresses, options.largeSubjects).finally(() => service.stop());
    const store = await openSqliteStore(options.directory);
    await fillStore(store, tenants).finally(() => store.close());
    return new EmbeddedService(options, tenants);
  }

  private constructor(options: EmbeddedOptions, tenants: Tenants) {
    this.#options = options;
    this.tenants = tenants;
  }

  get #running(): GrantdProcess {
    if (this.#process === undefined) throw new Error('grantd is not started.');
    return this.#process;
  }

  get addresses(): Addresses {
    return this.#running.addresses;
  }

  get parts(): readonly Part[] {
    const running = this.#running;
    const { container } = this.#options;
    return [{ name: 'dev', pid: running.pid, opsUrl: running.opsUrl, container, hasEnded: () => running.hasEnded }];
  }

  async restart({ settings }: { readonly settings: Readonly<Record<string, string>> }): Promise<void> {
    await this.stop();
    this.#process = await startDev(this.#options, settings);
  }

  async stop(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    await running?.stop();
  }
}

function startDev(
  { directory, searchPath, container, settings = {} }: EmbeddedOptions,
  further: Readonly<Record<string, string>>,
): Promise<GrantdProcess> {
  const all = { GRANTD_DEMO: 'false', ...limitHeap(container), ...settings, ...further };
  return GrantdProcess.start({ directory, searchPath, settings: all, under: WITH_PARENT });
}

export class ClusterService implements ServiceUnderAttack {
  readonly mode = 'cluster';
  readonly storePids = findDescendants('CassandraDaemon');
  readonly #cluster: GrantdCluster;
  readonly tenants: Tenants;

  static async fill(
    cassandra: CassandraCluster,
    options: { readonly directory: string; readonly largeSubjects: number },
  ): Promise<ClusterService> {
    const { directory, largeSubjects } = options;
    const environment = { front: limitHeap(CONTAINER_512), shard: limitHeap(CONTAINER_1024) };
    const common = { cassandra, directory, keyspace: KEYSPACE, slots: CLUSTER_SLOTS, environment };
    const cluster = await GrantdCluster.start({ ...common, shards: 1, fronts: 1 });
    try {
      const tenants = await createTenants(cluster.addresses, largeSubjects);
      const store = await openCassandraStore(cassandra, { keyspace: KEYSPACE });
      await fillStore(store, tenants).finally(() => store.close());
      return new ClusterService(cluster, tenants);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  private constructor(cluster: GrantdCluster, tenants: Tenants) {
    this.#cluster = cluster;
    this.tenants = tenants;
  }

  get addresses(): Addresses {
    return this.#cluster.addresses;
  }

  get parts(): readonly Part[] {
    const { fronts, shards } = this.#cluster;
    const partsOf = (members: typeof fronts, container: Container): readonly Part[] =>
      members.map(({ name, pid, opsAddress, program }) => ({
        name,
        pid,
        opsUrl: `http://${opsAddress}`,
        container,
        hasEnded: () => program.hasEnded,
      }));
    return [...partsOf(fronts, CONTAINER_512), ...partsOf(shards, CONTAINER_1024)];
  }

  /** A shard whose memory was not attacked continues, with its cache. */
  async restart({ isCold }: { readonly isCold: boolean }): Promise<void> {
    const { shards } = this.#cluster;
    if (isCold || shards.some(({ program }) => program.hasEnded)) await this.#cluster.restartShards();
    await this.#cluster.restartFronts();
  }

  stop(): Promise<void> {
    return this.#cluster.stop();
  }
}
