// Rate limits kept in the memory of this process: fixed windows per tenant and bucket, counted by rate-limiter-flexible.
// Requests of larger plans are taken out of the window a block ahead, so that most are decided at once, without a promise.
// It keeps: never more than the limit is let through in a window; a window is counted under the limit it was begun with,
// so that a new plan holds from the next request on; a tenant takes memory only while one of its windows runs.

import { RateLimiterMemory } from 'rate-limiter-flexible';
import { KEYS_BUCKET, type Plan } from '../../core/plans.ts';
import type { RateDecision, RateLimiter } from './rate-limiter.ts';

type Bucket = 'plan' | 'keys';

/** A block is this part of the limit. */
const BLOCKS_PER_WINDOW = 100;
const BLOCK_MAX = 1000;

/** Requests taken out of a tenant's window and not yet used. They end with the window. */
interface Lease {
  readonly limiter: WindowLimiter;
  /** By the clock that the library counts windows by. */
  readonly endsAtMs: number;
  left: number;
  /** What the window held besides when it was last asked. */
  beyond: number;
}

interface WindowLimiter {
  readonly requests: number;
  readonly windowSeconds: number;
  readonly block: number;
  readonly windows: RateLimiterMemory;
}

function createWindowLimiter(requests: number, windowSeconds: number): WindowLimiter {
  const block = Math.min(BLOCK_MAX, Math.max(1, Math.floor(requests / BLOCKS_PER_WINDOW)));
  const windows = new RateLimiterMemory({ points: requests, duration: windowSeconds, keyPrefix: '' });
  return { requests, windowSeconds, block, windows };
}

function decisionOf(
  { requests, windowSeconds }: WindowLimiter,
  allowed: boolean,
  remaining: number,
  msBeforeNext: number,
): RateDecision {
  // A wall clock set back makes a window look longer than it can be.
  const resetSeconds = Math.min(windowSeconds, Math.max(1, Math.ceil(msBeforeNext / 1000)));
  return { allowed, limit: requests, remaining, resetSeconds };
}

export function createMemoryRateLimiter(): RateLimiter {
  /** By length of the window, then by requests: as many as there are different limits in the plans. */
  const limiters = new Map<number, Map<number, WindowLimiter>>();
  /** By tenant. */
  const leases = { plan: new Map<string, Lease>(), keys: new Map<string, Lease>() };

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

  /** The lease of a window that still runs. */
  function leaseOf(bucket: Bucket, tenantId: string, limiter: WindowLimiter, nowMs: number): Lease | undefined {
    const lease = leases[bucket].get(tenantId);
    return lease !== undefined && lease.limiter === limiter && nowMs < lease.endsAtMs ? lease : undefined;
  }

  function use(lease: Lease, nowMs: number): RateDecision {
    lease.left -= 1;
    return decisionOf(lease.limiter, true, lease.left + lease.beyond, lease.endsAtMs - nowMs);
  }

  async function takeBlock(bucket: Bucket, tenantId: string, limiter: WindowLimiter): Promise<RateDecision> {
    const { requests, block, windows } = limiter;
    // A penalty counts as `consume` does, but never rejects: a refusal costs no more than a request let through.
    const { consumedPoints, msBeforeNext } = await windows.penalty(`${bucket} ${tenantId}`, block);
    const nowMs = Date.now();
    const granted = Math.min(block, Math.max(0, requests - (consumedPoints - block)));
    let lease = leaseOf(bucket, tenantId, limiter, nowMs);
    if (lease === undefined) {
      const begun: Lease = { limiter, endsAtMs: nowMs + msBeforeNext, left: 0, beyond: 0 };
      lease = begun;
      const ofBucket = leases[bucket];
      ofBucket.set(tenantId, begun);
      setTimeout(() => ofBucket.get(tenantId) === begun && ofBucket.delete(tenantId), msBeforeNext).unref();
    }
    lease.left += granted;
    lease.beyond = Math.max(0, requests - consumedPoints);
    return lease.left > 0 ? use(lease, nowMs) : decisionOf(limiter, false, 0, msBeforeNext);
  }

  return {
    consume(tenantId: string, plan: Plan, bucket: Bucket) {
      const requests = bucket === 'keys' ? KEYS_BUCKET.requests : plan.requests;
      if (requests === undefined) return undefined;
      const windowSeconds = bucket === 'keys' ? KEYS_BUCKET.windowSeconds : plan.windowSeconds;
      const limiter = limiterOf(requests, windowSeconds);
      const nowMs = Date.now();
      const lease = leaseOf(bucket, tenantId, limiter, nowMs);
      return lease !== undefined && lease.left > 0 ? use(lease, nowMs) : takeBlock(bucket, tenantId, limiter);
    },
  };
}
