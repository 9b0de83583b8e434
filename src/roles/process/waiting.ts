// Waiting for work as the roles do it: never past the signal that ends the process.

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
