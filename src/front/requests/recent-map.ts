// A bounded map that forgets entries not used recently. It has two generations instead of a list in order of use, so a
// hit in the young one costs a single lookup. Invariants: at most `sizeMax` entries; an entry used among the last
// `sizeMax / 2` distinct keys is still there.

import { StringMap } from '../../core/structures/string-map.ts';

export class RecentMap<Value> {
  readonly #generationMax: number;
  #young = new StringMap<Value>();
  #old = new StringMap<Value>();

  constructor(sizeMax: number) {
    this.#generationMax = Math.max(1, Math.floor(sizeMax / 2));
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: Value): void {
    this.#old.delete(key);
    if (!this.#young.has(key) && this.#young.size >= this.#generationMax) {
      this.#old = this.#young;
      this.#young = new StringMap();
    }
    this.#young.set(key, value);
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }
}
