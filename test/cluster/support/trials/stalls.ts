// Stalls: in turns a shard, a front, a node of Cassandra, or the way of a shard to all nodes stands still for up to a
// second, as in a long garbage collection, or on a host that stands still. Nobody may be declared dead for it, no slot
// moves, and nobody gets an error. Leases that run out are counted: their shards keep their slots.

import assert from 'node:assert/strict';
import { letRun } from '../../../kit/wait-for.ts';
import { BLOCKED_MS_MAX } from '../block-loop.ts';
import type { Cluster } from '../cluster.ts';
import { assertNoFailures, type Bench, describePauses, type OwnNodes, type Trial, underLoad } from './trial.ts';

const DURATION_MS = 60_000;
const STALL_MS_MIN = 100;
/** Of which the machine may take some for itself: a stall that turns out longer than a second is not counted. */
const STALL_MS_MAX = BLOCKED_MS_MAX;
const COUNTED_MS_MAX = 1000;
/** After a stall: longer than any lease, so that what follows is counted with it. */
const AFTER_MS_MIN = 2500;
const AFTER_MS_MAX = 3500;
const TICK_MS = 20;
/** A process of the test that misses so much of its own time was frozen, and the cluster with it. */
const FROZEN_MS = 400;

const between = (least: number, most: number): number => least + Math.random() * (most - least);

interface Stall {
  readonly of: 'process' | 'loop' | 'node' | 'way to the store';
  readonly run: (ms: number) => Promise<void>;
}

const pick = <Item>(items: readonly Item[]): Item =>
  items[Math.floor(Math.random() * items.length)] ?? assert.fail('there is nothing to pick from');

/** What stands still while the signal is out, and goes on afterwards. */
function targets({ cluster, cassandra }: Bench<OwnNodes>): readonly Stall[] {
  const isRunning = (service: { readonly isRunning: boolean }) => service.isRunning;
  const shards = cluster.shards.filter(isRunning);
  const stopped = async (service: Cluster['storeCut'], ms: number) => {
    service.signal('SIGSTOP');
    await letRun(ms);
    service.signal('SIGCONT');
  };
  return [
    ...[...shards, ...cluster.fronts.filter(isRunning)].map(
      (service): Stall => ({ of: 'process', run: (ms) => stopped(service, ms) }),
    ),
    ...shards.map(
      (shard): Stall => ({
        of: 'loop',
        run: async () => {
          shard.signal('SIGUSR2');
          await letRun(BLOCKED_MS_MAX);
        },
      }),
    ),
    ...cassandra.contactPoints.map(
      (_, index): Stall => ({
        of: 'node',
        run: async (ms) => {
          await cassandra.pause(index + 1);
          await letRun(ms);
          await cassandra.resume(index + 1);
        },
      }),
    ),
    { of: 'way to the store', run: (ms) => stopped(cluster.storeCut, ms) },
  ];
}

/** Notices that this process, and with it every one that it has started, had no time. */
class OwnTime implements Disposable {
  #lastMs = performance.now();
  #frozenAtMs = Number.NEGATIVE_INFINITY;
  readonly #timer = setInterval(() => {
    const nowMs = performance.now();
    if (nowMs - this.#lastMs > FROZEN_MS) this.#frozenAtMs = nowMs;
    this.#lastMs = nowMs;
  }, TICK_MS);

  wasFrozenSince(ms: number): boolean {
    return this.#frozenAtMs >= ms || performance.now() - this.#lastMs > FROZEN_MS;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Over all trials that share it. */
export interface StallCounts {
  /** Those that are judged, by what stood still. */
  readonly stalls: Map<Stall['of'], number>;
  /** The machine took too much time for itself. */
  uncounted: number;
  /** Shards that were declared dead. */
  deaths: number;
  /** Leases that ran out, of shards that kept their slots. */
  lapses: number;
  /** Counted time. */
  ms: number;
}

export const newStallCounts = (): StallCounts => ({ stalls: new Map(), uncounted: 0, deaths: 0, lapses: 0, ms: 0 });

export function describeStalls({ stalls, uncounted, deaths, lapses, ms }: StallCounts): string {
  const each = Array.from(stalls, ([of, count]) => `${count} of a ${of}`).join(', ');
  const hourly = (count: number): string => `${count} (${((count * 3_600_000) / Math.max(ms, 1)).toFixed(2)} an hour)`;
  return `${(ms / 60_000).toFixed(1)} min counted: stalls ${each}; ${uncounted} not counted; declared dead: ${hourly(deaths)}; leases that ran out: ${hourly(lapses)}`;
}

async function sumOf({ shards }: Cluster, metric: string): Promise<number> {
  const counts = shards.filter(({ isRunning }) => isRunning).map((shard) => shard.readMetric(metric));
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

const readCounts = async (cluster: Cluster) => ({
  deaths: await sumOf(cluster, 'grantd_sessions_lost_total'),
  lapses: await sumOf(cluster, 'grantd_leases_lapsed_total'),
});

async function stallOnce(bench: Bench<OwnNodes>, time: OwnTime, counts: StallCounts): Promise<void> {
  const { cluster } = bench;
  const kinds = Object.values(Object.groupBy(targets(bench), ({ of }) => of));
  const { of, run } = pick(pick(kinds));
  const before = await readCounts(cluster);
  const startMs = performance.now();
  await run(between(STALL_MS_MIN, STALL_MS_MAX));
  const isLonger = performance.now() - startMs > COUNTED_MS_MAX + (of === 'loop' ? BLOCKED_MS_MAX : 0);
  await letRun(between(AFTER_MS_MIN, AFTER_MS_MAX));
  const after = await readCounts(cluster);
  if (isLonger || time.wasFrozenSince(startMs)) {
    counts.uncounted += 1;
    return;
  }
  counts.stalls.set(of, (counts.stalls.get(of) ?? 0) + 1);
  counts.ms += performance.now() - startMs;
  counts.deaths += after.deaths - before.deaths;
  counts.lapses += after.lapses - before.lapses;
}

/** `total`: counts of several trials. */
export const stallsFor = (durationMs: number, total = newStallCounts()): Trial<OwnNodes> => ({
  name: 'stalls of up to a second: shards, fronts, nodes of Cassandra and ways to it stand still in turns',
  async run(bench) {
    const { deaths } = total;
    using time = new OwnTime();
    const startMs = performance.now();
    const outcome = await underLoad(bench, 'stalls', async (load) => {
      const endAt = load.now() + durationMs;
      while (load.now() < endAt) await stallOnce(bench, time, total);
    });
    bench.say(`  ${describeStalls(total)}`);
    bench.say(`  ${describePauses(outcome.report.pauses({ from: 0, to: Number.POSITIVE_INFINITY })).text}`);
    // Fronts that were frozen give up the connections of clients that were silent meanwhile.
    if (time.wasFrozenSince(startMs)) bench.say('  frozen for a while: failed requests are not judged');
    else assertNoFailures(outcome);
    outcome.judge(() => assert.equal(total.deaths - deaths, 0, 'nobody was declared dead'));
  },
});

export const stalls = stallsFor(DURATION_MS);
