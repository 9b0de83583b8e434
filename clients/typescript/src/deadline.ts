// The deadline of one call, and its cancellation by the caller. Invariant: work under a deadline settles when the
// deadline passes or the caller cancels, even if the fetch function in use ignores its signal.

import { GrantdError } from './error.ts';

/** A timer that is set for longer ends at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** A timeout of any length. `Infinity`: it never ends. */
class Timer {
  readonly #endMs: number;
  readonly #end: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(end: () => void, durationMs: number) {
    this.#end = end;
    this.#endMs = performance.now() + durationMs;
    this.#set();
  }

  #set(): void {
    const leftMs = Math.max(this.#endMs - performance.now(), 0);
    if (leftMs > TIMER_MS_MAX) this.#timer = setTimeout(() => this.#set(), TIMER_MS_MAX);
    else this.#timer = setTimeout(this.#end, leftMs);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}

export class Deadline {
  readonly endMs: number;
  readonly #controller = new AbortController();
  readonly #timer: Timer;
  readonly #cancelled: AbortSignal | undefined;
  readonly #onCancel = (): void => this.#end('cancelled', 'The caller has cancelled the call.');

  constructor(timeoutMs: number, cancelled: AbortSignal | undefined) {
    if (typeof timeoutMs !== 'number' || !(timeoutMs >= 0)) {
      throw new GrantdError('invalid-request', 400, '"options.timeoutMs" must be a number of milliseconds.');
    }
    this.endMs = performance.now() + timeoutMs;
    this.#timer = new Timer(() => this.#end('timeout', `There was no response within ${timeoutMs} ms.`), timeoutMs);
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
    let timer: Timer | undefined;
    try {
      await this.bound(
        new Promise<void>((resolve) => {
          timer = new Timer(resolve, durationMs);
        }),
      );
    } finally {
      timer?.clear();
    }
    return true;
  }

  close(): void {
    this.#timer.clear();
    this.#cancelled?.removeEventListener('abort', this.#onCancel);
  }

  #end(type: 'timeout' | 'cancelled', detail: string): void {
    this.#controller.abort(new GrantdError(type, 0, detail, { cause: this.#cancelled?.reason }));
  }
}
