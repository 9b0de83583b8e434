// Faults that overlap: while the cluster still recovers from one, the next comes. Within 75 s every shard is taken away
// once, each in another way, and a node of Cassandra is killed; nobody gets an error.

import { letRun } from '../../../kit/wait-for.ts';
import { assertNoFailures, describePauses, type OwnNodes, type Trial, underLoad } from './trial.ts';

/** Many writes are in flight at any moment. */
const REQUESTS_PER_SECOND = 300;
/** Moments since the first fault. The next fault comes before the cluster is whole again. */
const START_KILLED_AT_MS = 3000;
const PAUSE_AT_MS = 10_000;
const PAUSE_MS = 8000;
const KILL_NODE_AT_MS = 14_000;
const DRAIN_AT_MS = 20_000;
const RESTART_NODE_AT_MS = 45_000;
const END_AT_MS = 75_000;

export const overlappingFaults: Trial<OwnNodes> = {
  name: 'overlapping faults: a shard killed, another paused for 8 s, the third drained, a Cassandra node killed',
  async run(bench) {
    const { cluster, cassandra } = bench;
    const [killed, paused, drained] = [cluster.shard(0), cluster.shard(1), cluster.shard(2)];
    let drainMs = 0;
    const outcome = await underLoad(
      bench,
      'overlapping-faults',
      async (load) => {
        const beganAt = load.now();
        const until = (atMs: number) => letRun(Math.max(0, beganAt + atMs - load.now()));
        await killed.kill();
        await until(START_KILLED_AT_MS);
        killed.start();
        await until(PAUSE_AT_MS);
        paused.signal('SIGSTOP');
        await until(KILL_NODE_AT_MS);
        await cassandra.kill(2);
        await until(PAUSE_AT_MS + PAUSE_MS);
        paused.signal('SIGCONT');
        await until(DRAIN_AT_MS);
        const drainedFrom = load.now();
        await drained.stop();
        drainMs = load.now() - drainedFrom;
        drained.start();
        await until(RESTART_NODE_AT_MS);
        await cassandra.restart(2);
        await cluster.waitUntilReady();
        await cluster.waitUntilServed();
        await until(END_AT_MS);
      },
      { requestsPerSecond: REQUESTS_PER_SECOND },
    );
    const pauses = outcome.report.pauses({ from: 0, to: Number.POSITIVE_INFINITY });
    bench.say(`  ${describePauses(pauses).text}; the drain took ${drainMs.toFixed(0)} ms`);
    assertNoFailures(outcome);
  },
};
