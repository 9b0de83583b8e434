// Failed authentications by client address: 60 in a window of 60 s, then the address is refused until the window ends. It
// keeps: an address is remembered no longer than its window, and never more than the bound of them; above it the one
// whose window began first is let go.

import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { FailureLimiter } from './rate-limiter.ts';

const FAILURES_MAX = 60;
const WINDOW_SECONDS = 60;
/** Some 300 bytes each. */
const ADDRESSES_MAX_DEFAULT = 100_000;

interface Window {
  readonly endsAtMs: number;
  blocked: boolean;
}

export function createFailureLimiter(options: { readonly addressesMax?: number } = {}): FailureLimiter {
  const { addressesMax = ADDRESSES_MAX_DEFAULT } = options;
  const limiter = new RateLimiterMemory({ points: FAILURES_MAX, duration: WINDOW_SECONDS, keyPrefix: '' });
  /** In the order in which the windows began, which is that in which they end. */
  const windows = new Map<string, Window>();

  function forgetEnded(nowMs: number): void {
    for (const [address, window] of windows) {
      if (window.endsAtMs > nowMs && windows.size < addressesMax) return;
      windows.delete(address);
      void limiter.delete(address);
    }
  }

  return {
    blockedSeconds(address) {
      const window = windows.get(address);
      if (window === undefined || !window.blocked) return undefined;
      const leftMs = window.endsAtMs - Date.now();
      return leftMs <= 0 ? undefined : Math.min(WINDOW_SECONDS, Math.max(1, Math.ceil(leftMs / 1000)));
    },
    record(address) {
      const nowMs = Date.now();
      let window = windows.get(address);
      if (window === undefined || window.endsAtMs <= nowMs) {
        windows.delete(address);
        void limiter.delete(address);
        forgetEnded(nowMs);
        window = { endsAtMs: nowMs + WINDOW_SECONDS * 1000, blocked: false };
        windows.set(address, window);
      }
      const counted = window;
      // A penalty counts like a request, but never rejects.
      void limiter.penalty(address).then(({ consumedPoints }) => {
        if (consumedPoints >= FAILURES_MAX) counted.blocked = true;
      });
    },
  };
}
