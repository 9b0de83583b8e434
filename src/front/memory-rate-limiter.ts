// Rate limits kept in the memory of this process: fixed windows per tenant and bucket, by rate-limiter-flexible. It
// keeps: a window is counted under the limit it was begun with, so that a new plan holds from the next request on; a
// tenant takes memory only while one of its windows runs.

import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { KEYS_BUCKET, type Plan } from '../core/plans.ts';
import type { RateDecision, RateLimiter } from './rate-limiter.ts';

interface WindowLimiter {
  readonly limiter: RateLimiterMemory;
  readonly decide: (state: RateLimiterRes) => RateDecision;
}

function createWindowLimiter(requests: number, windowSeconds: number): WindowLimiter {
  return {
    limiter: new RateLimiterMemory({ points: requests, duration: windowSeconds, keyPrefix: '' }),
    decide: ({ consumedPoints, remainingPoints, msBeforeNext }) => ({
      allowed: consumedPoints <= requests,
      limit: requests,
      remaining: remainingPoints,
      // A wall clock set back makes a window look longer than it can be.
      resetSeconds: Math.min(windowSeconds, Math.max(1, Math.ceil(msBeforeNext / 1000))),
    }),
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
      const { limiter, decide } = limiterOf(requests, windowSeconds);
      // The first character tells the bucket, the rest is the tenant: no two pairs share a key. A penalty counts as
      // `consume` does, but never rejects: a refusal costs no more than a request let through.
      return limiter.penalty(bucket === 'keys' ? `k${tenantId}` : `p${tenantId}`).then(decide);
    },
  };
}
