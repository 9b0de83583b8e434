// Failed authentications by client network: 60 in a window of 60 s, then it is refused until the window ends. It keeps:
// a network is remembered no longer than its window, and never more than the bound of them; above it the one whose
// window began first is let go.

import { clientNetwork } from '../../core/addresses.ts';
import type { Clock } from '../../core/async/clock.ts';
import { type FailureLimiter, secondsUntil } from './rate-limiter.ts';

const FAILURES_MAX = 60;
const WINDOW_SECONDS = 60;
/** Some 200 bytes each: 20 MB, while somebody fails from everywhere. */
const NETWORKS_MAX_DEFAULT = 100_000;

interface Window {
  /** On the monotonic clock: no window is longer because the wall clock was set back. */
  readonly endsAtMs: number;
  failures: number;
}

export function createFailureLimiter(
  { clock }: { readonly clock: Clock },
  options: { readonly networksMax?: number } = {},
): FailureLimiter {
  const { networksMax = NETWORKS_MAX_DEFAULT } = options;
  /** In the order in which the windows began, which is that in which they end. */
  const windows = new Map<string, Window>();

  function forgetEnded(nowMs: number): void {
    for (const [network, window] of windows) {
      if (window.endsAtMs > nowMs && windows.size < networksMax) return;
      windows.delete(network);
    }
  }

  return {
    refusal(address) {
      if (windows.size === 0) return undefined;
      const window = windows.get(clientNetwork(address));
      if (window === undefined || window.failures < FAILURES_MAX) return undefined;
      const nowMs = clock.monotonicMs();
      if (nowMs >= window.endsAtMs) return undefined;
      const resetSeconds = secondsUntil(window.endsAtMs, nowMs, WINDOW_SECONDS);
      return { allowed: false, limit: FAILURES_MAX, remaining: 0, resetSeconds };
    },
    record(address) {
      const nowMs = clock.monotonicMs();
      const network = clientNetwork(address);
      let window = windows.get(network);
      if (window === undefined || window.endsAtMs <= nowMs) {
        windows.delete(network);
        forgetEnded(nowMs);
        window = { endsAtMs: nowMs + WINDOW_SECONDS * 1000, failures: 0 };
        windows.set(network, window);
      }
      window.failures += 1;
    },
  };
}
