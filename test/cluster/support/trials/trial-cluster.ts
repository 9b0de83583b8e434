// A cluster on which trials run one after another, and the sizes in which they do.

import { startCassandra } from '../../../../tools/engines/cassandra.ts';
import { type SharedCassandra, shareCassandra } from '../../../../tools/engines/shared-cassandra.ts';
import { judgeTimes } from '../../../kit/strain.ts';
import { Cluster } from '../cluster.ts';
import { compareDirections } from '../directions.ts';
import { FULL_LOAD, LIGHT_LOAD, type LoadSize } from '../load.ts';
import { judgeWhereBorne, type OwnNodes, type Trial, underLoad } from './trial.ts';

const SHARDS = 3;
const FRONTS = 2;
/** With the full load: a few hundred requests, until processes and clients have compiled what they run. */
const WARM_UP_MS = 4000;

export interface Scale<Store extends SharedCassandra> {
  readonly openCassandra: () => Promise<Store>;
  /** Few enough that one of two processor cores opens a shard's share within the time that a fault may take. */
  readonly slots: number;
  readonly load: LoadSize;
  /** Two processors may be too few for it; times are judged where they are not. */
  readonly isHeavy?: boolean;
}

async function openNodes(nodes: number): Promise<OwnNodes> {
  const cassandra = await startCassandra({ nodes });
  return { ...cassandra, keyspace: 'grantd', release: cassandra.stop };
}

/** Where no node of Cassandra is the fault. */
export const LIGHT: Scale<SharedCassandra> = { openCassandra: shareCassandra, slots: 24, load: LIGHT_LOAD };
export const lightOnNodes = (nodes: number): Scale<OwnNodes> => ({
  openCassandra: () => openNodes(nodes),
  slots: 24,
  load: LIGHT_LOAD,
});
export const LIGHT_ON_NODES = lightOnNodes(3);
export const FULL: Scale<OwnNodes> = { openCassandra: () => openNodes(3), slots: 64, load: FULL_LOAD, isHeavy: true };

export interface Spans {
  /** How long the load runs before a fault, and after it is over. */
  readonly beforeMs: number;
  readonly afterMs: number;
}

export class TrialCluster<Store extends SharedCassandra> {
  readonly #cassandra: Store;
  readonly #cluster: Cluster;
  readonly #scale: Scale<Store>;
  readonly #spans: Spans;

  static async start<Store extends SharedCassandra>(scale: Scale<Store>, spans: Spans): Promise<TrialCluster<Store>> {
    const cassandra = await scale.openCassandra();
    try {
      const { keyspace } = cassandra;
      const { slots } = scale;
      const cluster = await Cluster.start({ cassandra, keyspace, shards: SHARDS, fronts: FRONTS, slots });
      const started = new TrialCluster(cassandra, cluster, scale, spans);
      await started.#warmUp().catch(async (error: unknown) => {
        await cluster.end({ keepLogs: true });
        throw new Error(`The cluster has failed while it warmed up. The logs: ${cluster.directory}`, { cause: error });
      });
      return started;
    } catch (error) {
      await cassandra.release();
      throw error;
    }
  }

  private constructor(cassandra: Store, cluster: Cluster, scale: Scale<Store>, spans: Spans) {
    this.#cassandra = cassandra;
    this.#cluster = cluster;
    this.#scale = scale;
    this.#spans = spans;
  }

  get logDirectory(): string {
    return this.#cluster.directory;
  }

  async #warmUp(): Promise<void> {
    await this.#cluster.waitUntilServed();
    const load = { cluster: this.#cluster, load: FULL_LOAD, beforeMs: WARM_UP_MS, afterMs: 0, say: () => {} };
    await underLoad(load, 'warm-up', async () => {});
  }

  async run(trial: Trial<Store>, say: (text: string) => void): Promise<void> {
    const [cluster, cassandra, { load, isHeavy = false }] = [this.#cluster, this.#cassandra, this.#scale];
    await cluster.restore();
    const judge = isHeavy ? judgeWhereBorne(say) : judgeTimes;
    await trial.run({ ...this.#spans, cluster, cassandra, load, judgeTimes: judge, say });
    say(`  ${await compareDirections(cassandra)} rows by subject, and the same by object`);
  }

  async end(options: { readonly keepLogs: boolean }): Promise<void> {
    await this.#cluster.end(options);
    await this.#cassandra.release();
  }
}
