// A hash table from operation ids to a few words each, in typed arrays (open addressing with linear probing; Knuth, The
// Art of Computer Programming, volume 3, section 6.4). The arrays do not grow; the table adds a larger one instead, so
// that no step copies existing content. Invariants: every added entry is found again, and `bytes` counts all the
// memory.

import { UUID_WORDS } from '../../../core/ids.ts';

/** Slots of the first block and of the largest block. */
const BLOCK_SLOTS_MIN = 16;
const BLOCK_SLOTS_MAX = 16_384;
const BLOCK_GROWTH = 4;
/** The layout of a slot: request id, index and kind, content. */
const INDEX_WORD = UUID_WORDS;
const CONTENT_WORD = UUID_WORDS + 1;
/** An index and one of 256 kinds share a word; 0 marks an empty slot. */
export const INDEX_MAX = 2 ** 24 - 2;
/** Overhead of a typed array. */
const ARRAY_BYTES = 250;

interface Block {
  readonly words: Uint32Array;
  readonly mask: number;
  used: number;
}

/** An entry of the table. Its content begins at `at`, if entries of its kind have any. */
export interface FoundEntry {
  readonly kind: number;
  readonly words: Uint32Array;
  readonly at: number;
}

export class OperationBlocks {
  #bytes = 0;
  readonly #blocks: Block[] = [];
  readonly #slotWords: number;
  readonly #contentWords: number;

  constructor(contentWords: number) {
    this.#contentWords = contentWords;
    this.#slotWords = CONTENT_WORD + contentWords;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** `source` has the request id, then the content. */
  add(source: Uint32Array, index: number, kind: number): void {
    const { words, mask } = this.#blockWithSpace();
    let slot = slotOf(source, index) & mask;
    while (words[this.#slotWords * slot + INDEX_WORD] !== 0) slot = (slot + 1) & mask;
    const at = this.#slotWords * slot;
    for (let word = 0; word < UUID_WORDS; word += 1) words[at + word] = source[word] ?? 0;
    words[at + INDEX_WORD] = ((index + 1) << 8) | kind;
    for (let word = 0; word < this.#contentWords; word += 1) {
      words[at + CONTENT_WORD + word] = source[UUID_WORDS + word] ?? 0;
    }
  }

  /** At most three of four slots are used. */
  #blockWithSpace(): Block {
    const last = this.#blocks.at(-1);
    if (last !== undefined && 4 * (last.used + 1) <= 3 * (last.mask + 1)) {
      last.used += 1;
      return last;
    }
    const slots = last === undefined ? BLOCK_SLOTS_MIN : Math.min(BLOCK_GROWTH * (last.mask + 1), BLOCK_SLOTS_MAX);
    const block = { words: new Uint32Array(this.#slotWords * slots), mask: slots - 1, used: 1 };
    this.#blocks.push(block);
    this.#bytes += ARRAY_BYTES + block.words.byteLength;
    return block;
  }

  /** `source` begins with the request id. */
  find(source: Uint32Array, index: number): FoundEntry | undefined {
    if (this.#bytes === 0) return undefined;
    const [first, second, third, fourth] = [source[0], source[1], source[2], source[3]];
    for (const { words, mask } of this.#blocks) {
      for (let slot = slotOf(source, index) & mask; ; slot = (slot + 1) & mask) {
        const at = this.#slotWords * slot;
        const indexAndKind = words[at + INDEX_WORD] ?? 0;
        if (indexAndKind === 0) break;
        if (
          indexAndKind >>> 8 === index + 1 &&
          words[at + 3] === fourth &&
          words[at + 2] === third &&
          words[at + 1] === second &&
          words[at] === first
        ) {
          return { kind: indexAndKind & 255, words, at: at + CONTENT_WORD };
        }
      }
    }
    return undefined;
  }
}

/** The slot at which the search for an id starts. The last word of a UUIDv7 is random. */
const slotOf = (source: Uint32Array, index: number): number =>
  (source[UUID_WORDS - 1] ?? 0) ^ Math.imul(index, 0x9e3779b1);
