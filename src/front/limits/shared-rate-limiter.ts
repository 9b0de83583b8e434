// Rate limits that fronts share: a window for each tenant and bucket, counted elsewhere and leased ahead. It keeps: a tenant
// takes memory only while one of its windows runs; another limit begins another window.

import type { Clock } from '../../core/clock.ts';
import { KEYS_BUCKET, type Plan } from '../../core/plans.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { LeasedWindow, type LeasedWindowDependencies } from './leased-window.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { SharedCounts } from './shared-counts.ts';

export function createSharedRateLimiter(dependencies: {
  readonly counts: SharedCounts;
  readonly clock: Clock;
  readonly metrics: Metrics;
}): RateLimiter {
  const { counts, clock, metrics } = dependencies;
  const decided = {
    memory: metrics.rateLimitDecisions.labels('memory'),
    redis: metrics.rateLimitDecisions.labels('redis'),
    share: metrics.rateLimitDecisions.labels('share'),
  };
  const forWindows: LeasedWindowDependencies = { counts, clock, onDecided: (source) => decided[source].inc() };
  const windows = new Map<string, LeasedWindow>();

  /** Lets a window go once nobody has asked for it after its end. */
  function letGo(key: string, window: LeasedWindow): void {
    if (windows.get(key) !== window) return;
    const idleAfterMs = window.idleAfterMs();
    if (idleAfterMs > 0) clock.setTimer(() => letGo(key, window), idleAfterMs);
    else windows.delete(key);
  }

  return {
    consume(tenantId: string, plan: Plan, bucket: 'plan' | 'keys') {
      const requests = bucket === 'keys' ? KEYS_BUCKET.requests : plan.requests;
      if (requests === undefined) return undefined;
      const windowSeconds = bucket === 'keys' ? KEYS_BUCKET.windowSeconds : plan.windowSeconds;
      // The first character tells the bucket, the rest is the tenant: no two pairs share a key.
      const key = bucket === 'keys' ? `k${tenantId}` : `p${tenantId}`;
      let window = windows.get(key);
      if (window === undefined || window.limit.requests !== requests || window.limit.windowSeconds !== windowSeconds) {
        const begun = new LeasedWindow(forWindows, key, { requests, windowSeconds });
        window = begun;
        windows.set(key, begun);
        clock.setTimer(() => letGo(key, begun), windowSeconds * 1000);
      }
      return window.consume();
    },
  };
}
