// The calls in flight, by the node from which each expects a response. Each ends once: with its response, at its
// deadline, when its node falls silent, or when the store closes. A later response is ignored.

import type { Clock, Timer } from '../../../core/async/clock.ts';
import { GrantdError } from '../../../core/errors.ts';
import type { DeadlineMs } from '../../store.ts';

/** A deadline further away than this is checked again after this time. */
const TIMER_MAX_MS = 3_600_000;

/** The call was abandoned on its node; it is safe to repeat on another one. */
export const ELSEWHERE = Symbol('elsewhere');

export interface ExecutionOptions {
  readonly deadline: DeadlineMs;
  readonly idempotent: boolean;
}

interface Execution {
  readonly idempotent: boolean;
  host: string | undefined;
  readonly giveUp: (error: GrantdError) => void;
  readonly goElsewhere: () => void;
}

export class CallsInFlight {
  readonly #clock: Clock;
  readonly #executions = new Set<Execution>();
  readonly #onTimeout: (host: string) => void;

  /** `onTimeout` gets the node of each call that timed out. */
  constructor(clock: Clock, onTimeout: (host: string) => void) {
    this.#clock = clock;
    this.#onTimeout = onTimeout;
  }

  /**
   * `send` starts the execution and gets a function to call with each node that the call is sent to. Resolves to the
   * result, or to ELSEWHERE if the call must be repeated on another node.
   */
  run<Answer>(
    { deadline, idempotent }: ExecutionOptions,
    send: (onHost: (host: string) => void) => Promise<Answer>,
  ): Promise<Answer | typeof ELSEWHERE> {
    return new Promise((resolve, reject) => {
      let timer: Timer | undefined;
      const end = (): void => {
        timer?.cancel();
        this.#executions.delete(execution);
      };
      const execution: Execution = {
        idempotent,
        host: undefined,
        giveUp: (error) => {
          end();
          reject(error);
        },
        goElsewhere: () => {
          end();
          resolve(ELSEWHERE);
        },
      };
      const watch = (): void => {
        const leftMs = deadline - this.#clock.monotonicMs();
        if (leftMs > 0) {
          timer = this.#clock.setTimer(watch, Math.min(leftMs, TIMER_MAX_MS));
          return;
        }
        if (execution.host !== undefined) this.#onTimeout(execution.host);
        execution.giveUp(
          new GrantdError('unavailable', 'The store did not respond in time; the outcome of a write is not known.'),
        );
      };
      this.#executions.add(execution);
      watch();
      if (!this.#executions.has(execution)) return;
      send((host) => {
        execution.host = host;
      }).then(
        (answer) => {
          end();
          resolve(answer);
        },
        (error: unknown) => {
          end();
          reject(error);
        },
      );
    });
  }

  /** Calls that are safe to repeat no longer wait for this node. */
  leaveHost(host: string): void {
    for (const execution of [...this.#executions])
      if (execution.host === host && execution.idempotent) execution.goElsewhere();
  }

  /** No call waits for this node any longer. */
  giveUpHost(host: string): void {
    for (const execution of [...this.#executions]) {
      if (execution.host !== host) continue;
      execution.giveUp(
        new GrantdError('unavailable', 'A store node became unresponsive; the outcome of a write is not known.'),
      );
    }
  }

  giveUpAll(): void {
    const closed = new GrantdError('unavailable', 'The store is closed; the outcome of a write is not known.');
    for (const execution of [...this.#executions]) execution.giveUp(closed);
  }
}
