// All strings of a listing, in order, for its next pages. They come from many lists and may be a hundred thousand, so
// they are sorted in steps: in short runs as they come, which are then merged by twos.

import { compareUtf8, EVERY_SUBJECT, sortUtf8 } from '../../core/tuples.ts';
import type { TextsQuery } from '../memory/grant-page.ts';
import { TEXTS_PER_BLOCK, type TextBlocks } from '../memory/kept-listings.ts';
import { bytesOfText } from '../memory/tuple-text.ts';
import type { FirstTexts } from './page-graph.ts';

/** Sorted at once: about a millisecond. */
const RUN_LENGTH = 2000;
/** Merged in one step. */
const MERGED_PER_STEP = 10_000;
/** Strings of one of the lists that are listed. */
const LISTED_MAX = 200_000;

/** Takes the strings of a listing, in any order, some of them several times. */
export interface TextsTaker extends TextsQuery {
  add(text: string): void;
  /** The first strings of a list, if they are known. Returns how many were examined. */
  addFirst(first: (FirstTexts & { readonly added: readonly string[] }) | undefined): number;
}

export class ListedTexts implements TextsTaker {
  readonly prefix: string;
  readonly after: string;
  readonly countMax = LISTED_MAX;
  readonly #bytesMax: number;
  #bytes = 0;
  #runs: (readonly string[])[] = [];
  #last: string[] = [];
  /** Whether some are missing: they are too many, or not all of them are in memory. */
  isPart = false;

  /**
   * Only strings after `after` that begin with `prefix`, and the subject of states. `bytesMax`: of their characters.
   */
  constructor({ prefix, after }: Pick<TextsQuery, 'prefix' | 'after'>, bytesMax: number) {
    this.prefix = prefix;
    this.after = after;
    this.#bytesMax = bytesMax;
  }

  add(text: string): void {
    if (this.isPart || (!text.startsWith(this.prefix) && text !== EVERY_SUBJECT)) return;
    if (compareUtf8(text, this.after) <= 0) return;
    this.#last.push(text);
    this.#bytes += bytesOfText(text);
    if (this.#bytes > this.#bytesMax) this.isPart = true;
    if (this.#last.length >= RUN_LENGTH) this.#endRun();
  }

  addFirst(first: (FirstTexts & { readonly added: readonly string[] }) | undefined): number {
    if (first === undefined || first.end !== undefined || first.texts.length >= this.countMax) {
      this.isPart = true;
      return 0;
    }
    for (const text of first.texts) this.add(text);
    for (const text of first.added) this.add(text);
    return first.texts.length + first.added.length;
  }

  /** Puts them in order, each once, and into blocks. An iteration ends where a step may end. */
  *into(blocks: TextBlocks): Generator<void, void> {
    this.#endRun();
    const runs = this.#runs;
    for (;;) {
      const [left = [], right] = runs;
      if (right === undefined) break;
      runs.splice(0, 2, yield* merged(left, right));
      // The shortest runs first.
      const longer = runs.shift();
      if (longer !== undefined) runs.push(longer);
    }
    const [texts = []] = runs;
    for (let start = 0; start < texts.length; start += TEXTS_PER_BLOCK) {
      blocks.add(texts.slice(start, start + TEXTS_PER_BLOCK));
      if ((start / TEXTS_PER_BLOCK) % 10 === 9) yield;
    }
  }

  #endRun(): void {
    const ascending = sortUtf8(this.#last);
    this.#runs.push(ascending.filter((text, index) => text !== ascending[index - 1]));
    this.#last = [];
  }
}

/** Both in one ascending list, each string once. */
function* merged(left: readonly string[], right: readonly string[]): Generator<void, readonly string[]> {
  const texts: string[] = [];
  let [fromLeft, fromRight] = [0, 0];
  for (;;) {
    const [one, other] = [left[fromLeft], right[fromRight]];
    const order = one === undefined ? 1 : other === undefined ? -1 : compareUtf8(one, other);
    const least = order <= 0 ? one : other;
    if (least === undefined) return texts;
    texts.push(least);
    if (order <= 0) fromLeft += 1;
    if (order >= 0) fromRight += 1;
    if (texts.length % MERGED_PER_STEP === 0) yield;
  }
}
