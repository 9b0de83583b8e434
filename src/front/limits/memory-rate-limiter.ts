// Rate limits in the memory of this process: fixed windows per tenant, and per key for revocations. A request allocates
// only where a window begins, and no window has a timer: ended windows are dropped by generation. Invariants: a window
// lets through no more than the limit; it is counted under the limit with which it began, so a new plan applies from
// the next request on; a tenant takes memory for at most two window lengths after its last window. The reserves of keys
// are bounded too, because a tenant creates keys at will but has only one window for its plan. Above the bound, the
// oldest reserves start over.

import type { Clock, Timer } from '../../core/async/clock.ts';
import { type Plan, REVOCATION_RESERVE } from '../../core/plans.ts';
import { StringMap } from '../../core/structures/string-map.ts';
import { type RateDecision, type RateLimiter, RESERVES_MAX_DEFAULT, secondsUntil } from './rate-limiter.ts';

interface RateWindow {
  /** On the monotonic clock: setting the wall clock back lengthens no window. */
  readonly endsAtMs: number;
  consumed: number;
}

/** One limit, and the windows of the tenants (or keys) that have it. */
class WindowLimiter {
  readonly #clock: Clock;
  readonly #requests: number;
  readonly #windowSeconds: number;
  readonly #generationMax: number;
  #young = new StringMap<RateWindow>();
  #old = new StringMap<RateWindow>();
  #sweep: Timer | undefined;

  constructor(clock: Clock, requests: number, windowSeconds: number, windowsMax = Number.POSITIVE_INFINITY) {
    this.#clock = clock;
    this.#requests = requests;
    this.#windowSeconds = windowSeconds;
    this.#generationMax = windowsMax / 2;
  }

  consume(id: string): RateDecision {
    const nowMs = this.#clock.monotonicMs();
    let window = this.#young.get(id) ?? this.#old.get(id);
    if (window === undefined || nowMs >= window.endsAtMs) {
      window = { endsAtMs: nowMs + this.#windowSeconds * 1000, consumed: 0 };
      this.#old.delete(id);
      if (this.#young.size >= this.#generationMax) this.#forget();
      this.#young.set(id, window);
      this.#sweep ??= this.#sweepLater();
    }
    const limit = this.#requests;
    const allowed = window.consumed < limit;
    if (allowed) window.consumed += 1;
    const resetSeconds = secondsUntil(window.endsAtMs, nowMs, this.#windowSeconds);
    return { allowed, limit, remaining: limit - window.consumed, resetSeconds };
  }

  /** Drops the older generation: unless the bound forced it, the windows in it have ended. */
  #forget(): void {
    this.#old = this.#young;
    this.#young = new StringMap();
  }

  #sweepLater(): Timer {
    return this.#clock.setTimer(() => {
      this.#forget();
      this.#sweep = this.#old.size > 0 ? this.#sweepLater() : undefined;
    }, this.#windowSeconds * 1000);
  }
}

export function createMemoryRateLimiter(
  { clock }: { readonly clock: Clock },
  options: { readonly reservesMax?: number } = {},
): RateLimiter {
  const { reservesMax = RESERVES_MAX_DEFAULT } = options;
  /** Limiters of plans, by window length, then by requests: one for each distinct limit. */
  const limiters = new Map<number, Map<number, WindowLimiter>>();
  const reserves = new WindowLimiter(clock, REVOCATION_RESERVE.requests, REVOCATION_RESERVE.windowSeconds, reservesMax);

  function limiterOf(requests: number, windowSeconds: number): WindowLimiter {
    let byRequests = limiters.get(windowSeconds);
    if (byRequests === undefined) {
      byRequests = new Map();
      limiters.set(windowSeconds, byRequests);
    }
    let found = byRequests.get(requests);
    if (found === undefined) {
      found = new WindowLimiter(clock, requests, windowSeconds);
      byRequests.set(requests, found);
    }
    return found;
  }

  return {
    consume(tenantId: string, { requests, windowSeconds }: Plan) {
      return requests === undefined ? undefined : limiterOf(requests, windowSeconds).consume(tenantId);
    },
    consumeRevocation: (keyId) => reserves.consume(keyId),
  };
}
