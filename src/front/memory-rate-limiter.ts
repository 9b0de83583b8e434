// Rate limits kept in the memory of this process: fixed windows per tenant and bucket, by rate-limiter-flexible. It
// keeps: a window is counted under the limit it was begun with, so that a new plan holds from the next request on; a
// tenant takes memory only while one of its windows runs.

import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { KEYS_BUCKET, type Plan } from '../core/plans.ts';
import type { RateDecision, RateLimiter } from './rate-limiter.ts';

interface WindowLimiter {
  readonly limiter: RateLimiterMemory;
  readonly onAllowed: (state: RateLimiterRes) => RateDecision;
  readonly onRefused: (state: unknown) => RateDecision;
}

function createWindowLimiter(requests: number, windowSeconds: number): WindowLimiter {
  const resetSeconds = (state: RateLimiterRes): number =>
    // A wall clock set back makes a window look longer than it can be.
    Math.min(windowSeconds, Math.max(1, Math.ceil(state.msBeforeNext / 1000)));
  return {
    limiter: new RateLimiterMemory({ points: requests, duration: windowSeconds, keyPrefix: '' }),
    onAllowed: (state) => ({
      allowed: true,
      limit: requests,
      remaining: state.remainingPoints,
      resetSeconds: resetSeconds(state),
    }),
    onRefused: (state) => {
      // The library rejects with the state of the window; anything else is a defect and must not pass as a refusal.
      if (!(state instanceof RateLimiterRes)) throw state;
      return { allowed: false, limit: requests, remaining: 0, resetSeconds: resetSeconds(state) };
    },
  };
}

export function createMemoryRateLimiter(): RateLimiter {
  /** By length of the window, then by requests: as many as there are different limits in the plans. */
  const limiters = new Map<number, Map<number, WindowLimiter>>();

  function limiterOf(requests: number, windowSeconds: number): WindowLimiter {
    let byRequests = limiters.get(windowSeconds);
    if (byRequests === undefined) {
      byRequests = new Map();
      limiters.set(windowSeconds, byRequests);
    }
    let found = byRequests.get(requests);
    if (found === undefined) {
      found = createWindowLimiter(requests, windowSeconds);
      byRequests.set(requests, found);
    }
    return found;
  }

  return {
    consume(tenantId: string, plan: Plan, bucket: 'plan' | 'keys') {
      const requests = bucket === 'keys' ? KEYS_BUCKET.requests : plan.requests;
      if (requests === undefined) return undefined;
      const windowSeconds = bucket === 'keys' ? KEYS_BUCKET.windowSeconds : plan.windowSeconds;
      const { limiter, onAllowed, onRefused } = limiterOf(requests, windowSeconds);
      // The first character tells the bucket, the rest is the tenant: no two pairs share a key.
      return limiter.consume(bucket === 'keys' ? `k${tenantId}` : `p${tenantId}`).then(onAllowed, onRefused);
    },
  };
}
