// Where the commits of a tenant last touched a relation on the objects of a namespace: what mirrors these grants has to
// be that far for an answer. Kept from the first such question of a tenure on. Invariant: no later commit has touched
// the relation there than `lastOf` says; it may say a later place than the last one.

import { bytesOfText } from './tuple-text.ts';

/** Bounds what a tenant with many relations keeps, as few have: a quarter of a megabyte at most. */
const PAIRS_MAX = 1000;
/** Estimated bytes of a pair, without its characters. */
const PAIR_BYTES = 80;

const keyOf = (namespace: string, relation: string): string => `${namespace} ${relation}`;

export class TouchedRelations {
  readonly #hold: (bytes: number) => void;
  #seqs = new Map<string, number>();
  #bytes = 0;
  /** Of the relations that are not among them: a place that none was touched behind. */
  #floor: number;

  /** `floor`: no commit of the tenant came after this seq. `hold`: is told how many more bytes it takes. */
  constructor(floor: number, hold: (bytes: number) => void) {
    this.#floor = floor;
    this.#hold = hold;
  }

  commit(namespace: string, relation: string, seq: number): void {
    const key = keyOf(namespace, relation);
    if (!this.#seqs.has(key)) this.#add(key, seq);
    this.#seqs.set(key, seq);
  }

  #add(key: string, seq: number): void {
    if (this.#seqs.size >= PAIRS_MAX) {
      this.#seqs.clear();
      this.#hold(-this.#bytes);
      this.#bytes = 0;
      this.#floor = seq;
    }
    const bytes = PAIR_BYTES + bytesOfText(key);
    this.#bytes += bytes;
    this.#hold(bytes);
  }

  /** The seq up to which these were touched at the latest. */
  lastOf(relations: Iterable<{ readonly namespace: string; readonly relations: readonly string[] }>): number {
    let last = 0;
    for (const { namespace, relations: each } of relations) {
      for (const relation of each) last = Math.max(last, this.#seqs.get(keyOf(namespace, relation)) ?? this.#floor);
    }
    return last;
  }

  drop(): void {
    this.#seqs.clear();
  }
}
