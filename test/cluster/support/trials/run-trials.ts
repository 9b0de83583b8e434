// One cluster on three nodes of Cassandra, and trials of it one after another, as tests. When one fails, the logs of
// every process are shown and kept.

import { after, before, describe, it } from 'node:test';
import { type CassandraCluster, missingCassandra, startCassandra } from '../../../../tools/engines/cassandra.ts';
import { Cluster } from '../cluster.ts';
import { compareDirections } from '../directions.ts';
import type { Trial } from './trial.ts';

const NODES = 3;
const SHARDS = 3;
const FRONTS = 2;
/** Few enough that one of two processor cores opens a shard's share within the time that a fault may take. */
const SLOTS = 64;
const BEFORE_MS = 2500;
const AFTER_MS = 2000;
/** Every wait of a trial has a bound of its own; a trial that were cut off here would go on beside the next. */
const TRIAL_MS_MAX = 600_000;

export async function describeTrials(name: string, trials: readonly Trial[]): Promise<void> {
  const missing = await missingCassandra(name);
  describe(name, { skip: missing ?? false }, () => {
    let cassandra: CassandraCluster | undefined;
    let cluster: Cluster | undefined;
    let failed = false;

    before(async () => {
      cassandra = await startCassandra({ nodes: NODES });
      cluster = await Cluster.start({ cassandra, shards: SHARDS, fronts: FRONTS, slots: SLOTS });
      await cluster.waitUntilServed();
    });
    after(async () => {
      await cluster?.end({ keepLogs: failed });
      await cassandra?.stop();
    });

    for (const trial of trials) {
      it(trial.name, { timeout: TRIAL_MS_MAX }, async (context) => {
        if (cluster === undefined || cassandra === undefined) throw new Error('There is no cluster.');
        const say = (text: string): void => context.diagnostic(text);
        try {
          await cluster.restore();
          await trial.run({ cluster, cassandra, beforeMs: BEFORE_MS, afterMs: AFTER_MS, say });
          say(`  ${await compareDirections(cassandra)} rows by subject, and the same by object`);
        } catch (error) {
          failed = true;
          cluster.showLogs();
          throw error;
        }
      });
    }
  });
}
