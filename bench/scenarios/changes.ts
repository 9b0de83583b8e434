// The change feed: how soon a change reaches a thousand followers of a tenant, what each delivery costs, what an idle
// stream takes, and what all of it does to checks.

import type { Figure } from '../figure.ts';
import { FollowClient } from '../load/follow-client.ts';
import type { LoadResult } from '../load/load-job.ts';
import type { BenchContext, Scenario } from '../scenario.ts';
import { delay, GrantdProcess, PLAN_NAME } from '../server/grantd-process.ts';
import { createTenant } from '../server/operator.ts';
import { readCpuSeconds, readSettledResidentBytes } from '../server/resource-use.ts';
import { median } from '../statistics.ts';
import { type LoadedService, startLoadedService, steadyChecks } from './loaded-service.ts';

const FOLLOWERS = 1000;
const IDLE_STREAMS = 5000;
/** Opened and closed before the idle ones, so that only these count: what the first streams bring stays. */
const WARM_STREAMS = 200;
const DELIVERY_MS_MAX = 50;
const CPU_MICROSECONDS_MAX = 5;
/** As a response of a bare `node:http` server that is left open. */
const IDLE_BYTES_MAX = 16 * 1024;
const CHECKS_CPU_RATIO_MAX = 1.1;
const CHANGES_PER_SECOND = 500;
/** Longer than the feed gathers changes, so that each is delivered by itself. */
const PAUSE_MS = 60;
const CHANGES_DELIVERED = 50;
const SETTLE_MS = 3000;
const POLL_MS = 20;
/** Any plan has fewer. */
const PLANS = JSON.stringify({ [PLAN_NAME]: { requests: 10_000_000, window_seconds: 1, streams_max: IDLE_STREAMS } });

class Measurement {
  readonly #context: BenchContext;
  readonly #loaded: Pick<LoadedService, 'service' | 'access' | 'url'>;
  readonly #followers = new FollowClient();
  /** Of the next grant to be created. */
  #next = 0;

  constructor(context: BenchContext, loaded: Pick<LoadedService, 'service' | 'access' | 'url'>) {
    this.#context = context;
    this.#loaded = loaded;
  }

  get #target() {
    return { url: this.#loaded.url, key: this.#loaded.access.key };
  }

  get #cpuSeconds(): number {
    return readCpuSeconds(this.#loaded.service.pid);
  }

