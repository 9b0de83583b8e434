// Refuses addresses that guess keys, and keys that fail again and again. Invariants: once an address has failed too
// often, its guesses reach no owner; a known key works from anywhere. A malformed key is no guess, so it counts against
// no address.

import type { IncomingMessage } from 'node:http';
import proxyaddr from 'proxy-addr';
import { GrantdError } from '../../core/errors.ts';
import type { FailureLimiter } from '../../front/limits/rate-limiter.ts';
import type { Incoming } from '../wire/incoming.ts';
import type { Exchange } from './exchange.ts';
import { failurePolicy } from './rate-policy.ts';
import type { RequestMetrics } from './request-metrics.ts';

export class KeyGuesses {
  readonly #failureLimiter: FailureLimiter;
  readonly #metrics: RequestMetrics;
  readonly #isTrusted: ReturnType<typeof proxyaddr.compile>;

  constructor(
    dependencies: { readonly failureLimiter: FailureLimiter; readonly metrics: RequestMetrics },
    options: { readonly trustedProxies: readonly string[] },
  ) {
    this.#failureLimiter = dependencies.failureLimiter;
    this.#metrics = dependencies.metrics;
    this.#isTrusted = proxyaddr.compile([...options.trustedProxies]);
  }

  /**
   * Called before the owner verifies a well-formed key that is not known here. Throws if the address or the key has
   * failed too often.
   */
  admit(exchange: Exchange, key: string): void {
    const refusal = this.#failureLimiter.refusal(this.#addressOf(exchange.incoming), key);
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
      this.#failureLimiter.record(this.#addressOf(exchange.incoming), key);
    }
  }

  /** The address of the socket, or behind trusted proxies the last address that none of them vouches for. */
  #addressOf({ headers, socket }: Incoming): string {
    // A connection that has ended in the meantime has no address any more.
    return socket.remoteAddress === undefined ? '' : proxyaddr({ headers, socket } as IncomingMessage, this.#isTrusted);
  }
}
