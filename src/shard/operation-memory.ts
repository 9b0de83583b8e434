// Operation ids with their results, kept for twice the deadline, so that a repeat of a write whose answer was lost gets
// the first answer: 201 stays 201, 204 stays 204. Answers that changed nothing are kept as well, 200, 404 and refusals: an
// earlier try of the same operation that arrives late must not do what its client was told had not to be done. What is
// forgotten sooner would break that, so the bound is in time: no more entries than writes can be decided in twice the
// deadline and a quarter of it.
//
// They are kept by generation and forgotten a generation at a time. One map that is always filled and emptied would leave a
// chain of outgrown tables, and with it all that they held, to the next full garbage collection.

import type { Clock } from '../core/clock.ts';
import type { GrantdError } from '../core/errors.ts';
import type { OperationResult } from './operations.ts';

const GENERATIONS = 4;

/** What an operation came to. */
export type OperationOutcome = { readonly result: OperationResult } | { readonly error: GrantdError };

interface Generation {
  readonly startedAtMs: number;
  readonly results: Map<string, OperationOutcome>;
}

export class OperationMemory {
  readonly #clock: Clock;
  readonly #keepMs: number;
  /** The newest first. */
  #generations: Generation[] = [];

  constructor(clock: Clock, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  remember(operationId: string, outcome: OperationOutcome): void {
    const nowMs = this.#clock.monotonicMs();
    let [newest] = this.#generations;
    if (newest === undefined || nowMs - newest.startedAtMs >= this.#keepMs / GENERATIONS) {
      newest = { startedAtMs: nowMs, results: new Map() };
      this.#generations.unshift(newest);
    }
    newest.results.set(operationId, outcome);
  }

  /** Lets go of what is old enough. To be called every few seconds. */
  forget(): void {
    const keptMs = this.#keepMs + this.#keepMs / GENERATIONS;
    const nowMs = this.#clock.monotonicMs();
    this.#generations = this.#generations.filter(({ startedAtMs }) => nowMs - startedAtMs < keptMs);
  }

  recall(operationId: string): OperationOutcome | undefined {
    for (const { results } of this.#generations) {
      const result = results.get(operationId);
      if (result !== undefined) return result;
    }
    return undefined;
  }
}
