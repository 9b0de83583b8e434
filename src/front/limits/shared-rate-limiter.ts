// Rate limits that fronts share: a window per tenant, and one per key that revokes keys, counted elsewhere and leased
// ahead. Invariants: a tenant takes memory only while one of its windows runs; a different limit begins a different
// window; the reserves of keys are bounded, and above the bound the oldest is dropped.

import type { Clock } from '../../core/async/clock.ts';
import { type Plan, REVOCATION_RESERVE } from '../../core/plans.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { LeasedWindow, type LeasedWindowDependencies } from './leased-window.ts';
import { type RateDecision, type RateLimiter, RESERVES_MAX_DEFAULT } from './rate-limiter.ts';
import type { SharedCounts, WindowLimit } from './shared-counts.ts';

export function createSharedRateLimiter(
  dependencies: { readonly counts: SharedCounts; readonly clock: Clock; readonly metrics: Metrics },
  options: { readonly reservesMax?: number } = {},
): RateLimiter {
  const { counts, clock, metrics } = dependencies;
  const { reservesMax = RESERVES_MAX_DEFAULT } = options;
  const decided = {
    memory: metrics.rateLimitDecisions.labels('memory'),
    redis: metrics.rateLimitDecisions.labels('redis'),
    share: metrics.rateLimitDecisions.labels('share'),
  };
  const forWindows: LeasedWindowDependencies = { counts, clock, onDecided: (source) => decided[source].inc() };
  const plans = new Map<string, LeasedWindow>();
  const reserves = new Map<string, LeasedWindow>();

  /** Drops a window once no request has come since its end. */
  function dropIdle(windows: Map<string, LeasedWindow>, id: string, window: LeasedWindow): void {
    if (windows.get(id) !== window) return;
    const idleAfterMs = window.idleAfterMs();
    if (idleAfterMs > 0) clock.setTimer(() => dropIdle(windows, id, window), idleAfterMs);
    else windows.delete(id);
  }

  function begin(
    windows: Map<string, LeasedWindow>,
    id: string,
    { key, requests, windowSeconds }: WindowLimit & { readonly key: string },
  ): LeasedWindow {
    const begun = new LeasedWindow(forWindows, key, { requests, windowSeconds });
    windows.set(id, begun);
    clock.setTimer(() => dropIdle(windows, id, begun), windowSeconds * 1000);
    return begun;
  }

  return {
    consume(tenantId: string, { requests, windowSeconds }: Plan) {
      if (requests === undefined) return undefined;
      let window = plans.get(tenantId);
      if (window === undefined || window.limit.requests !== requests || window.limit.windowSeconds !== windowSeconds) {
        // The first character says what is counted, the rest for whom: no two windows share a key.
        window = begin(plans, tenantId, { key: `p${tenantId}`, requests, windowSeconds });
      }
      return window.consume();
    },
    consumeRevocation(keyId: string): RateDecision | Promise<RateDecision> {
      let window = reserves.get(keyId);
      if (window === undefined) {
        window = begin(reserves, keyId, { key: `k${keyId}`, ...REVOCATION_RESERVE });
        for (const oldest of reserves.keys()) {
          if (reserves.size <= reservesMax) break;
          reserves.delete(oldest);
        }
      }
      return window.consume();
    },
  };
}
