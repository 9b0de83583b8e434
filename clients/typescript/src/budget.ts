// The retry budget of a client: retries are a share of the calls, however long an outage lasts. Invariant: over any
// time, retries are at most the initial stock plus a tenth of the calls.

/** In tenths, so that no sum is inexact. */
const PER_CALL = 1;
const PER_RETRY = 10;

export class RetryBudget {
  readonly #tenthsMax: number;
  #tenths: number;

  /** `retriesMax`: the initial and maximum stock. */
  constructor(retriesMax: number) {
    this.#tenthsMax = retriesMax * PER_RETRY;
    this.#tenths = this.#tenthsMax;
  }

  countCall(): void {
    this.#tenths = Math.min(this.#tenthsMax, this.#tenths + PER_CALL);
  }

  /** Whether a retry may be sent. */
  takeRetry(): boolean {
    if (this.#tenths < PER_RETRY) return false;
    this.#tenths -= PER_RETRY;
    return true;
  }
}
