// The cost of shared rate limits for a check: p99 with a Redis that responds after 50 ms, compared with p99 without
// one, at the same fixed rate. The two are measured in turns, so that other load on the machine affects both.

import { startSlowProxy } from '../../test/cluster/support/slow-proxy.ts';
import { RedisServer } from '../../tools/engines/redis.ts';
import type { Figure } from '../figure.ts';
import { type LoadResult, REST_MS } from '../load/load-job.ts';
import { type BenchContext, CONNECTIONS, type Scenario } from '../scenario.ts';
import { PLAN_NAME } from '../server/grantd-process.ts';
import { readMetric } from '../server/metrics-text.ts';
import { median } from '../statistics.ts';
import { type LoadedService, startLoadedService } from './loaded-service.ts';

const P99_RATIO_MAX = 1.1;
const REDIS_MS = 50;
const QUESTIONS = 10_000;
/** Well below what two cores can handle, so that the latency is that of the service and not of a queue. */
const PER_SECOND = 1000;
/** The limit of the plan `scale`: its windows start again every second. */
const PLANS = { GRANTD_PLANS: JSON.stringify({ [PLAN_NAME]: { requests: 10_000, window_seconds: 1 } }) };
/** Longer than a window. */
const LEAD_IN_MS = 1500;
/** Until the code of both is fully compiled, and the blocks have their final size. */
const WARM_UP_MS = 3000;

async function readWaited({ service }: LoadedService): Promise<number> {
  const response = await fetch(`${service.opsUrl}/metrics`);
  return readMetric(await response.text(), 'grantd_rate_limit_decisions_total{source="redis"}');
}

interface Measured extends LoadResult {
  /** Checks that waited for Redis. */
  readonly waited: number;
}

async function measure(context: BenchContext, loaded: LoadedService, durationMs: number): Promise<Measured> {
  const { url, access, data } = loaded;
  const requests = Array.from({ length: QUESTIONS }, (_, number) => data.question(number)).map(
    ({ tuple, authorized }) => ({ body: JSON.stringify(tuple), expectedStart: `{"authorized":${authorized},` }),
  );
  const job = { url, key: access.key, path: '/v1/check', expectedStatus: 200, connections: CONNECTIONS, requests };
  // Redis and the proxy in front of it, which run elsewhere in production, share the load's processor.
  const runFor = (ms: number): Promise<LoadResult> =>
    context.client.run({ ...job, mode: { kind: 'rate', durationMs: ms, perSecond: PER_SECOND, restMs: REST_MS } });
  // The first requests after a pause wait for Redis: the promise concerns those that follow.
  await runFor(LEAD_IN_MS);
  const waitedBefore = await readWaited(loaded);
  const result = await runFor(durationMs);
  return { ...result, waited: (await readWaited(loaded)) - waitedBefore };
}

export const limitsScenario: Scenario = {
  name: 'limits',
  summary: `rate limits shared through a Redis that is ${REDIS_MS} ms away, compared with none: p99 ≤ ${P99_RATIO_MAX} ×`,
  async run(context) {
    await using parts = new AsyncDisposableStack();
    const redis = await RedisServer.start();
    parts.defer(() => redis.stop());
    const proxy = await startSlowProxy(redis.address, REDIS_MS);
    parts.defer(() => proxy.close());
    const alone = await startLoadedService(context, { settings: PLANS });
    parts.defer(() => alone.service.stop());
    const settings = { ...PLANS, GRANTD_REDIS_URL: `redis://${proxy.address}` };
    const sharing = await startLoadedService(context, { settings });
    parts.defer(() => sharing.service.stop());
    await measure(context, alone, WARM_UP_MS);
    await measure(context, sharing, WARM_UP_MS);

    const measured: { readonly alone: Measured; readonly sharing: Measured }[] = [];
    for (let round = 1; round <= context.rounds; round += 1) {
      context.progress(`round ${round} of ${context.rounds}`);
      measured.push({
        alone: await measure(context, alone, context.durationMs),
        sharing: await measure(context, sharing, context.durationMs),
      });
    }
    const p99 = (side: 'alone' | 'sharing') => measured.map((round) => round[side].latencyMs.p99);
    const figure = (name: string, unit: string, rounds: readonly number[]): Figure => ({
      name: `${name}, at ${PER_SECOND}/s`,
      unit,
      value: median(rounds),
      rounds,
    });
    return [
      {
        ...figure('p99, with Redis ÷ without', '×', []),
        value: median(p99('sharing')) / median(p99('alone')),
        rounds: measured.map((round) => round.sharing.latencyMs.p99 / round.alone.latencyMs.p99),
        target: { kind: 'at most', value: P99_RATIO_MAX },
      },
      figure('p99, with Redis', 'ms', p99('sharing')),
      figure('p99, without', 'ms', p99('alone')),
      figure(
        'checks that waited for Redis',
        '',
        measured.map(({ sharing: { waited } }) => waited),
      ),
    ];
  },
};
