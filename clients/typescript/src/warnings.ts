// Warnings: hints for developers that the service sends in a header. Invariant: each text is shown at most once, with
// nothing but the header.

/** Bounds the log and the memory if every text differs. */
const TEXTS_MAX = 100;
/** A log shows it as it is: it has neither line breaks nor control characters. */
const TEXT = /^[ -~]{1,1024}$/;

export class Warnings {
  readonly #show: (warning: string) => void;
  readonly #shown = new Set<string>();

  constructor(show: (warning: string) => void) {
    this.#show = show;
  }

  /** Shows the warnings of a response. */
  showIn(headers: Headers): void {
    const text = headers.get('x-service-warning') ?? '';
    if (!TEXT.test(text) || this.#shown.has(text) || this.#shown.size >= TEXTS_MAX) return;
    this.#shown.add(text);
    try {
      this.#show(text);
    } catch {
      // A log that fails must not fail a call.
    }
  }
}
