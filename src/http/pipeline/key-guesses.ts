// Refuses addresses that guess keys, and keys that fail again and again. Invariants: once an address has failed too
// often, its guesses reach no owner; a known key works from anywhere. A malformed key is no guess, so it counts against
// no address.

import { GrantdError } from '../../core/errors.ts';
import type { FailureLimiter } from '../../front/limits/rate-limiter.ts';
import { createRequestOrigin, type RequestOrigin } from '../wire/client-address.ts';
import type { Exchange } from './exchange.ts';
import { failurePolicy } from './rate-policy.ts';
import type { RequestMetrics } from './request-metrics.ts';

export class KeyGuesses {
  readonly #failureLimiter: FailureLimiter;
  readonly #metrics: RequestMetrics;
  readonly #origin: RequestOrigin;

  constructor(
    dependencies: { readonly failureLimiter: FailureLimiter; readonly metrics: RequestMetrics },
    options: { readonly trustedProxies: readonly string[] },
  ) {
    this.#failureLimiter = dependencies.failureLimiter;
    this.#metrics = dependencies.metrics;
    this.#origin = createRequestOrigin(options.trustedProxies);
  }

  /**
   * Called before the owner verifies a well-formed key that is not known here. Throws if the address or the key has
   * failed too often.
   */
  admit(exchange: Exchange, key: string): void {
    const refusal = this.#failureLimiter.refusal(this.#origin.addressOf(exchange.incoming), key);
    if (refusal === undefined) return;
    const policy = failurePolicy(refusal);
    exchange.rate = refusal;
    exchange.policy = policy;
    this.#metrics.rateLimited('authentication');
    const message =
      refusal.of === 'key' ? 'This key was refused too often.' : 'Too many keys from this address were refused.';
    throw new GrantdError('rate-limited', message, {
      details: { retryAfterSeconds: refusal.resetSeconds, violatedPolicy: policy.name },
    });
  }

  /** Records that the owner refused such a key. */
  record(exchange: Exchange, key: string, error: unknown): void {
    if (error instanceof GrantdError && error.code === 'unauthorized') {
      this.#failureLimiter.record(this.#origin.addressOf(exchange.incoming), key);
    }
  }
}
