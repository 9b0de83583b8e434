// The port of the rate limiter: fixed windows, one per tenant for its plan and one per API key for revocations.

import type { Plan } from '../../core/plans.ts';

/** Reserves that one front remembers: as many as it knows keys. About 100 bytes each in memory, 500 over Redis. */
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
 * Whole seconds until a window ends, from 1 to its length: on a clock with fractions, `now + length - now` may slightly
 * exceed the length.
 */
export const secondsUntil = (endsAtMs: number, nowMs: number, windowSeconds: number): number =>
  Math.min(windowSeconds, Math.max(1, Math.ceil((endsAtMs - nowMs) / 1000)));

/** Whose requests are counted: a session of a tenant, which may keep what the limiter knows of the tenant. */
export interface WindowHolder {
  /** Set by the limiter alone. */
  rateWindow: object | undefined;
}

export interface RateLimiter {
  /**
   * Takes one request from the tenant's window; synchronous if memory can decide it. Undefined if the plan has no
   * limit. `holder`: spares the search for the window.
   */
  consume(
    tenantId: string,
    plan: Plan,
    holder?: WindowHolder,
  ): RateDecision | undefined | Promise<RateDecision | undefined>;
  /** Takes one revocation from the reserve of the revoking key (`REVOCATION_RESERVE`), under any plan. */
  consumeRevocation(keyId: string): RateDecision | Promise<RateDecision>;
}

/** `of`: what has failed too often, every key of the client's network or this key. */
export type FailureRefusal = RateDecision & { readonly of: 'address' | 'key' };

/** Failed authentications per network of the client's address, and in it per key. */
export interface FailureLimiter {
  /**
   * Undefined: go on. Otherwise the network or the key has used up its failures in this window, and the client gets
   * this decision.
   */
  refusal(address: string, key?: string): FailureRefusal | undefined;
  /** Counts one failure: against the address, or against the key if it has failed before. */
  record(address: string, key?: string): void;
}
