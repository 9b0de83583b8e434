// Bounds the number of calls in flight. Further calls wait, first come, first served. If too many are waiting, a call
// is refused as `overloaded` before it does anything.

import type { Clock } from '../../../core/async/clock.ts';
import { GrantdError } from '../../../core/errors.ts';
import type { DeadlineMs } from '../../store.ts';

export interface GateOptions {
  readonly inFlightMax: number;
  readonly waitingMax: number;
}

interface Waiter {
  readonly admit: () => void;
  readonly refuse: (error: GrantdError) => void;
}

export class Gate {
  readonly #clock: Clock;
  readonly #options: GateOptions;
  readonly #waiting = new Set<Waiter>();
  #inFlight = 0;

  constructor(clock: Clock, options: GateOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /**
   * Resolves when there is capacity; the caller must then call `leave`. Rejects as `overloaded`, or as `unavailable` at
   * the deadline.
   */
  enter(deadline: DeadlineMs): Promise<void> {
    if (this.#inFlight < this.#options.inFlightMax) {
      this.#inFlight += 1;
      return Promise.resolve();
    }
    if (this.#waiting.size >= this.#options.waitingMax) {
      return Promise.reject(new GrantdError('overloaded', 'The store has more work than it can handle.'));
    }
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimer(
        () => waiter.refuse(new GrantdError('unavailable', 'The deadline passed before the call reached the store.')),
        Math.max(0, deadline - this.#clock.monotonicMs()),
      );
      const settle = (): void => {
        timer.cancel();
        this.#waiting.delete(waiter);
      };
      const waiter: Waiter = {
        admit: () => {
          settle();
          resolve();
        },
        refuse: (error) => {
          settle();
          reject(error);
        },
      };
      this.#waiting.add(waiter);
    });
  }

  leave(): void {
    const [next] = this.#waiting;
    // The next waiting call takes its place.
    if (next === undefined) this.#inFlight -= 1;
    else next.admit();
  }

  /** Refuses every waiting call. */
  close(): void {
    for (const waiter of [...this.#waiting]) waiter.refuse(new GrantdError('unavailable', 'The store is closed.'));
  }
}
