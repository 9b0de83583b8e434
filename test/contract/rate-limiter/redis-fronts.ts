// Fronts as far as their rate limits go: limiters of this process, each with a connection to Redis and metrics of its
// own. A front that gets no reply of Redis in time decides by its share of the limit. Tests that count what is let
// through either give Redis more time than it ever needs, or count again until every reply was in time.

import { readConfig } from '../../../src/config/read-config.ts';
import type { Clock } from '../../../src/core/async/clock.ts';
import type { RateLimiter } from '../../../src/front/limits/rate-limiter.ts';
import { openRateLimits } from '../../../src/roles/open/rate-limits.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import type { Log } from '../../../src/telemetry/log.ts';
import { createMetrics, type Metrics } from '../../../src/telemetry/metrics.ts';
import { waitFor } from '../../kit/wait-for.ts';

/** The bounds of one reply, which are all below a second, and nothing else. */
const REPLY_MS_MAX = 1000;
const PATIENCE = 100;

/** Redis has a hundred times as long to reply. */
export const patientClock: Clock = {
  ...systemClock,
  setTimer: (run, delayMs) => systemClock.setTimer(run, delayMs < REPLY_MS_MAX ? PATIENCE * delayMs : delayMs),
};

export interface LimiterFront {
  readonly limiter: RateLimiter;
  readonly metrics: Metrics;
  /** What was logged: level, fields and message as one text each. */
  readonly lines: readonly string[];
  /** The value of a metric, summed over what `labels` leaves open. */
  value(metric: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  close(): Promise<void>;
}

function createLogOf(lines: string[]): Log {
  const write =
    (level: string) =>
    (...parts: unknown[]): void => {
      lines.push([level, ...parts.map((part) => JSON.stringify(part))].join(' '));
    };
  const log: Log = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    isLevelEnabled: () => true,
    child: () => log,
  };
  return log;
}

/** `settings`: GRANTD_REDIS_URL and what goes with it. Whoever opens it closes it, at the latest by `onEnd`. */
export async function openLimiterFront(
  settings: Readonly<Record<string, string>>,
  onEnd: (close: () => Promise<void>) => void,
  clock = systemClock,
): Promise<LimiterFront> {
  const lines: string[] = [];
  const metrics = createMetrics();
  const parts = new AsyncDisposableStack();
  const config = readConfig('dev', settings);
  const dependencies = { clock, random: systemRandom, log: createLogOf(lines), metrics };
  const limiter = await openRateLimits(dependencies, config, parts);
  onEnd(() => parts.disposeAsync());
  return {
    limiter,
    metrics,
    lines,
    async value(name, labels = {}) {
      const found = (await metrics.registry.getMetricsAsJSON()).find((metric) => metric.name === name);
      const values = (found?.values ?? []).filter((each) =>
        Object.entries(labels).every(([label, value]) =>
          Object.entries(each.labels).some(([l, v]) => l === label && v === value),
        ),
      );
      return values.reduce((sum, { value }) => sum + value, 0);
    },
    close: () => parts.disposeAsync(),
  };
}

/** Fronts that know of each other. */
export async function openLimiterFronts(
  count: number,
  settings: Readonly<Record<string, string>>,
  onEnd: (close: () => Promise<void>) => void,
  clock = systemClock,
): Promise<readonly LimiterFront[]> {
  const fronts = await Promise.all(Array.from({ length: count }, () => openLimiterFront(settings, onEnd, clock)));
  await waitForFronts(fronts, count);
  return fronts;
}

export async function waitForFronts(fronts: readonly LimiterFront[], count: number): Promise<void> {
  await waitFor(
    `${count} fronts to know of each other`,
    async () => {
      const known = await Promise.all(fronts.map((front) => front.value('grantd_redis_fronts')));
      return known.every((value) => value === count);
    },
    undefined,
    () => fronts.map(({ lines }) => lines.join('\n')).join('\n--\n'),
  );
}

/** Decisions without a reply of Redis, of each front. */
export const readShares = (fronts: readonly LimiterFront[]): Promise<number[]> =>
  Promise.all(fronts.map((front) => front.value('grantd_rate_limit_decisions_total', { source: 'share' })));

/** Counts again until no reply of Redis was late, or all of them: a front without Redis. Returns the last count. */
export async function countPromptly(
  fronts: readonly LimiterFront[],
  decisionsOfEach: number,
  count: () => Promise<number>,
): Promise<number> {
  let counted = 0;
  await waitFor('every reply of Redis to be in time', async () => {
    const before = await readShares(fronts);
    counted = await count();
    const shares = (await readShares(fronts)).map((after, index) => after - (before[index] ?? 0));
    return shares.every((share) => share === 0 || share === decisionsOfEach);
  });
  return counted;
}
