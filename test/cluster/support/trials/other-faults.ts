// What happens around shards: a front cut off from one of them, nodes of Cassandra killed and paused, one or all, and
// wall clocks that jump.

import assert from 'node:assert/strict';
import { letRun, waitFor } from '../../../kit/wait-for.ts';
import { FakeTime, findFakeTimeLibrary } from '../fake-time.ts';
import type { ServiceProcess } from '../service-process.ts';
import {
  assertNoFailures,
  type Bench,
  describePauses,
  describeRequest,
  type Outcome,
  type OwnNodes,
  type Trial,
  tenantsOf,
  underLoad,
  watchLeases,
} from './trial.ts';

const CUT_MS = 6000;
const CUT_RECOVERY_MS_MAX = 3000;
const OUTAGE_MS = 20_000;
const OUTAGE_RECOVERY_MS_MAX = 5000;
const NODE_PAUSE_MS = 20_000;
const NODE_DOWN_MS = 6000;
/** Of a request, while a node of Cassandra is away. */
const NODE_PAUSE_MS_MAX = 5000;
const JUMP_SECONDS = 3600;
/** The date of an answer has whole seconds, and is made once a second. */
const WALL_CLOCK_MS = 10_000;
/** What a process may grow by while it can do nothing: queues and caches have bounds. */
const GROWTH_BYTES_MAX = 200 * 1024 ** 2;
/** Every client has one request in flight, and the console asks now and then. */
const QUEUE_LENGTH_MAX = 64;

/** Those that began so long after the moment have to be answered well. */
function assertRecovered({ report, judge }: Outcome, at: number, recoveryMs: number): void {
  const late = report.failures.filter(({ atMs }) => atMs >= at + recoveryMs);
  const text = `failed after the recovery:\n${late.slice(0, 10).map(describeRequest).join('\n')}`;
  judge(() => assert.equal(late.length, 0, text));
}

const frontCutOff: Trial = {
  name: 'a front cut off from one shard',
  async run(bench) {
    const { cluster } = bench;
    const front = cluster.front(cluster.fronts.length - 1);
    const cut = cluster.shard(0).name;
    let owned = new Set<number>();
    let [cutAt, healedAt] = [0, 0];
    let queued = 0;
    const outcome = await underLoad(bench, 'front-cut', async (load) => {
      owned = tenantsOf(load, await cluster.operator.slots(), cut);
      cluster.shardCut.signal('SIGSTOP');
      cutAt = load.now();
      const end = load.now() + CUT_MS;
      while (load.now() < end) {
        await letRun(500);
        queued = Math.max(queued, await front.readMetric('grantd_front_queue_length'));
      }
      cluster.shardCut.signal('SIGCONT');
      healedAt = load.now();
      await letRun(CUT_RECOVERY_MS_MAX);
    });
    bench.say(
      `  ${outcome.report.failures.length} of ${outcome.report.requests.length} requests failed, at most ${queued} waited in the front`,
    );
    const slowest = Math.max(...outcome.report.within({ from: cutAt, to: healedAt }).map(({ latencyMs }) => latencyMs));
    assert.ok(slowest > CUT_MS / 2, 'the cut was felt');
    for (const request of outcome.report.failures) {
      assert.match(request.failure ?? '', /^503 /, describeRequest(request));
      assert.ok(owned.has(request.tenant), `The shard only reads for it: ${describeRequest(request)}`);
    }
    assert.ok(queued <= QUEUE_LENGTH_MAX, `${queued} requests piled up`);
    assertRecovered(outcome, healedAt, CUT_RECOVERY_MS_MAX);
  },
};

/** A node that is away: nobody is refused, nobody waits longer than the others take to notice, and no lease ends. */
const nodeFault = (
  name: string,
  title: string,
  disturb: (bench: Bench<OwnNodes>) => Promise<void>,
): Trial<OwnNodes> => ({
  name: title,
  async run(bench) {
    const judgeLeases = await watchLeases(bench);
    const outcome = await underLoad(bench, name, () => disturb(bench));
    const { worst, text } = describePauses(outcome.report.pauses({ from: 0, to: Number.POSITIVE_INFINITY }));
    bench.say(`  ${text}`);
    assertNoFailures(outcome);
    await judgeLeases(outcome);
    outcome.judge(() => assert.ok(worst < NODE_PAUSE_MS_MAX, text));
  },
});

const killNode = nodeFault('kill-node', 'one Cassandra node killed and restarted', async ({ cassandra }) => {
  await cassandra.kill(2);
  await letRun(NODE_DOWN_MS);
  await cassandra.restart(2);
});

