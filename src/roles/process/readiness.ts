// Whether a process should get traffic, and why not. It starts as not ready, says what it waits for, is judged by a
// condition once it serves, and after `stop` is never ready again. What it waits for is logged once, when it begins.

import type { Log } from '../../telemetry/log.ts';

export class Readiness {
  readonly #log: Log;
  #phase: 'starting' | 'serving' | 'stopping' = 'starting';
  #reason = 'starting';
  #judge: () => string | undefined = () => undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Not ready, for this reason. Of no effect once it serves or stops. */
  wait(reason: string): void {
    if (this.#phase !== 'starting' || reason === this.#reason) return;
    this.#reason = reason;
    this.#log.info({ reason }, 'not ready yet');
  }

  /** From now on ready, but for the reason that `judge` gives when asked. Of no effect once it stops. */
  serve(judge: () => string | undefined): void {
    if (this.#phase !== 'starting') return;
    this.#phase = 'serving';
    this.#judge = judge;
  }

  /** Not ready any more, for good. */
  stop(): void {
    this.#phase = 'stopping';
  }

  /** Why it is not ready; nothing: it is. */
  reasons(): readonly string[] {
    if (this.#phase === 'stopping') return ['stopping'];
    const reason = this.#phase === 'starting' ? this.#reason : this.#judge();
    return reason === undefined ? [] : [reason];
  }
}
