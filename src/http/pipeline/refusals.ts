// Ends requests without success. Invariant: if the owner has not been asked yet, it is asked to confirm the key first,
// so that a key revoked a moment ago gets 401 and a suspended tenant 403 everywhere.

import { GrantdError } from '../../core/errors.ts';
import type { TenantSession } from '../../front/front.ts';
import type { Exchange } from './exchange.ts';
import type { RequestMetrics } from './request-metrics.ts';
import type { ResponseWriter } from './response-writer.ts';

export class Refusals {
  readonly #answers: ResponseWriter;
  readonly #metrics: RequestMetrics;

  constructor(dependencies: { readonly answers: ResponseWriter; readonly metrics: RequestMetrics }) {
    this.#answers = dependencies.answers;
    this.#metrics = dependencies.metrics;
  }

  /** For an error from the owner, which may have found the key revoked. */
  byOwner(exchange: Exchange, thrown: unknown): void {
    if (thrown instanceof GrantdError && thrown.code === 'unauthorized') this.#metrics.authenticationFailed();
    this.#answers.problem(exchange, thrown);
  }

  /** For an error in the request itself: the owner had no part in it yet. */
  byFront(exchange: Exchange, session: TenantSession, error: unknown): void {
    // A request that waited for memory until its deadline has no time left to ask anything.
    if (error instanceof GrantdError && error.code === 'overloaded') this.#answers.problem(exchange, error);
    else {
      session.confirm(exchange).then(
        () => this.#answers.problem(exchange, error),
        (thrown: unknown) => this.byOwner(exchange, thrown),
      );
    }
  }
}
