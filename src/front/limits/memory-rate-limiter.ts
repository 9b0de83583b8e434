// Rate limits kept in the memory of this process: fixed windows per tenant and bucket. Nothing is made for a request but at
// the begin of a window, and no window has a timer: those that have ended go by generation. It keeps: never more than the
// limit is let through in a window; a window is counted under the limit it was begun with, so that a new plan holds from
// the next request on; a tenant takes memory for two lengths of a window after its last one at most.

import { KEYS_BUCKET, type Plan } from '../../core/plans.ts';
import { TextMap } from '../../core/text-map.ts';
import type { RateDecision, RateLimiter } from './rate-limiter.ts';

interface Window {
  readonly endsAtMs: number;
  consumed: number;
}

/** One limit, and the windows of the tenants that have it. */
class WindowLimiter {
  readonly #requests: number;
  readonly #windowSeconds: number;
  #young = new TextMap<Window>();
  #old = new TextMap<Window>();
  #sweep: NodeJS.Timeout | undefined;

  constructor(requests: number, windowSeconds: number) {
    this.#requests = requests;
    this.#windowSeconds = windowSeconds;
  }

  consume(tenantId: string): RateDecision {
    const nowMs = Date.now();
    let window = this.#young.get(tenantId) ?? this.#old.get(tenantId);
    if (window === undefined || nowMs >= window.endsAtMs) {
      window = { endsAtMs: nowMs + this.#windowSeconds * 1000, consumed: 0 };
      this.#old.delete(tenantId);
      this.#young.set(tenantId, window);
      this.#sweep ??= setInterval(() => this.#forget(), this.#windowSeconds * 1000).unref();
    }
    const limit = this.#requests;
    const allowed = window.consumed < limit;
    if (allowed) window.consumed += 1;
    // A wall clock set back makes a window look longer than it can be.
    const seconds = Math.max(1, Math.ceil((window.endsAtMs - nowMs) / 1000));
    return { allowed, limit, remaining: limit - window.consumed, resetSeconds: Math.min(this.#windowSeconds, seconds) };
  }

  /** What was begun before the last call has ended. */
  #forget(): void {
    this.#old = this.#young;
    this.#young = new TextMap();
    if (this.#old.size > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }
}

export function createMemoryRateLimiter(): RateLimiter {
  /** Of plans, by length of the window, then by requests: as many as there are different limits in them. */
  const limiters = new Map<number, Map<number, WindowLimiter>>();
  const keysLimiter = new WindowLimiter(KEYS_BUCKET.requests, KEYS_BUCKET.windowSeconds);

  function limiterOf(requests: number, windowSeconds: number): WindowLimiter {
    let byRequests = limiters.get(windowSeconds);
    if (byRequests === undefined) {
      byRequests = new Map();
      limiters.set(windowSeconds, byRequests);
    }
    let found = byRequests.get(requests);
    if (found === undefined) {
      found = new WindowLimiter(requests, windowSeconds);
      byRequests.set(requests, found);
    }
    return found;
  }

  return {
    consume(tenantId: string, { requests, windowSeconds }: Plan, bucket: 'plan' | 'keys') {
      if (bucket === 'keys') return keysLimiter.consume(tenantId);
      return requests === undefined ? undefined : limiterOf(requests, windowSeconds).consume(tenantId);
    },
  };
}
