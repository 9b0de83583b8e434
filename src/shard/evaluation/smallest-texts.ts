// The smallest of many strings by the bytes of UTF-8, each once: a page of a listing whose items come from many lists.

import { compareUtf8, sortUtf8 } from '../../core/tuples.ts';

export class SmallestTexts {
  readonly #countMax: number;
  readonly #prefix: string;
  readonly #after: string;
  /** Ascending up to `#sorted`, then unordered. */
  #texts: string[] = [];
  #sorted = 0;

  /** Only strings after `after` that begin with `prefix`. */
  constructor(countMax: number, after: string, prefix: string) {
    this.#countMax = countMax;
    this.#prefix = prefix;
    this.#after = after;
  }

  /** Whether the string, and so every greater one of its list, is too great to be among them. */
  isBeyond(text: string): boolean {
    if (this.#prefix !== '' && !text.startsWith(this.#prefix)) return compareUtf8(text, this.#prefix) > 0;
    const last = this.#sorted < this.#countMax ? undefined : this.#texts[this.#countMax - 1];
    return last !== undefined && compareUtf8(text, last) > 0;
  }

  add(text: string): void {
    if (!text.startsWith(this.#prefix) || compareUtf8(text, this.#after) <= 0 || this.isBeyond(text)) return;
    this.#texts.push(text);
    if (this.#texts.length >= 2 * this.#countMax + 64) this.#sort();
  }

  /** Ascending. */
  get texts(): readonly string[] {
    this.#sort();
    return this.#texts;
  }

  #sort(): void {
    const ascending = sortUtf8(this.#texts).filter((text, index, texts) => text !== texts[index - 1]);
    this.#texts = ascending.slice(0, this.#countMax);
    this.#sorted = this.#texts.length;
  }
}
