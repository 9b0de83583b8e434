// Whether a shard has once served its share. Its start and its readiness probe wait for this. Invariant: a ready shard
// stays ready, even if it loses slots later, and slots that other shards hold on to delay readiness only for a bounded
// time.

import type { Clock } from '../../core/async/clock.ts';

/** A shard that waits longer for slots of others becomes ready anyway: it serves the slots that it has. */
export const READY_WAIT_MS_MAX = 30_000;

export interface OwnershipProgress {
  readonly settled: boolean;
  readonly complete: boolean;
}

export class Readiness {
  readonly #clock: Clock;
  #ready = false;
  #settledAtMs: number | undefined;
  #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get ready(): boolean {
    return this.#ready;
  }

  update({ settled, complete }: OwnershipProgress): void {
    if (this.#ready) return;
    const nowMs = this.#clock.monotonicMs();
    if (settled) this.#settledAtMs ??= nowMs;
    const waitedMs = nowMs - (this.#settledAtMs ?? nowMs);
    if (!complete && waitedMs <= READY_WAIT_MS_MAX) return;
    this.#ready = true;
    this.release();
  }

  /** Resolves when the shard is ready, or `release` was called. */
  async wait(): Promise<void> {
    if (this.#ready) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Ends all current waits, because the shard is being stopped. */
  release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
