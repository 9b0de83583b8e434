// Rate limits in the memory of this process: fixed windows per tenant, and per key for revocations. A tenant's window
// begins again in place, and the session of a request holds it, so that a request neither searches nor allocates. No
// window has a timer: those that are no longer used are dropped by generation. Invariants: a window lets through no
// more than the limit; a tenant has one window of a limit at a time; it is counted under the limit with which it
// began, so a new plan applies from the next request on; a tenant takes memory for at most two window lengths, or two
// minutes, after its last window began, and while a session holds it. The reserves of keys are bounded too, because a
// tenant creates keys at will but has only one window for its plan. Above the bound, the oldest reserves start over.

import type { Clock, Timer } from '../../core/async/clock.ts';
import { REVOCATION_RESERVE } from '../../core/plans.ts';
import { StringMap } from '../../core/structures/string-map.ts';
import {
  type RateDecision,
  type RateLimiter,
  RESERVES_MAX_DEFAULT,
  secondsUntil,
  type WindowHolder,
} from './rate-limiter.ts';

/** The least time between two generations: a tenant in use enters a map once in so long. */
const GENERATION_MS_MIN = 60_000;

class RateWindow {
  readonly limiter: WindowLimiter;
  /** The generation of windows that this one is in. */
  generation: number;
  /**
   * On the monotonic clock: setting the wall clock back lengthens no window. A whole number, rounded up: V8 keeps it in
   * the object itself.
   */
  endsAtMs: number;
  consumed = 0;

  constructor(limiter: WindowLimiter, generation: number, endsAtMs: number) {
    this.limiter = limiter;
    this.generation = generation;
    this.endsAtMs = endsAtMs;
  }
}

/** One limit, and the windows of the tenants (or keys) that have it. */
class WindowLimiter {
  readonly #clock: Clock;
  readonly #requests: number;
  readonly #windowSeconds: number;
  readonly #generationMax: number;
  #generation = 0;
  #young = new StringMap<RateWindow>();
  #old = new StringMap<RateWindow>();
  #sweep: Timer | undefined;

  constructor(clock: Clock, requests: number, windowSeconds: number, windowsMax = Number.POSITIVE_INFINITY) {
    this.#clock = clock;
    this.#requests = requests;
    this.#windowSeconds = windowSeconds;
    this.#generationMax = windowsMax / 2;
  }

  consume(id: string, holder?: WindowHolder): RateDecision {
    const nowMs = this.#clock.monotonicMs();
    const held = holder?.rateWindow;
    let window: RateWindow;
    if (held instanceof RateWindow && held.limiter === this && nowMs < held.endsAtMs) window = held;
    else {
      window = this.#current(id, nowMs, held);
      if (holder !== undefined) holder.rateWindow = window;
    }
    const limit = this.#requests;
    const allowed = window.consumed < limit;
    if (allowed) window.consumed += 1;
    const resetSeconds = secondsUntil(window.endsAtMs, nowMs, this.#windowSeconds);
    return { allowed, limit, remaining: limit - window.consumed, resetSeconds };
  }

  /** The window of this moment. `held`: the last one that the holder has had. */
  #current(id: string, nowMs: number, held: object | undefined): RateWindow {
    const isYoung = held instanceof RateWindow && held.limiter === this && held.generation === this.#generation;
    const known = isYoung ? held : (this.#young.get(id) ?? this.#old.get(id));
    if (known !== undefined && nowMs < known.endsAtMs) return known;
    const endsAtMs = Math.ceil(nowMs + this.#windowSeconds * 1000);
    if (known?.generation === this.#generation) {
      known.endsAtMs = endsAtMs;
      known.consumed = 0;
      return known;
    }
    this.#old.delete(id);
    if (this.#young.size >= this.#generationMax) this.#forget();
    const window = new RateWindow(this, this.#generation, endsAtMs);
    this.#young.set(id, window);
    this.#sweep ??= this.#sweepLater();
    return window;
  }

  /** Drops the older generation: unless the bound forced it, the windows in it have ended. */
  #forget(): void {
    this.#old = this.#young;
    this.#young = new StringMap();
    this.#generation += 1;
  }

  #sweepLater(): Timer {
    return this.#clock.setTimer(
      () => {
        this.#forget();
        this.#sweep = this.#old.size > 0 ? this.#sweepLater() : undefined;
      },
      Math.max(GENERATION_MS_MIN, this.#windowSeconds * 1000),
    );
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
    consume(tenantId, { requests, windowSeconds }, holder) {
      return requests === undefined ? undefined : limiterOf(requests, windowSeconds).consume(tenantId, holder);
    },
    consumeRevocation: (keyId) => reserves.consume(keyId),
  };
}
