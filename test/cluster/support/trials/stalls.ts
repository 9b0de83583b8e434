// Stalls: in turns a shard, a front or a node of Cassandra stands still for up to a second, as in a long garbage
// collection or on a host that stands still. Nobody may be declared dead for it, no slot moves, and nobody gets an
// error.

import assert from 'node:assert/strict';
import { letRun } from '../../../kit/wait-for.ts';
import { assertNoFailures, type Bench, describePauses, type Trial, underLoad } from './trial.ts';

const DURATION_MS = 60_000;
/** From one stall to the next. */
const BETWEEN_MS_MAX = 2000;
const STALL_MS_MIN = 100;
const STALL_MS_MAX = 1000;
/** From here on the machine stands still by itself, for longer than a lease. */
const STRAIN_OF_LEASES = 5;

const between = (least: number, most: number): number => least + Math.random() * (most - least);

/** What stands still while the signal is out, and goes on afterwards. */
function targets({ cluster, cassandra }: Bench): readonly ((ms: number) => Promise<void>)[] {
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

async function sessionsLost({ cluster }: Bench): Promise<number> {
  const running = cluster.shards.filter(({ isRunning }) => isRunning);
  const counts = await Promise.all(running.map((shard) => shard.readMetric('grantd_sessions_lost_total')));
  return counts.reduce((sum, count) => sum + count, 0);
}

async function readEpochs({ cluster }: Bench): Promise<readonly string[]> {
  return (await cluster.operator.slots()).map(({ slot, shard, epoch }) => `${slot} ${shard} ${epoch}`);
}

export const stalls: Trial = {
  name: 'stalls of up to a second: shards, fronts and nodes of Cassandra stand still in turns',
  async run(bench) {
    const stall = targets(bench);
    const [lostBefore, ownersBefore] = [await sessionsLost(bench), await readEpochs(bench)];
    let count = 0;
    const outcome = await underLoad(bench, 'stalls', async (load) => {
      const endAt = load.now() + DURATION_MS;
      while (load.now() < endAt) {
        await stall[Math.floor(Math.random() * stall.length)]?.(between(STALL_MS_MIN, STALL_MS_MAX));
        await letRun(between(0, BETWEEN_MS_MAX));
        count += 1;
      }
    });
    const lost = (await sessionsLost(bench)) - lostBefore;
    const pauses = outcome.report.pauses({ from: 0, to: Number.POSITIVE_INFINITY });
    bench.say(`  ${count} stalls, ${lost} shards declared dead; ${describePauses(pauses).text}`);
    assertNoFailures(outcome);
    if (outcome.strain >= STRAIN_OF_LEASES) return;
    assert.equal(lost, 0, 'nobody was declared dead');
    assert.deepEqual(await readEpochs(bench), ownersBefore, 'no slot moved');
  },
};
