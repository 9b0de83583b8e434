// The bound in time on one request to the API server, and its end.

import type { Clock, Timer } from '../../core/async/clock.ts';
import type { ApiFailure } from './api-failure.ts';

/** Its signal aborts with a failure when the time is over that was allowed last. */
export class TimeBound {
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  allow(timeMs: number, failure: ApiFailure): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.setTimer(() => this.#controller.abort(failure), timeMs);
  }

  /** Nothing of the request is left then. */
  end(): void {
    this.#timer?.cancel();
    this.#controller.abort();
  }
}
