// A secret in the configuration. It has no text form: code that prints, logs or serialises it shows only that it
// exists. Only `reveal` returns it, at the one place that needs it.

import { inspect } from 'node:util';

const REDACTED = '[redacted]';

export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [inspect.custom](): string {
    return REDACTED;
  }
}
