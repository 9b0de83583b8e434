// The calls that wait for an answer, by the node that they wait for. Each ends once: by its answer, at its deadline,
// when its node falls silent, or with the store. What comes later is ignored.

import type { Clock, Timer } from '../../../core/async/clock.ts';
import { GrantdError } from '../../../core/errors.ts';
import type { DeadlineMs } from '../../store.ts';

/** A deadline that lies further off is looked at again after this long. */
const TIMER_MAX_MS = 3_600_000;

/** The execution was given up for another node; it is safe to repeat. */
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

  /** `onTimeout` is told of the node that a call waited for in vain. */
  constructor(clock: Clock, onTimeout: (host: string) => void) {
    this.#clock = clock;
    this.#onTimeout = onTimeout;
  }

  /**
   * `send` begins the execution and is given what to call with each node that it goes to. Resolves to its answer, or to
   * ELSEWHERE where it has to be repeated.
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

  /** What is safe to repeat does not wait for this node any longer. */
  leaveHost(host: string): void {
    for (const execution of [...this.#executions])
      if (execution.host === host && execution.idempotent) execution.goElsewhere();
  }

  /** Nothing waits for this node any longer. */
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