const pauseNode = nodeFault('pause-node', 'one Cassandra node paused for 20 s', async ({ cassandra }) => {
  await cassandra.pause(2);
  await letRun(NODE_PAUSE_MS);
  await cassandra.resume(2);
});

const memoryOf = (services: readonly ServiceProcess[]): number[] => services.map((service) => service.memoryBytes());

const storeOutage: Trial<OwnNodes> = {
  name: 'all Cassandra nodes down for 20 s',
  async run(bench) {
    const { cluster, cassandra } = bench;
    const services = [...cluster.shards, ...cluster.fronts].filter(({ isRunning }) => isRunning);
    const ownersOf = async () =>
      (await cluster.operator.slots()).map(({ slot, shard, epoch }) => ({ slot, shard, epoch }));
    const ownersBefore = await ownersOf();
    let backAt = 0;
    let grown = 0;
    const outcome = await underLoad(bench, 'store-outage', async (load) => {
      const before = memoryOf(services);
      await cassandra.kill(1, 2, 3);
      await letRun(OUTAGE_MS);
      grown = Math.max(...memoryOf(services).map((bytes, index) => bytes - (before[index] ?? 0)));
      await cassandra.restart(1, 2, 3);
      backAt = load.now();
      await letRun(OUTAGE_RECOVERY_MS_MAX);
    });
    const late = outcome.report.requests.filter(
      ({ atMs, latencyMs, failure }) => failure === undefined && atMs + latencyMs > backAt,
    );
    const firstAnswer = Math.min(...late.map(({ atMs, latencyMs }) => atMs + latencyMs)) - backAt;
    bench.say(
      `  first answer ${firstAnswer.toFixed(0)} ms after Cassandra was back; a process grew by ${(grown / 1024 ** 2).toFixed(0)} MiB at most`,
    );
    assert.ok(outcome.report.failures.length > 0, 'without Cassandra there are no answers');
    for (const request of outcome.report.failures) {
      assert.match(request.failure ?? '', /^503 /, describeRequest(request));
      assert.match(request.retryAfter ?? '', /^[1-9]\d*$/, describeRequest(request));
    }
    assert.ok(grown < GROWTH_BYTES_MAX, `a process grew by ${grown} bytes`);
    assertRecovered(outcome, backAt, OUTAGE_RECOVERY_MS_MAX);
    assert.deepEqual(await ownersOf(), ownersBefore, 'no slot changed its owner');
  },
};

async function restartWith(
  { cluster }: Bench,
  services: readonly ServiceProcess[],
  environment: Record<string, string>,
): Promise<void> {
  await Promise.all(services.map((service) => service.stop()));
  for (const service of services) service.start(environment);
  await cluster.waitUntilReady();
  await cluster.waitUntilServed();
}

/** By the date that the process puts on its answers. */
async function waitUntilWallClockIs({ name, options }: ServiceProcess, offsetSeconds: number): Promise<void> {
  await waitFor(`the wall clock of ${name} to be ${offsetSeconds} s ahead`, async () => {
    const response = await fetch(`${options.opsUrl}/livez`);
    await response.body?.cancel();
    const aheadMs = Date.parse(response.headers.get('date') ?? '') - Date.now();
    return Math.abs(aheadMs - offsetSeconds * 1000) < WALL_CLOCK_MS;
  });
}

const wallClockJump: Trial = {
  name: 'the wall clock of a shard and a front jumps by an hour, and back by two',
  async run(bench) {
    const { cluster } = bench;
    const library = findFakeTimeLibrary();
    if (library === undefined) return;
    const time = new FakeTime(library, cluster.directory);
    const services = [cluster.shard(1), cluster.front(0)];
    await restartWith(bench, services, time.environment);
    let window = { from: 0, to: 0 };
    try {
      const outcome = await underLoad(bench, 'clock-jump', async (load) => {
        const from = load.now();
        for (const offset of [JUMP_SECONDS, -JUMP_SECONDS, 0]) {
          time.set(offset);
          for (const service of services) await waitUntilWallClockIs(service, offset);
          await letRun(bench.afterMs);
        }
        window = { from, to: load.now() };
      });
      const { text } = describePauses(outcome.report.pauses(window));
      bench.say(`  ${text}`);
      assertNoFailures(outcome);
    } finally {
      await restartWith(bench, services, {});
    }
  },
};

/** Tests of the store's adapter, a shard that is cut off and the simulation cover them in part: not in every run. */
export const OTHER_FAULTS: readonly Trial[] = [frontCutOff, wallClockJump];
export const NODE_FAULTS: readonly Trial<OwnNodes>[] = [killNode, pauseNode, storeOutage];
