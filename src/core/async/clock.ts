// Time and randomness as ports, so that all decisions can run on virtual time and a seed; and the pauses between
// attempts that are measured with them.

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since an arbitrary moment; never goes back, and runs whenever the process could run. */
  monotonicMs(): number;
  /** Whole milliseconds since the Unix epoch; may jump. */
  wallMs(): number;
  /** Milliseconds for which the event loop has waited for something to do, since an arbitrary moment. */
  idleMs(): number;
  /** Calls `run` once, at the earliest after `delayMs` on the monotonic clock. Does not keep the process alive. */
  setTimer(run: () => void, delayMs: number): Timer;
  /** Calls `run` soon, after pending I/O. */
  setImmediate(run: () => void): void;
}

export interface Random {
  /** `length` unpredictable bytes. */
  bytes(length: number): Uint8Array;
}

/** Resolves after `delayMs`. Rejects with the reason of `signal` once that aborts, and then leaves no timer. */
export function delay(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.setTimer(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, delayMs);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Exponential backoff: each consecutive failure doubles the pause, up to a maximum. A success resets it. */
export interface Backoff {
  /** The pause after the first failure. */
  readonly firstMs: number;
  readonly maxMs: number;
}

/** The pause before the next attempt, after `failures` earlier consecutive failures: 0 gives the first pause. */
export function backoffMs({ firstMs, maxMs }: Backoff, failures: number): number {
  // For large values the power is infinite, and the maximum applies.
  return Math.min(firstMs * 2 ** failures, maxMs);
}

const BYTE_MAX = 255;

/** `fullMs` minus a random part of it, at most `share` (by default half), to avoid a thundering herd. */
export function jitteredMs(random: Random, fullMs: number, share = 0.5): number {
  const [byte = 0] = random.bytes(1);
  return fullMs * (1 - share * (byte / BYTE_MAX));
}

/** Settles as `work` does, or rejects with the reason of `signal` once that aborts. The work goes on. */
export async function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const aborted = Promise.withResolvers<never>();
  const stop = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
    // If the signal came first, no caller handles a later failure of the work.
    work.catch(() => {});
  }
}
