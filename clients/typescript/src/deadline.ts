// The deadline of one call, and its cancellation by the caller. Invariant: work under a deadline settles when the
// deadline passes or the caller cancels, even if the fetch function in use ignores its signal.

import { GrantdError } from './error.ts';

export class Deadline {
  readonly endMs: number;
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #cancelled: AbortSignal | undefined;
  readonly #onCancel = (): void => this.#end('cancelled', 'The caller has cancelled the call.');

  constructor(timeoutMs: number, cancelled: AbortSignal | undefined) {
    this.endMs = performance.now() + timeoutMs;
    this.#timer = setTimeout(() => {
      this.#end('timeout', `There was no response within ${timeoutMs} ms.`);
    }, timeoutMs);
    this.#cancelled = cancelled;
    if (cancelled?.aborted) this.#onCancel();
    else cancelled?.addEventListener('abort', this.#onCancel, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The result of the work, or the error that ended it early. */
  bound<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    return new Promise<T>((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason);
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
      work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    });
  }

  /** False, at once, if the deadline would pass meanwhile. */
  async wait(durationMs: number): Promise<boolean> {
    if (performance.now() + durationMs >= this.endMs) return false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      await this.bound(
        new Promise<void>((resolve) => {
          timer = setTimeout(resolve, durationMs);
        }),
      );
    } finally {
      clearTimeout(timer);
    }
    return true;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#cancelled?.removeEventListener('abort', this.#onCancel);
  }

  #end(type: 'timeout' | 'cancelled', detail: string): void {
    this.#controller.abort(new GrantdError(type, 0, detail, { cause: this.#cancelled?.reason }));
  }
}
