// Waits for work, but never past the signal that ends the process.

/** Like `work`, but rejects with the reason of `signal` once that aborts, whatever happens to the work. */
export async function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const stop = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
    // If the signal came first, no caller handles a later failure of the work.
    work.catch(() => {});
  }
}
