// Limits failed authentications per client network: after 60 failures in a window of 60 s, it refuses that network
// until the window ends. Invariants: a network is remembered no longer than its window, and the number of networks is
// bounded; above the bound, the network whose window began first is forgotten.

import type { Clock } from '../../core/async/clock.ts';
import { AUTHENTICATION_FAILURES } from '../../core/plans.ts';
import { clientNetwork } from '../../core/text/addresses.ts';
import { type FailureLimiter, secondsUntil } from './rate-limiter.ts';

const { requests: FAILURES_MAX, windowSeconds: WINDOW_SECONDS } = AUTHENTICATION_FAILURES;
/** About 200 bytes each: 20 MB while failures come from everywhere. */
const NETWORKS_MAX_DEFAULT = 100_000;

interface Window {
  /** On the monotonic clock: setting the wall clock back lengthens no window. */
  readonly endsAtMs: number;
  failures: number;
}

export function createFailureLimiter(
  { clock }: { readonly clock: Clock },
  options: { readonly networksMax?: number } = {},
): FailureLimiter {
  const { networksMax = NETWORKS_MAX_DEFAULT } = options;
  /** In the order in which the windows began, which is the order in which they end. */
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
