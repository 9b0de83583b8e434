// The counts that the threads of one process share, in the memory of its main thread: what `redis-windows.ts` keeps in
// Redis for the fronts of a cluster, by the same rules. A window follows the last one directly if something was taken
// ahead; otherwise it begins at the next request. Invariants: a window takes memory for at most one length after its
// end; the reserves of keys are bounded, because a tenant creates keys at will. Above the bound the oldest starts over.

import type { Clock } from '../../core/async/clock.ts';
import { RESERVES_MAX_DEFAULT } from './rate-limiter.ts';
import type { SharedCounts, WindowCount, WindowLimit } from './shared-rate-limiter.ts';

interface CountWindow {
  /** On the monotonic clock. */
  endsMs: number;
  used: number;
  /** Taken from the next window. */
  ahead: number;
}

/** A synchronous `SharedCounts.take`. */
export type TakeCount = (key: string, limit: WindowLimit, points: number, which: 'running' | 'next') => WindowCount;

export function createMemoryCounts(
  clock: Clock,
  { reservesMax = RESERVES_MAX_DEFAULT }: { readonly reservesMax?: number } = {},
): TakeCount {
  const plans = new Map<string, CountWindow>();
  const reserves = new Map<string, CountWindow>();

  function dropEnded(windows: Map<string, CountWindow>, name: string, window: CountWindow, lengthMs: number): void {
    if (windows.get(name) !== window) return;
    const leftMs = window.endsMs + lengthMs - clock.monotonicMs();
    if (leftMs > 0) clock.setTimer(() => dropEnded(windows, name, window, lengthMs), leftMs);
    else windows.delete(name);
  }

  function begin(windows: Map<string, CountWindow>, name: string, lengthMs: number): CountWindow {
    const window = { endsMs: 0, used: 0, ahead: 0 };
    windows.set(name, window);
    clock.setTimer(() => dropEnded(windows, name, window, lengthMs), 2 * lengthMs);
    const [oldest] = windows.keys();
    if (windows === reserves && windows.size > reservesMax && oldest !== undefined) windows.delete(oldest);
    return window;
  }

  return (key, { requests, windowSeconds }, points, which) => {
    const lengthMs = windowSeconds * 1000;
    const nowMs = clock.monotonicMs();
    // The names of the shared limiter. A different limit is a different window.
    const windows = key.startsWith('k') ? reserves : plans;
    const name = `${requests}:${windowSeconds}:${key}`;
    const window = windows.get(name) ?? begin(windows, name, lengthMs);
    if (nowMs >= window.endsMs) {
      const follows = nowMs < window.endsMs + lengthMs && window.ahead > 0;
      window.endsMs = follows ? window.endsMs + lengthMs : nowMs + lengthMs;
      window.used = follows ? window.ahead : 0;
      window.ahead = 0;
    }
    const leftMs = Math.ceil(window.endsMs - nowMs);
    if (which === 'running') {
      window.used += points;
      return { consumed: window.used, leftMs };
    }
    window.ahead += points;
    return { consumed: window.ahead, leftMs: leftMs + lengthMs };
  };
}

/** The counts of the main thread itself. `fronts`: threads. */
export const countsHere = (take: TakeCount, fronts: number): SharedCounts => ({
  reachable: true,
  fronts,
  take: async (key, limit, points, which) => take(key, limit, points, which),
});
