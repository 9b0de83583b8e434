// Operation ids with their results, kept for twice the deadline, so that a repeat of a write whose answer was lost gets
// the first answer: 201 stays 201, 204 stays 204. What is forgotten sooner would break that, so the bound is in time:
// no more entries than writes can be decided in twice the deadline.

import type { Clock } from '../core/clock.ts';
import type { OperationResult } from './operations.ts';

interface Remembered {
  readonly result: OperationResult;
  readonly forgetAtMs: number;
}

export class OperationMemory {
  readonly #clock: Clock;
  readonly #keepMs: number;
  /** In the order of their time to go. */
  readonly #results = new Map<string, Remembered>();

  constructor(clock: Clock, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  remember(operationId: string, result: OperationResult): void {
    this.#results.set(operationId, { result, forgetAtMs: this.#clock.monotonicMs() + this.#keepMs });
  }

  /** Lets go of what is old enough. To be called every few seconds. */
  forget(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [id, { forgetAtMs }] of this.#results) {
      if (forgetAtMs > nowMs) return;
      this.#results.delete(id);
    }
  }

  recall(operationId: string): OperationResult | undefined {
    return this.#results.get(operationId)?.result;
  }
}
