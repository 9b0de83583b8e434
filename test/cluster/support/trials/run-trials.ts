// Trials of one cluster, one after another, as tests. When one fails, the logs of every process are kept.

import { after, before, describe, it } from 'node:test';
import { missingCassandra } from '../../../../tools/engines/cassandra.ts';
import type { SharedCassandra } from '../../../../tools/engines/shared-cassandra.ts';
import type { Trial } from './trial.ts';
import { type Scale, TrialCluster } from './trial-cluster.ts';

const SPANS = { beforeMs: 2500, afterMs: 2000 };
/** Every wait of a trial has a bound of its own; a trial that were cut off here would go on beside the next. */
const TRIAL_MS_MAX = 900_000;

export async function describeTrials<Store extends SharedCassandra>(
  name: string,
  scale: Scale<Store>,
  trials: readonly Trial<Store>[],
): Promise<void> {
  const missing = await missingCassandra(name);
  describe(name, { skip: missing ?? false }, () => {
    let cluster: TrialCluster<Store>;
    let failed = false;

    before(async () => {
      cluster = await TrialCluster.start(scale, SPANS);
    });
    after(() => cluster?.end({ keepLogs: failed }));

    for (const trial of trials) {
      it(trial.name, { timeout: TRIAL_MS_MAX }, async (context) => {
        const say = (text: string): void => context.diagnostic(text);
        try {
          await cluster.run(trial, say);
        } catch (error) {
          failed = true;
          say(`The logs: ${cluster.logDirectory}`);
          throw error;
        }
      });
    }
  });
}
