// Waiting as the roles do it: for a time or for a condition, and never past the signal that ends the process.

import type { Clock } from '../core/clock.ts';

/** Resolves after `delayMs`; rejects with the reason of `signal` once that aborts. */
export async function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
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

/** As `work`, but rejects with the reason of `signal` once that aborts, whatever becomes of the work. */
export async function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const stop = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
    // Where the signal was first, a later failure of the work is nobody's any more.
    work.catch(() => {});
  }
}
