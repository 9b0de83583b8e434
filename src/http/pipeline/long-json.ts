// Parses long JSON texts: first scans them in steps, and refuses them if they are deeper or have more values than any
// request needs; parsing then takes a few milliseconds at most.

import { assert } from '../../core/assert.ts';
import { JSON_DEPTH_MAX } from '../../core/limits.ts';
import { JsonScanner } from '../../core/text/json-scanner.ts';
import { JSON_STEP_LENGTH } from '../wire/limits.ts';

/** Parses JSON within bounds, as `parseJson` (core/text/json.ts) does, in one step per call. */
export class LongJson {
  readonly #text: string;
  readonly #scanner: JsonScanner;
  #scanned = false;
  #value: unknown = undefined;

  constructor(text: string, valuesMax: number) {
    this.#text = text;
    this.#scanner = new JsonScanner(text, { depthMax: JSON_DEPTH_MAX, valuesMax });
  }

  /** True: call again. The last step parses. Throws `invalid-request` with the fault and its place. */
  step(): boolean {
    if (this.#scanned) {
      this.#value = JSON.parse(this.#text);
      return false;
    }
    this.#scanned = !this.#scanner.step(JSON_STEP_LENGTH);
    return true;
  }

  /** Only after the last step. */
  get value(): unknown {
    assert(this.#scanned, 'a long text is read through before it is parsed');
    return this.#value;
  }
}
