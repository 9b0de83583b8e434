// Limits failed authentications per client network: after failures of 60 different keys in a window of 60 s, it refuses
// that network until the window ends. A key that fails again counts against itself: after 10 failures, it is refused
// alone. So one client that goes on with a dead key blocks no other client of its address. Invariants: a network is
// remembered no longer than its window, and the numbers of networks and keys are bounded; above a bound, the network
// whose window began first is forgotten. Of a key, only a hash is remembered.

import { createHash } from 'node:crypto';
import type { Clock } from '../../core/async/clock.ts';
import { AUTHENTICATION_FAILURES, KEY_FAILURES } from '../../core/plans.ts';
import { clientNetwork } from '../../core/text/addresses.ts';
import { type FailureLimiter, secondsUntil } from './rate-limiter.ts';

const { requests: FAILURES_MAX, windowSeconds: WINDOW_SECONDS } = AUTHENTICATION_FAILURES;
/** About 250 bytes each, and 100 for each key: 45 MB while failures come from everywhere. */
const NETWORKS_MAX_DEFAULT = 100_000;
const KEYS_MAX_DEFAULT = 200_000;
/** Enough of a hash to tell keys apart. */
const HASH_BYTES = 16;

interface FailureWindow {
  /** On the monotonic clock: setting the wall clock back lengthens no window. */
  readonly endsAtMs: number;
  /** Failures with different keys, or without one. */
  failures: number;
  /** How often each key has failed. Empty once the network is refused. */
  readonly keys: Map<string, number>;
}

/** Stands for a secret that a client sent, valid or not. */
export const shortHash = (secret: string): string =>
  createHash('sha256').update(secret, 'utf8').digest().toString('base64url', 0, HASH_BYTES);

export function createFailureLimiter(
  { clock }: { readonly clock: Clock },
  options: { readonly networksMax?: number; readonly keysMax?: number } = {},
): FailureLimiter {
  const { networksMax = NETWORKS_MAX_DEFAULT, keysMax = KEYS_MAX_DEFAULT } = options;
  /** In the order in which the windows began, which is the order in which they end. */
  const windows = new Map<string, FailureWindow>();
  let keys = 0;

  function forget(network: string, window: FailureWindow): void {
    keys -= window.keys.size;
    windows.delete(network);
  }

  function forgetEnded(nowMs: number): void {
    for (const [network, window] of windows) {
      if (window.endsAtMs > nowMs && windows.size < networksMax && keys < keysMax) return;
      forget(network, window);
    }
  }

  /** The window that runs now, begun if there is none. */
  function windowOf(network: string, nowMs: number): FailureWindow {
    const known = windows.get(network);
    if (known !== undefined && known.endsAtMs > nowMs) return known;
    if (known !== undefined) forget(network, known);
    forgetEnded(nowMs);
    const window = { endsAtMs: nowMs + WINDOW_SECONDS * 1000, failures: 0, keys: new Map() };
    windows.set(network, window);
    return window;
  }

  function count(window: FailureWindow, key: string | undefined): void {
    if (key !== undefined && window.failures < FAILURES_MAX) {
      const hash = shortHash(key);
      const failures = window.keys.get(hash) ?? 0;
      if (failures === 0) keys += 1;
      window.keys.set(hash, failures + 1);
      if (failures > 0) return;
    }
    window.failures += 1;
    if (window.failures < FAILURES_MAX) return;
    keys -= window.keys.size;
    window.keys.clear();
  }

  return {
    refusal(address, key) {
      if (windows.size === 0) return undefined;
      const window = windows.get(clientNetwork(address));
      if (window === undefined) return undefined;
      const isKey = key !== undefined && (window.keys.get(shortHash(key)) ?? 0) >= KEY_FAILURES.requests;
      if (!isKey && window.failures < FAILURES_MAX) return undefined;
      const nowMs = clock.monotonicMs();
      if (nowMs >= window.endsAtMs) return undefined;
      const resetSeconds = secondsUntil(window.endsAtMs, nowMs, WINDOW_SECONDS);
      const limit = isKey ? KEY_FAILURES.requests : FAILURES_MAX;
      return { of: isKey ? 'key' : 'address', allowed: false, limit, remaining: 0, resetSeconds };
    },
    record(address, key) {
      const nowMs = clock.monotonicMs();
      count(windowOf(clientNetwork(address), nowMs), key);
      if (keys > keysMax) forgetEnded(nowMs);
    },
  };
}
