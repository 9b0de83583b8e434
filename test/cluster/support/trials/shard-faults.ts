// What happens to shards: killed, paused, ended in order, restarted one by one or all at once, added and removed, cut
// off from Cassandra.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { rankShards } from '../../../../src/core/slots.ts';
import type { SharedCassandra } from '../../../../tools/engines/shared-cassandra.ts';
import { letRun, waitFor } from '../../../kit/wait-for.ts';
import { Cluster } from '../cluster.ts';
import { percentile, type Window } from '../load.ts';
import type { SlotRecord } from '../operator-client.ts';
import type { ServiceProcess } from '../service-process.ts';
import {
  assertNoFailures,
  type Bench,
  describePauses,
  type Outcome,
  type Trial,
  tenantsOf,
  underLoad,
  watchLeases,
} from './trial.ts';

/** Of a killed shard: its lease, and the openings of its slots. One that starts again in its place takes no longer. */
const FAILOVER_MS_MAX = 4000;
/** Of a killed shard whose place is watched: nobody waits for its lease, nor for its restart. */
const WATCHED_FAILOVER_MS_MAX = 2500;
/** Of a tenant whose slot moves, and of the slowest of them all. */
const HANDOVER_MS_MAX = 300;
const WORST_HANDOVER_MS_MAX = 900;
/** Of a tenant of another shard than the one that was killed. */
const OTHERS_MS_MAX = 300;
const SHARD_PAUSE_MS = 10_000;
const RESTART_ALL_MS_MAX = 10_000;
/** Of a shard with a third of `MANY_SLOTS`, without the second that the tests let a drained shard go on answering. */
const DRAIN_MS_MAX = 10_000;
const GOES_ON_MS = 1000;
/** Longer than a reader waits for its owner. */
const OWNER_CUT_MS = 6000;
/** So that some are at the reader when it is cut off. */
const CUT_REQUESTS_PER_SECOND = 40;
/** Of a call that a reader hands to the owner since the connection between them is silent: 2 s, and its answer. */
const HANDED_OVER_MS_MAX = 4000;
const WATCH_AFTER_KILL_MS = 8000;
const MANY_SLOTS = 256;
/** Each slot is claimed once, but for this share that a member took before the others were seen. */
const CLAIMS_AGAIN_MAX = 0.25;

/** The slots of a shard that has gone are served by others. */
async function waitUntilTakenOver({ cluster }: Bench, shard: string): Promise<void> {
  await waitFor(`the slots of ${shard} to be served by others`, async () =>
    (await cluster.operator.slots()).every((slot) => slot.state === 'serving' && slot.shard !== shard),
  );
}

/** When the last of these tenants was answered again, in ms after `fromMs`. */
function longestWait({ report }: Outcome, tenants: ReadonlySet<number>, fromMs: number): number {
  const waits = [...tenants].map((tenant) => {
    const after = report.requests.filter(
      (each) => each.tenant === tenant && each.atMs >= fromMs && each.failure === undefined,
    );
    return Math.min(...after.map(({ atMs, latencyMs }) => atMs + latencyMs - fromMs));
  });
  return Math.max(...waits);
}

/** Kills the shard under load, and starts it again after `beforeStart`. `owned`: the tenants that it served. */
async function killUnderLoad(
  bench: Bench,
  name: string,
  victim: ServiceProcess,
  beforeStart: (sinceKillMs: () => number) => Promise<void> = async () => {},
) {
  const { cluster } = bench;
  let killedAt = 0;
  let owned = new Set<number>();
  const outcome = await underLoad(bench, name, async (load) => {
    owned = tenantsOf(load, await cluster.operator.slots(), victim.name);
    killedAt = load.now();
    await victim.kill();
    await beforeStart(() => load.now() - killedAt);
    victim.start();
    await cluster.waitUntilServed();
  });
  return { outcome, killedAt, owned, worst: longestWait(outcome, owned, killedAt) };
}

