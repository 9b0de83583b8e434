// The counts that fronts share, on virtual time: what the script in Redis does, behind a way that takes time. It knows
// the truth about its windows, so that a test can hold every decision against it.

import type { SharedCounts, WindowCount, WindowLimit } from '../../../src/front/limits/shared-rate-limiter.ts';
import type { VirtualClock } from '../../kit/virtual-clock.ts';

export class VirtualCounts implements SharedCounts {
  reachable = true;
  fronts = 1;
  /** There and back. */
  roundTripMs = 2;
  /** Answers that are lost: calls reject after this long instead. */
  failsAfterMs: number | undefined;
  calls = 0;
  readonly #clock: VirtualClock;
  readonly #windows = new Map<string, { endsMs: number; used: number; ahead: number }>();

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  async take(key: string, limit: WindowLimit, points: number, which: 'running' | 'next'): Promise<WindowCount> {
    this.calls += 1;
    if (this.failsAfterMs !== undefined) {
      await this.#pass(this.failsAfterMs);
      throw new Error('There is no answer.');
    }
    await this.#pass(this.roundTripMs / 2);
    const count = this.#count(key, limit.windowSeconds * 1000, points, which);
    await this.#pass(this.roundTripMs / 2);
    return count;
  }

  /** As if another front had used up the rest. */
  exhaust(key: string): void {
    const window = this.#windows.get(key);
    if (window !== undefined) window.used = 1e9;
  }

  /** The end of the window that runs at this moment. */
  endsMs(key: string): number {
    return this.#windows.get(key)?.endsMs ?? 0;
  }

  #count(key: string, lengthMs: number, points: number, which: 'running' | 'next'): WindowCount {
    const nowMs = Math.floor(this.#clock.monotonicMs());
    let window = this.#windows.get(key);
    if (window !== undefined && nowMs >= window.endsMs && nowMs < window.endsMs + lengthMs && window.ahead > 0) {
      window = { endsMs: window.endsMs + lengthMs, used: window.ahead, ahead: 0 };
    } else if (window === undefined || nowMs >= window.endsMs) {
      window = { endsMs: nowMs + lengthMs, used: 0, ahead: 0 };
    }
    this.#windows.set(key, window);
    if (which === 'running') {
      window.used += points;
      return { consumed: window.used, leftMs: window.endsMs - nowMs };
    }
    window.ahead += points;
    return { consumed: window.ahead, leftMs: window.endsMs + lengthMs - nowMs };
  }

  #pass(durationMs: number): Promise<void> {
    return new Promise((resolve) => this.#clock.setTimer(resolve, durationMs));
  }
}
