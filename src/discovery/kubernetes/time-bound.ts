// Bounds one request to the API server in time, and ends it.

import type { Clock, Timer } from '../../core/async/clock.ts';
import type { ApiFailure } from './api-failure.ts';

/** Its signal aborts with a failure when the last allowed time is over. */
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

  /** Ends the request completely. */
  end(): void {
    this.#timer?.cancel();
    this.#controller.abort();
  }
}