const killShard: Trial = {
  name: 'kill -9 of a shard',
  async run(bench) {
    const victim = bench.cluster.shard(1);
    const { outcome, killedAt, owned, worst } = await killUnderLoad(
      bench,
      'kill-shard',
      victim,
      async (sinceKillMs) => {
        await waitUntilTakenOver(bench, victim.name);
        await letRun(Math.max(0, WATCH_AFTER_KILL_MS - sinceKillMs()));
      },
    );
    const others = new Set(outcome.report.requests.map(({ tenant }) => tenant).filter((tenant) => !owned.has(tenant)));
    const during = outcome.report.within({ from: killedAt, to: killedAt + WATCH_AFTER_KILL_MS }, others);
    const p99 = percentile(during, 0.99);
    bench.say(
      `  ${owned.size} tenants of the killed shard answered again after ${worst.toFixed(0)} ms at the latest; the others: p50 ${percentile(during, 0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
    );
    assertNoFailures(outcome);
    outcome.judge(() => {
      assert.ok(p99 <= OTHERS_MS_MAX, `the p99 of others: ${p99} ms`);
      assert.ok(worst <= FAILOVER_MS_MAX, `a tenant was without answers for ${worst} ms`);
    });
  },
};

const watchedShard: Trial = {
  name: 'kill -9 of a shard whose place is watched',
  async run(bench) {
    const { cluster } = bench;
    const victim = cluster.shard(1);
    const watch = cluster.watchOf(victim);
    watch.start();
    try {
      await waitFor(`${watch.name} to watch`, () => watch.logTail().includes('watching'));
      const { outcome, owned, worst } = await killUnderLoad(bench, 'watched-shard', victim, () =>
        waitUntilTakenOver(bench, victim.name),
      );
      bench.say(`  ${owned.size} tenants of the killed shard were answered again after ${worst.toFixed(0)} ms`);
      assertNoFailures(outcome);
      assert.match(watch.logTail(), /declared it dead/);
      outcome.judge(() => assert.ok(worst <= WATCHED_FAILOVER_MS_MAX, `a tenant was without answers for ${worst} ms`));
    } finally {
      await watch.stop();
    }
  },
};

const crashShard: Trial = {
  name: 'kill -9 of a shard that is started again at once',
  async run(bench) {
    const victim = bench.cluster.shard(1);
    const { outcome, owned, worst } = await killUnderLoad(bench, 'crash-shard', victim);
    bench.say(
      `  ${owned.size} tenants of the crashed shard were answered again after ${worst.toFixed(0)} ms at the latest`,
    );
    assertNoFailures(outcome);
    // The new process knows of the death at once. If it starts more slowly than a lease runs out, another shard is
    // first.
    const logs = bench.cluster.shards.map(({ options }) => readFileSync(options.logFile, 'utf8')).join('');
    const declared = new RegExp(
      `earlier process in the same place .* declared it dead|"shardName":"${victim.name}".*declared a silent member dead`,
    );
    assert.match(logs, declared);
    outcome.judge(() => assert.ok(worst <= FAILOVER_MS_MAX, `a tenant was without answers for ${worst} ms`));
  },
};

const pauseShard: Trial = {
  name: 'a shard paused for 10 s, then continued',
  async run(bench) {
    const { cluster } = bench;
    const victim = cluster.shard(1);
    const outcome = await underLoad(bench, 'pause-shard', async () => {
      victim.signal('SIGSTOP');
      await letRun(SHARD_PAUSE_MS);
      victim.signal('SIGCONT');
      await cluster.waitUntilServed();
    });
    assertNoFailures(outcome);
  },
};

/** A time in which slots changed their owner, and the tenants (by index) that lived in them. */
interface Move {
  readonly window: Window;
  readonly moved: ReadonlySet<number>;
}

/** Judges how long tenants paused whose slots changed their owner. */
function assertShortHandovers(bench: Bench, { report, judge }: Outcome, moves: readonly Move[]): void {
  const all = new Set(report.requests.map(({ tenant }) => tenant));
  const moved = describePauses(moves.flatMap((move) => report.pauses(move.window, move.moved)));
  const stayed = describePauses(moves.flatMap((move) => report.pauses(move.window, all.difference(move.moved))));
  const text = `tenants that moved: ${moved.text}; that stayed: ${stayed.text}`;
  bench.say(`  ${text}`);
  judge(() => assert.ok(moved.median < HANDOVER_MS_MAX && moved.worst < WORST_HANDOVER_MS_MAX, text));
}

const stopShard: Trial = {
  name: 'SIGTERM of a shard',
  async run(bench) {
    const { cluster } = bench;
    const victim = cluster.shard(1);
    let move: Move | undefined;
    const outcome = await underLoad(bench, 'stop-shard', async (load) => {
      const moved = tenantsOf(load, await cluster.operator.slots(), victim.name);
      const from = load.now();
      await victim.stop();
      move = { window: { from, to: load.now() }, moved };
      victim.start();
      await cluster.waitUntilServed();
    });
    assertNoFailures(outcome);
    assert.ok(move);
    assertShortHandovers(bench, outcome, [move]);
  },
};

const rollingRestart: Trial = {
  name: 'rolling restart of every shard and front',
  async run(bench) {
    const { cluster } = bench;
    const moves: Move[] = [];
    const fronts = { from: 0, to: 0 };
    const outcome = await underLoad(bench, 'rolling-restart', async (load) => {
      for (const shard of cluster.shards.filter(({ isRunning }) => isRunning)) {
        const moved = tenantsOf(load, await cluster.operator.slots(), shard.name);
        const from = load.now();
        await shard.stop();
        const stopped = load.now();
        shard.start();
        await shard.waitUntilReady();
        moves.push({ window: { from, to: stopped }, moved }, { window: { from: stopped, to: load.now() }, moved });
      }
      fronts.from = load.now();
      for (const front of cluster.fronts.filter(({ isRunning }) => isRunning)) {
        await front.stop();
        front.start();
        await front.waitUntilReady();
      }
      fronts.to = load.now();
      await cluster.waitUntilServed();
    });
    assertNoFailures(outcome);
    assertShortHandovers(bench, outcome, moves);
    // A front takes no tenant away: the bound of the worst holds for all of them.
    const { worst } = describePauses(outcome.report.pauses(fronts));
    const text = `worst pause while fronts restarted ${worst.toFixed(0)} ms`;
    bench.say(`  ${text}`);
    outcome.judge(() => assert.ok(worst < WORST_HANDOVER_MS_MAX, text));
  },
};

/** Slots that have another owner, and who that is. */
function movedTo(before: readonly SlotRecord[], after: readonly SlotRecord[]): Map<string, number> {
  const owners = new Map(before.map(({ slot, shard }) => [slot, shard]));
  const moved = new Map<string, number>();
  for (const { slot, shard } of after) {
    if (shard === null || owners.get(slot) === shard) continue;
    moved.set(shard, (moved.get(shard) ?? 0) + 1);
  }
  return moved;
}

const scale: Trial = {
  name: '2 → 4 → 2 shards',
  async run(bench) {
    const { cluster } = bench;
    const added = [cluster.shard(2), cluster.shards[3] ?? cluster.addShard()];
    await cluster.shard(2).stop();
    await cluster.waitUntilServed();
    const two = await cluster.operator.slots();
    let four: SlotRecord[] = [];
    const outcome = await underLoad(bench, 'scale', async () => {
      for (const shard of added) shard.start();
      await cluster.waitUntilServed();
      four = await cluster.operator.slots();
      for (const shard of added) await shard.stop();
      await cluster.waitUntilServed();
    });
    const twoAgain = await cluster.operator.slots();
    cluster.shard(2).start();
    await cluster.waitUntilServed();
    const there = movedTo(two, four);
    bench.say(`  of ${two.length} slots ${JSON.stringify(Object.fromEntries(there))} moved`);
    assertNoFailures(outcome);
    assert.deepEqual(
      [...there.keys()].sort(),
      added.map(({ name }) => name).sort(),
      'slots moved to the new shards only',
    );
    assert.deepEqual(
      twoAgain.map(({ shard }) => shard),
      two.map(({ shard }) => shard),
      'and back to where they were',
    );
    // What did not move kept its epoch.
    for (const [index, slot] of two.entries())
      if (four[index]?.shard === slot.shard) assert.equal(four[index]?.epoch, slot.epoch);
  },
};

const cutOffFromStore: Trial = {
  name: 'a shard cut off from Cassandra',
  async run(bench) {
    const { cluster } = bench;
    const victim = cluster.shard(2);
    let takenOverMs = 0;
    const outcome = await underLoad(bench, 'store-cut', async (load) => {
      const from = load.now();
      cluster.storeCut.signal('SIGSTOP');
      await waitUntilTakenOver(bench, victim.name);
      takenOverMs = load.now() - from;
      await letRun(bench.afterMs);
      assert.ok(await victim.isReady(), 'a shard that has been ready stays ready without its store');
      cluster.storeCut.signal('SIGCONT');
      await cluster.waitUntilServed();
    });
    bench.say(`  its slots were served by others after ${takenOverMs.toFixed(0)} ms`);
    assertNoFailures(outcome);
  },
};

const readerCutOff: Trial = {
  name: 'a reader cut off from an owner, and not from fronts',
  async run(bench) {
    const { cluster } = bench;
    const reader = cluster.shard(2);
    const judgeLeases = await watchLeases(bench);
    const connections = (): Promise<number> => reader.readMetric('grantd_owner_connections', { state: 'ready' });
    const reaches = (count: number): Promise<void> =>
      waitFor(`the reader to reach ${count} owners`, async () => (await connections()) === count);
    const cut = async (): Promise<void> => {
      const owners = cluster.shards.filter(({ isRunning }) => isRunning).length - 1;
      await reaches(owners);
      cluster.ownerCut.signal('SIGSTOP');
      await reaches(owners - 1);
      await letRun(OWNER_CUT_MS);
      cluster.ownerCut.signal('SIGCONT');
      await reaches(owners);
    };
    const outcome = await underLoad(bench, 'reader-cut', cut, { requestsPerSecond: CUT_REQUESTS_PER_SECOND });
    const pauses = describePauses(outcome.report.pauses({ from: 0, to: Number.POSITIVE_INFINITY }));
    bench.say(`  ${pauses.text}`);
    assertNoFailures(outcome);
    await judgeLeases(outcome);
    outcome.judge(() => assert.ok(pauses.worst <= HANDED_OVER_MS_MAX, pauses.text));
  },
};

/** With a keyspace of its own. */
const startManySlots = (cassandra: SharedCassandra): Promise<Cluster> =>
  Cluster.start({
    cassandra,
    shards: 3,
    fronts: 1,
    slots: MANY_SLOTS,
    keyspace: `many_slots_${Date.now().toString(36)}`,
  });

/** Kills all and starts all. Resolves with how long it took until every slot was served. */
async function killAndStartAll(cluster: Cluster): Promise<number> {
  const running = cluster.shards.filter(({ isRunning }) => isRunning);
  await Promise.all(running.map((shard) => shard.kill()));
  const startMs = performance.now();
  for (const shard of running) shard.start();
  await cluster.waitUntilServed();
  return performance.now() - startMs;
}

const restartAll: Trial = {
  name: `all shards restarted at once, ${MANY_SLOTS} slots to claim`,
  async run(bench) {
    const { cassandra, say } = bench;
    const cluster = await startManySlots(cassandra);
    try {
      await cluster.waitUntilServed();
      const before = await cluster.operator.slots();
      let servingMs = 0;
      const { report, judge } = await underLoad({ ...bench, cluster }, 'restart-all', async () => {
        servingMs = await killAndStartAll(cluster);
      });
      const epochs = new Map(before.map(({ slot, epoch }) => [slot, epoch ?? 0]));
      const claims = (await cluster.operator.slots()).map(({ slot, epoch }) => (epoch ?? 0) - (epochs.get(slot) ?? 0));
      const claimed = claims.reduce((sum, each) => sum + each, 0);
      const counts = await Promise.all(
        cluster.shards.map((shard) => shard.readMetric('grantd_slot_moves_total', { kind: 'failed' })),
      );
      const failed = counts.reduce((sum, each) => sum + each, 0);
      say(
        `  ${MANY_SLOTS} slots serving again after ${servingMs.toFixed(0)} ms: ${claimed} claims that stood, ${failed} failed`,
      );
      for (const { failure } of report.failures) assert.match(failure ?? '', /^503 /);
      const text = `${claimed} claims and ${failed} failures`;
      assert.ok(claimed + failed <= 2 * MANY_SLOTS, text);
      judge(() => {
        assert.ok(servingMs <= RESTART_ALL_MS_MAX, `only after ${servingMs} ms`);
        // Where claims are slow, the next in rank come to help, and what they took moves once more.
        assert.ok(claimed + failed <= MANY_SLOTS * (1 + CLAIMS_AGAIN_MAX), text);
      });
    } finally {
      await cluster.end({ keepLogs: false });
    }
  },
};

const drainMany: Trial = {
  name: `SIGTERM of a shard with a third of ${MANY_SLOTS} slots`,
  async run(bench) {
    const { cassandra, say } = bench;
    const cluster = await startManySlots(cassandra);
    try {
      await cluster.waitUntilServed();
      const victim = cluster.shard(1);
      // A slot that its shard did not claim in time at the start is handed over to it later.
      const names = cluster.shards.map(({ name }) => name);
      let before: readonly SlotRecord[] = [];
      await waitFor('every slot to be where it belongs', async () => {
        before = await cluster.operator.slots();
        return before.every(({ slot, shard, state }) => state === 'serving' && shard === rankShards(names, slot)[0]);
      });
      const owned = before.filter(({ shard }) => shard === victim.name);
      let after: readonly SlotRecord[] = [];
      let drainMs = 0;
      const outcome = await underLoad({ ...bench, cluster }, 'drain-many', async (load) => {
        const from = load.now();
        await victim.stop();
        drainMs = load.now() - from - GOES_ON_MS;
        await cluster.waitUntilServed();
        after = await cluster.operator.slots();
      });
      say(`  ${owned.length} slots handed over in ${drainMs.toFixed(0)} ms`);
      assertNoFailures(outcome);
      outcome.judge(() => assert.ok(drainMs <= DRAIN_MS_MAX, `only after ${drainMs} ms`));
      const claims = after.map(({ epoch }, index) => (epoch ?? 0) - (before[index]?.epoch ?? 0));
      const claimed = claims.reduce((sum, each) => sum + each, 0);
      assert.equal(claimed, owned.length, 'each slot was claimed once, and no other one');
    } finally {
      await cluster.end({ keepLogs: false });
    }
  },
};

export const SHARD_FAULTS: readonly Trial[] = [killShard, readerCutOff];
/** More than a minute, or what others or the simulation cover in part: not in every run. */
export const SLOW_SHARD_FAULTS: readonly Trial[] = [
  rollingRestart,
  watchedShard,
  crashShard,
  pauseShard,
  cutOffFromStore,
  stopShard,
  scale,
];
/** Each starts a cluster of its own beside the other, with many slots. */
export const MANY_SLOTS_FAULTS: readonly Trial[] = [restartAll, drainMany];
