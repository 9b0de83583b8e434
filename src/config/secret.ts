// A secret in the configuration. It has no text form of its own: whatever prints, logs or serialises it shows that it
// is there and nothing else. Only `reveal` gives it out, at the one place that needs it.

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
