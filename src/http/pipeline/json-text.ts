// Parses JSON text. A short text is parsed directly: that is quick for any content. A long one is first scanned in
// steps, and refused if it is deeper or has more values than a request has reason to; parsing then takes a few
// milliseconds at most. The engine's own message only sometimes names a position, and it quotes the body, so the
// scanner finds the place of an error.

import { assert } from '../../core/assert.ts';
import { JSON_DEPTH_MAX, JSON_STEP_LENGTH, JSON_VALUES_MAX } from '../wire/limits.ts';
import { JsonScanner } from './json-scanner.ts';

const UNBOUNDED = { depthMax: Number.POSITIVE_INFINITY, valuesMax: Number.POSITIVE_INFINITY };
const BOUNDED = { depthMax: JSON_DEPTH_MAX, valuesMax: JSON_VALUES_MAX };

/**
 * The value of a JSON text; of repeated names the last one counts. Throws `invalid-request` that says where it breaks.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    new JsonScanner(text, UNBOUNDED).step(text.length);
    throw error;
  }
}

/** Like `parseJson` within the bounds of long texts, one step per call; true: there is more to do. */
export class LongJson {
  readonly #text: string;
  readonly #scanner: JsonScanner;
  #scanned = false;
  #value: unknown = undefined;

  constructor(text: string) {
    this.#text = text;
    this.#scanner = new JsonScanner(text, BOUNDED);
  }

  /** The last step parses. Throws `invalid-request` that says what is wrong and where. */
  step(): boolean {
    if (this.#scanned) {
      this.#value = JSON.parse(this.#text);
      return false;
    }
    this.#scanned = !this.#scanner.step(JSON_STEP_LENGTH);
    return true;
  }

  /** To be read once there is nothing more to do. */
  get value(): unknown {
    assert(this.#scanned, 'a long text is read through before it is parsed');
    return this.#value;
  }
}
