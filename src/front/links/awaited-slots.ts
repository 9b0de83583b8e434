// The slots that requests of this front wait for because no shard serves them. Every shard that this front reaches
// hears of them soon, and opens them before others; a shard forgets them after a few seconds, so they are named again
// while requests still wait. Invariant: a slot is named once in an interval, however many requests wait for it.

import type { Clock, Timer } from '../../core/async/clock.ts';

/** The requests of a connection that breaks begin to wait at nearly the same moment. */
const GATHER_MS = 10;
const AGAIN_MS = 1000;

export class AwaitedSlots {
  readonly #clock: Clock;
  readonly #tell: (slots: number[]) => void;
  readonly #toldAtMs = new Map<number, number>();
  /** In the order in which requests began to wait. */
  readonly #untold = new Set<number>();
  #timer: Timer | undefined;

  /** `tell`: what it cannot send now is named again later. */
  constructor(clock: Clock, tell: (slots: number[]) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** A request waits for a slot of the cluster. */
  note(slot: number): void {
    if (this.#untold.has(slot)) return;
    const toldAtMs = this.#toldAtMs.get(slot) ?? Number.NEGATIVE_INFINITY;
    if (this.#clock.monotonicMs() - toldAtMs < AGAIN_MS) return;
    this.#untold.add(slot);
    this.#timer ??= this.#clock.setTimer(() => this.#tellAll(), GATHER_MS);
  }

  close(): void {
    this.#timer?.cancel();
  }

  #tellAll(): void {
    this.#timer = undefined;
    const slots = [...this.#untold];
    this.#untold.clear();
    const nowMs = this.#clock.monotonicMs();
    for (const slot of slots) this.#toldAtMs.set(slot, nowMs);
    this.#tell(slots);
  }
}
