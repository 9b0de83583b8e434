// Grants that a search has enumerated and not looked at yet, a bounded number of which a step looks at.

import type { Adjacent, SearchCost } from './graph.ts';

/** Grants that one step looks at. */
const GRANTS_PER_STEP = 64;

export class Sources<Source extends Adjacent> {
  readonly #sources: Source[] = [];
  /** Of the last source: where to go on. */
  #at = 0;

  get isEmpty(): boolean {
    return this.#sources.length === 0;
  }

  add(source: Source): void {
    if (source.texts.length > 0) this.#sources.push(source);
  }

  /** Looks at the next ones. `onText` ends it by returning true. What the bound of grants forbids is dropped. */
  look(cost: SearchCost, onText: (source: Source, text: string) => boolean): void {
    const source = this.#sources.at(-1);
    if (source === undefined) return;
    const { texts } = source;
    const start = this.#at;
    const end = start + cost.look(Math.min(texts.length - start, GRANTS_PER_STEP));
    let index = start;
    for (let ends = false; index < end && !ends; index += 1) ends = onText(source, texts[index] ?? '');
    this.#at = index;
    if (index < texts.length && end > start) return;
    this.#sources.pop();
    this.#at = 0;
  }
}
