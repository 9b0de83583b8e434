// Stalls: in turns a shard, a front or a node of Cassandra stands still for up to a second, as in a long garbage
// collection or on a host that stands still. Nobody may be declared dead for it, no slot moves, and nobody gets an
// error.

import { letRun } from '../../../kit/wait-for.ts';
import {
  assertNoFailures,
  type Bench,
  describePauses,
  type OwnNodes,
  type Trial,
  underLoad,
  watchLeases,
} from './trial.ts';

const DURATION_MS = 60_000;
/** From one stall to the next. */
const BETWEEN_MS_MAX = 2000;
const STALL_MS_MIN = 100;
const STALL_MS_MAX = 1000;

const between = (least: number, most: number): number => least + Math.random() * (most - least);

/** What stands still while the signal is out, and goes on afterwards. */
function targets({ cluster, cassandra }: Bench<OwnNodes>): readonly ((ms: number) => Promise<void>)[] {
  const services = [...cluster.shards, ...cluster.fronts].filter(({ isRunning }) => isRunning);
  const nodes = cassandra.contactPoints.map((_, index) => index + 1);
  return [
    ...services.map((service) => async (ms: number) => {
      service.signal('SIGSTOP');
      await letRun(ms);
      service.signal('SIGCONT');
    }),
    ...nodes.map((node) => async (ms: number) => {
      await cassandra.pause(node);
      await letRun(ms);
      await cassandra.resume(node);
    }),
  ];
}

export const stalls: Trial<OwnNodes> = {
  name: 'stalls of up to a second: shards, fronts and nodes of Cassandra stand still in turns',
  async run(bench) {
    const stall = targets(bench);
    const judgeLeases = await watchLeases(bench);
    let count = 0;
    const outcome = await underLoad(bench, 'stalls', async (load) => {
      const endAt = load.now() + DURATION_MS;
      while (load.now() < endAt) {
        await stall[Math.floor(Math.random() * stall.length)]?.(between(STALL_MS_MIN, STALL_MS_MAX));
        await letRun(between(0, BETWEEN_MS_MAX));
        count += 1;
      }
    });
    const pauses = outcome.report.pauses({ from: 0, to: Number.POSITIVE_INFINITY });
    bench.say(`  ${count} stalls; ${describePauses(pauses).text}`);
    assertNoFailures(outcome);
    await judgeLeases(outcome);
  },
};
