// The port of the rate limiter: fixed windows, one per tenant for its plan and one per API key for revoking keys.

import type { Plan } from '../../core/plans.ts';

/**
 * Reserves of keys that one front remembers: as many as it knows keys. Some 100 bytes each in memory, 500 over Redis.
 */
export const RESERVES_MAX_DEFAULT = 100_000;

export interface RateDecision {
  readonly allowed: boolean;
  readonly limit: number;
  /** Requests left in this window, 0 and up. */
  readonly remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  readonly resetSeconds: number;
}

/**
 * Whole seconds until a window ends, from 1 to its length: on a clock with fractions, `now + length - now` may be a
 * hair more than the length.
 */
export const secondsUntil = (endsAtMs: number, nowMs: number, windowSeconds: number): number =>
  Math.min(windowSeconds, Math.max(1, Math.ceil((endsAtMs - nowMs) / 1000)));

export interface RateLimiter {
  /**
   * Takes one request out of the tenant's window. Undefined where the plan has no limit. At once where it can be
   * decided from memory.
   */
  consume(tenantId: string, plan: Plan): RateDecision | undefined | Promise<RateDecision | undefined>;
  /** Takes one revocation out of the reserve of the key that asks for it (`REVOCATION_RESERVE`), whatever its plan. */
  consumeRevocation(keyId: string): RateDecision | Promise<RateDecision>;
}

/** Failed authentications by the network of the client's address. */
export interface FailureLimiter {
  /** Undefined: go on. Else the failures of that network are used up for this window, and this is what to tell it. */
  refusal(address: string): RateDecision | undefined;
  /** Counts one failure. */
  record(address: string): void;
}
