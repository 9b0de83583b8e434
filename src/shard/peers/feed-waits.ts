// The calls of one connection that wait for the next change of a tenant. Invariants: they hold neither a turn nor a
// place at a gate while they wait; their number is bounded per connection and per tenant, so that they leave most of
// what may be outstanding to other calls; none waits once the connection is to end.

import type { Clock } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { RecentChanges } from '../memory/recent-items.ts';

/** A front follows each of its sessions with one call. */
const WAITING_MAX = 4000;
/** Per tenant, over all connections: far more fronts and keys than a tenant uses. */
const TENANT_WAITING_MAX = 2000;

export class FeedWaits {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #ended = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether no call waits any more. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Resolves after the next commit of the tenant, once its tenure has ended, at the time, or when all waits end. */
  until(recent: RecentChanges, untilMs: number): Promise<void> {
    if (this.#ended) return Promise.resolve();
    if (this.#waiting.size >= WAITING_MAX || recent.waiting >= TENANT_WAITING_MAX) {
      throw new GrantdError('overloaded', 'Too many calls already wait for changes.');
    }
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel();
        recent.forget(end);
        this.#waiting.delete(end);
        resolve();
      };
      const timer = this.#clock.setTimer(end, Math.max(0, untilMs - this.#clock.monotonicMs()));
      this.#waiting.add(end);
      recent.wait(end);
    });
  }

  /** Ends all waits, and those that come later. */
  end(): void {
    this.#ended = true;
    for (const end of [...this.#waiting]) end();
  }
}
