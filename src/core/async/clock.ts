// Time and randomness as ports, so that everything that decides can run on virtual time and a seed.

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since an arbitrary moment; never goes back and runs while the process could run. */
  monotonicMs(): number;
  /** Milliseconds since the Unix epoch, whole; may jump. */
  wallMs(): number;
  /** Calls `run` once, not before `delayMs` has passed on the monotonic clock. Does not keep the process alive. */
  setTimer(run: () => void, delayMs: number): Timer;
  /** Calls `run` soon, after the I/O that is ready now has been taken in. */
  setImmediate(run: () => void): void;
}

export interface Random {
  /** `length` unpredictable bytes. */
  bytes(length: number): Uint8Array;
}

/** Resolves after `delayMs`; rejects with the reason of `signal` once that aborts, and leaves no timer. */
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
