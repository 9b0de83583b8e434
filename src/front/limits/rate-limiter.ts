// The port of the rate limiter: fixed windows per tenant and bucket.

import type { Plan } from '../../core/plans.ts';

export interface RateDecision {
  readonly allowed: boolean;
  readonly limit: number;
  /** Requests left in this window, 0 and up. */
  readonly remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  readonly resetSeconds: number;
}

export interface RateLimiter {
  /**
   * Takes one request out of the tenant's window: that of the plan, or the one of `/v1/keys`. Undefined where the
   * plan has no limit. At once where it can be decided from memory.
   */
  consume(
    tenantId: string,
    plan: Plan,
    bucket: 'plan' | 'keys',
  ): RateDecision | undefined | Promise<RateDecision | undefined>;
}

/** Failed authentications by client address. */
export interface FailureLimiter {
  /** Undefined: go on. A number: refuse for so many whole seconds. */
  blockedSeconds(address: string): number | undefined;
  /** Counts one failure. */
  record(address: string): void;
}
