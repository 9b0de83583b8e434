// Fronts as far as their rate limits go: limiters of this process, each with a connection to Redis and metrics of its
// own.

import { readConfig } from '../../../src/config/read-config.ts';
import type { RateLimiter } from '../../../src/front/limits/rate-limiter.ts';
import { openRateLimits } from '../../../src/roles/open/rate-limits.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import type { Log } from '../../../src/telemetry/log.ts';
import { createMetrics, type Metrics } from '../../../src/telemetry/metrics.ts';
import { waitFor } from '../../kit/wait-for.ts';

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
): Promise<LimiterFront> {
  const lines: string[] = [];
  const metrics = createMetrics();
  const parts = new AsyncDisposableStack();
  const config = readConfig('dev', settings);
  const dependencies = { clock: systemClock, random: systemRandom, log: createLogOf(lines), metrics };
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
): Promise<readonly LimiterFront[]> {
  const fronts = await Promise.all(Array.from({ length: count }, () => openLimiterFront(settings, onEnd)));
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
    10_000,
    () => fronts.map(({ lines }) => lines.join('\n')).join('\n--\n'),
  );
}
