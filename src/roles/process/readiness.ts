// Whether a process should get traffic, and if not, why. It starts as not ready and says what it waits for. Once it
// serves, a condition decides. After `stop` it is never ready again. What it waits for is logged once, when the wait
// begins.

import type { Log } from '../../telemetry/log.ts';

export class Readiness {
  readonly #log: Log;
  #phase: 'starting' | 'serving' | 'stopping' = 'starting';
  #reason = 'starting';
  #judge: () => string | undefined = () => undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Not ready, for this reason. No effect once it serves or stops. */
  wait(reason: string): void {
    if (this.#phase !== 'starting' || reason === this.#reason) return;
    this.#reason = reason;
    this.#log.info({ reason }, 'not ready yet');
  }

  /** Ready from now on, unless `judge` returns a reason. No effect once it stops. */
  serve(judge: () => string | undefined): void {
    if (this.#phase !== 'starting') return;
    this.#phase = 'serving';
    this.#judge = judge;
  }

  /** Never ready again. */
  stop(): void {
    this.#phase = 'stopping';
  }

  /** Why it is not ready; empty: it is. */
  reasons(): readonly string[] {
    if (this.#phase === 'stopping') return ['stopping'];
    const reason = this.#phase === 'starting' ? this.#reason : this.#judge();
    return reason === undefined ? [] : [reason];
  }
}
