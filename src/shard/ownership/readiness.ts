// Whether a shard has once served its share, which is what its start and its readiness probe wait for. It keeps: once
// ready it stays ready, whatever it loses later; slots that others hold for long do not keep it from becoming so.

import type { Clock } from '../../core/async/clock.ts';

/** A shard that waits for others' slots for longer is ready all the same: what it serves, it serves. */
export const READY_WAIT_MS_MAX = 30_000;

/** What the ownership has reached. */
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

  /** Lets those go on that wait now: the shard is being stopped. */
  release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
