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

/** ISO 8601 in UTC with milliseconds and `Z`. */
export function formatTimestamp(wallMs: number): string {
  return new Date(wallMs).toISOString();
}
