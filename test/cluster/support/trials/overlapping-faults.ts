// Faults that overlap: while the cluster still recovers from one, the next comes. Within 75 s every shard is taken away
// once, each in another way, and a node of Cassandra is killed; nobody gets an error.

import { letRun } from '../../../kit/wait-for.ts';
import { assertNoFailures, describePauses, describeRequest, type OwnNodes, type Trial, underLoad } from './trial.ts';

/** Moments since the first fault. The next fault comes before the cluster is whole again. */
const START_KILLED_AT_MS = 3000;
const PAUSE_AT_MS = 10_000;
const PAUSE_MS = 8000;
const KILL_NODE_AT_MS = 14_000;
const DRAIN_AT_MS = 20_000;
const RESTART_NODE_AT_MS = 45_000;
const END_AT_MS = 75_000;

/** Each fault comes `shiftMs()` later than above. */
export const overlappingFaults = (shiftMs: () => number = () => 0): Trial<OwnNodes> => ({
  name: 'overlapping faults: a shard killed, another paused for 8 s, the third drained, a Cassandra node killed',
  async run(bench) {
    const { cluster, cassandra } = bench;
    const [killed, paused, drained] = [cluster.shard(0), cluster.shard(1), cluster.shard(2)];
    let drainMs = 0;
    const faults: string[] = [];
    const outcome = await underLoad(bench, 'overlapping-faults', async (load) => {
      const beganAt = load.now();
      const note = (fault: string): void => {
        faults.push(`${fault} at ${load.now().toFixed(0)} ms`);
      };
      const until = (atMs: number) => letRun(Math.max(0, beganAt + atMs + shiftMs() - load.now()));
      note('killed');
      await killed.kill();
      await until(START_KILLED_AT_MS);
      note('started again');
      killed.start();
      await until(PAUSE_AT_MS);
      note('paused');
      paused.signal('SIGSTOP');
      await until(KILL_NODE_AT_MS);
      note('node killed');
      await cassandra.kill(2);
      await until(PAUSE_AT_MS + PAUSE_MS);
      note('resumed');
      paused.signal('SIGCONT');
      await until(DRAIN_AT_MS);
      note('drained');
      const drainedFrom = load.now();
      await drained.stop();
      drainMs = load.now() - drainedFrom;
      note('drain over');
      drained.start();
      await until(RESTART_NODE_AT_MS);
      await cassandra.restart(2);
      await cluster.waitUntilReady();
      await cluster.waitUntilServed();
      await until(END_AT_MS);
    });
    const pauses = outcome.report.pauses({ from: 0, to: Number.POSITIVE_INFINITY });
    bench.say(`  ${describePauses(pauses).text}; the drain took ${drainMs.toFixed(0)} ms`);
    const [slowest] = outcome.report.requests.toSorted((left, right) => right.latencyMs - left.latencyMs);
    if (slowest !== undefined) bench.say(`  the slowest: ${describeRequest(slowest)}, ${faults.join(', ')}`);
    assertNoFailures(outcome);
  },
});