  #take(changes: number): number {
    this.#next += changes;
    return this.#next - changes;
  }

  async #delivered(): Promise<number> {
    return (await this.#loaded.service.readMetrics())('grantd_changes_delivered_total');
  }

  /** Changes at the fixed rate, until all followers have them; processor time of the service meanwhile, in seconds. */
  async #write(durationMs: number, followers: number): Promise<{ readonly cpu: number; readonly changes: number }> {
    const changes = Math.round((CHANGES_PER_SECOND * durationMs) / 1000);
    const goal = (await this.#delivered()) + changes * followers;
    const before = this.#cpuSeconds;
    const perSecond = CHANGES_PER_SECOND;
    await this.#followers.run({ kind: 'write', ...this.#target, first: this.#take(changes), changes, perSecond });
    while ((await this.#delivered()) < goal) await delay(POLL_MS);
    await this.#loaded.service.waitForCheckpoint();
    return { cpu: this.#cpuSeconds - before, changes };
  }

  async idle(): Promise<readonly Figure[]> {
    const { service } = this.#loaded;
    // Not measured: what comes with the first changes stays.
    await this.#write(this.#context.durationMs, 0);
    await this.#followers.run({ kind: 'open', ...this.#target, streams: WARM_STREAMS });
    await this.#followers.run({ kind: 'close' });
    await delay(SETTLE_MS);
    const before = await readSettledResidentBytes(service.pid);
    this.#context.progress(`opening ${IDLE_STREAMS} streams`);
    await this.#followers.run({ kind: 'open', ...this.#target, streams: IDLE_STREAMS });
    await delay(SETTLE_MS);
    const after = await readSettledResidentBytes(service.pid);
    await this.#followers.run({ kind: 'close' });
    return [
      {
        name: `resident memory per idle stream, of ${IDLE_STREAMS}`,
        value: (after - before) / IDLE_STREAMS,
        unit: 'bytes',
        target: { kind: 'at most', value: IDLE_BYTES_MAX },
      },
    ];
  }

  async delivery(): Promise<readonly Figure[]> {
    const p99: number[] = [];
    const p50: number[] = [];
    const cpu: number[] = [];
    for (let round = 0; round < this.#context.rounds; round += 1) {
      this.#context.progress(`single changes to ${FOLLOWERS} followers`);
      const first = this.#take(CHANGES_DELIVERED);
      const before = this.#cpuSeconds;
      const { deliveryMs } = await this.#followers.run({
        kind: 'deliver',
        ...this.#target,
        first,
        changes: CHANGES_DELIVERED,
        pauseMs: PAUSE_MS,
      });
      p99.push(deliveryMs.p99);
      p50.push(deliveryMs.p50);
      cpu.push(((this.#cpuSeconds - before) * 1e6) / (CHANGES_DELIVERED * FOLLOWERS));
    }
    return [
      {
        name: `p99 of delivery to ${FOLLOWERS} followers, after the acknowledgement`,
        value: median(p99),
        unit: 'ms',
        target: { kind: 'at most', value: DELIVERY_MS_MAX },
        rounds: p99,
      },
      { name: 'p50', value: median(p50), unit: 'ms', rounds: p50 },
      { name: 'CPU per follower and change, one change at a time', value: median(cpu), unit: 'µs', rounds: cpu },
    ];
  }

  async open(): Promise<void> {
    await this.#followers.run({ kind: 'open', ...this.#target, streams: FOLLOWERS });
  }

  /** Without followers first; then, with them, alone and beside checks. */
  async costs(checks: (durationMs: number) => Promise<LoadResult>): Promise<readonly Figure[]> {
    const { rounds, durationMs, progress } = this.#context;
    const cpuOf = async (work: () => Promise<unknown>): Promise<number> => {
      const before = this.#cpuSeconds;
      await work();
      return this.#cpuSeconds - before;
    };
    await checks(durationMs);
    await this.#write(durationMs, 0);
    const alone: number[] = [];
    const checksAlone: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      progress('changes without followers, and checks');
      alone.push((await this.#write(durationMs, 0)).cpu);
      checksAlone.push(await cpuOf(() => checks(durationMs)));
    }
    await this.open();
    const delivery = await this.delivery();
    const perDelivery: number[] = [];
    const ratios: number[] = [];
    const calmP99: number[] = [];
    const besideP99: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      progress(`${CHANGES_PER_SECOND} changes a second to ${FOLLOWERS} followers`);
      const { cpu, changes } = await this.#write(durationMs, FOLLOWERS);
      perDelivery.push(((cpu - median(alone)) * 1e6) / (changes * FOLLOWERS));
      calmP99.push((await checks(durationMs)).latencyMs.p99);
      const before = this.#cpuSeconds;
      const [{ latencyMs }] = await Promise.all([checks(durationMs), this.#write(durationMs, FOLLOWERS)]);
      besideP99.push(latencyMs.p99);
      ratios.push((this.#cpuSeconds - before) / (cpu + median(checksAlone)));
    }
    return [
      ...delivery,
      {
        name: `CPU per follower and change, at ${CHANGES_PER_SECOND} changes a second`,
        value: median(perDelivery),
        unit: 'µs',
        target: { kind: 'at most', value: CPU_MICROSECONDS_MAX },
        rounds: perDelivery,
      },
      {
        name: 'CPU of checks beside them: both at once ÷ the sum of each alone',
        value: median(ratios),
        unit: '×',
        target: { kind: 'at most', value: CHECKS_CPU_RATIO_MAX },
        rounds: ratios,
      },
      { name: 'p99 of checks, streams idle', value: median(calmP99), unit: 'ms', rounds: calmP99 },
      { name: 'p99 of checks, beside them', value: median(besideP99), unit: 'ms', rounds: besideP99 },
    ];
  }

  close(): void {
    this.#followers.close();
  }
}

/** Of a service that has done nothing else: memory that it has and does not use would hide what streams take. */
async function measureIdle(context: BenchContext): Promise<readonly Figure[]> {
  const service = await GrantdProcess.start({
    directory: context.createDirectory(),
    searchPath: context.searchPath,
    settings: { GRANTD_PLANS: PLANS },
  });
  let measurement: Measurement | undefined;
  try {
    const { addresses } = service;
    const access = await createTenant(addresses);
    measurement = new Measurement(context, { service, access, url: addresses.base_url });
    return await measurement.idle();
  } finally {
    measurement?.close();
    await service.stop();
  }
}

async function measureCosts(context: BenchContext): Promise<readonly Figure[]> {
  const loaded = await startLoadedService(context, { settings: { GRANTD_PLANS: PLANS } });
  const measurement = new Measurement(context, loaded);
  try {
    return await measurement.costs(steadyChecks(context, loaded));
  } finally {
    measurement.close();
    await loaded.service.stop();
  }
}

export const changesScenario: Scenario = {
  name: 'changes',
  summary: `the change feed: p99 to ${FOLLOWERS} followers ≤ ${DELIVERY_MS_MAX} ms, CPU per delivery ≤ ${CPU_MICROSECONDS_MAX} µs, ≤ ${IDLE_BYTES_MAX / 1024} KiB per idle stream`,
  run: async (context) => [...(await measureIdle(context)), ...(await measureCosts(context))],
};
