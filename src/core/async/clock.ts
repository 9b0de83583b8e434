// Time and randomness as ports, so that all decisions can run on virtual time and a seed.

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since an arbitrary moment; never goes back, and runs whenever the process could run. */
  monotonicMs(): number;
  /** Whole milliseconds since the Unix epoch; may jump. */
  wallMs(): number;
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
