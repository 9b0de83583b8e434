// A hash map for string keys that come with requests. A Map makes V8 internalize every key that it looks up in its
// string table, which costs more than the map itself. Here a lookup takes half of the time with ten thousand keys, and
// a quarter with several hundred thousand, most of which are in no processor cache.
//
// Open addressing with linear probing (Knuth, The Art of Computer Programming, volume 3, section 6.4) into a dense list
// of entries. The hashes depend on a secret of the process, so that an attacker cannot choose keys that collide; the
// order of entries does not.

import { getRandomValues } from 'node:crypto';

const BUCKETS_MIN = 8;
const [SEED = 0, FACTOR = 0] = getRandomValues(new Int32Array(2)).map((value) => value | 1);

/** Bound: V8 would look up a method for each character, since keys have many internal representations. */
export const unitAt: (key: string, index: number) => number = Function.prototype.call.bind(String.prototype.charCodeAt);

function hashOf(key: string): number {
  const { length } = key;
  let hash = SEED ^ length;
  for (let index = 0; index < length; index += 1) {
    hash = Math.imul(hash ^ unitAt(key, index), FACTOR);
    hash ^= hash >>> 15;
  }
  return hash;
}

export class StringMap<Value> {
  /** Two numbers per bucket: the hash of a key, and the number of its entry, counted from 1; 0: the bucket is empty. */
  #buckets = new Int32Array(2 * BUCKETS_MIN);
  #mask = BUCKETS_MIN - 1;
  /** Two elements per entry: its key and its value. */
  #entries: (string | Value)[] = [];

  get size(): number {
    return this.#entries.length / 2;
  }

  get(key: string): Value | undefined {
    return this.#valueOf(key, hashOf(key));
  }

  /**
   * The values of several keys. Little of a large map is in the processor's caches. Doing each step for all keys lets
   * the processor fetch what they need at the same time instead of one after another.
   */
  getMany(keys: readonly string[]): (Value | undefined)[] {
    const hashes = keys.map(hashOf);
    const entries = hashes.map((hash) => this.#buckets[2 * (hash & this.#mask) + 1] ?? 0);
    const candidates = entries.map((entry) => (entry === 0 ? undefined : this.#entries[2 * entry - 2]));
    return keys.map((key, index) => {
      if (candidates[index] === key) return this.#entries[2 * (entries[index] ?? 0) - 1] as Value;
      return this.#valueOf(key, hashes[index] ?? 0);
    });
  }

  has(key: string): boolean {
    return this.#find(key, hashOf(key)) >= 0;
  }

  set(key: string, value: Value): void {
    const hash = hashOf(key);
    const bucket = this.#find(key, hash);
    if (bucket >= 0) {
      this.#entries[this.#offsetOf(bucket) + 1] = value;
      return;
    }
    // At most three of four buckets are occupied.
    if (4 * (this.size + 1) > 3 * (this.#mask + 1)) this.#resize(2 * (this.#mask + 1));
    this.#entries.push(key, value);
    this.#occupy(hash, this.size);
  }

  /** Returns whether the key was there. The last entry takes its place in the order. */
  delete(key: string): boolean {
    const bucket = this.#find(key, hashOf(key));
    if (bucket < 0) return false;
    const offset = this.#offsetOf(bucket);
    this.#free(bucket);
    const value = this.#entries.pop() as Value;
    const lastKey = this.#entries.pop() as string;
    if (offset < this.#entries.length) {
      this.#buckets[2 * this.#bucketOfEntry(hashOf(lastKey), this.#entries.length / 2 + 1) + 1] = offset / 2 + 1;
      this.#entries[offset] = lastKey;
      this.#entries[offset + 1] = value;
    }
    const bucketCount = this.#mask + 1;
    if (bucketCount > BUCKETS_MIN && 8 * this.size < bucketCount) this.#resize(bucketCount / 2);
    return true;
  }

  clear(): void {
    this.#buckets = new Int32Array(2 * BUCKETS_MIN);
    this.#mask = BUCKETS_MIN - 1;
    this.#entries = [];
  }

  /**
   * In insertion order, as long as nothing was deleted. Consume it completely before deleting anything; otherwise it
   * may skip the entry that replaces a deleted one.
   */
  *entries(): Generator<[string, Value]> {
    for (let offset = 0; offset < this.#entries.length; offset += 2) {
      yield [this.#entries[offset] as string, this.#entries[offset + 1] as Value];
    }
  }

  *keys(): Generator<string> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): Generator<Value> {
    for (const [, value] of this.entries()) yield value;
  }

  #valueOf(key: string, hash: number): Value | undefined {
    const bucket = this.#find(key, hash);
    return bucket < 0 ? undefined : (this.#entries[this.#offsetOf(bucket) + 1] as Value);
  }

  /** The index in `#entries` of the entry of an occupied bucket. */
  #offsetOf(bucket: number): number {
    return 2 * ((this.#buckets[2 * bucket + 1] ?? 0) - 1);
  }

  /** The bucket of a key; −1: the key is missing. */
  #find(key: string, hash: number): number {
    const buckets = this.#buckets;
    const mask = this.#mask;
    for (let bucket = hash & mask; ; bucket = (bucket + 1) & mask) {
      const entry = buckets[2 * bucket + 1] ?? 0;
      if (entry === 0) return -1;
      if (buckets[2 * bucket] === hash && this.#entries[2 * (entry - 1)] === key) return bucket;
    }
  }

  #bucketOfEntry(hash: number, entry: number): number {
    let bucket = hash & this.#mask;
    while (this.#buckets[2 * bucket + 1] !== entry) bucket = (bucket + 1) & this.#mask;
    return bucket;
  }

  #occupy(hash: number, entry: number): void {
    let bucket = hash & this.#mask;
    while (this.#buckets[2 * bucket + 1] !== 0) bucket = (bucket + 1) & this.#mask;
    this.#buckets[2 * bucket] = hash;
    this.#buckets[2 * bucket + 1] = entry;
  }

  /** Empties a bucket, and moves up entries that a search would no longer find (algorithm 6.4R in Knuth). */
  #free(bucket: number): void {
    const buckets = this.#buckets;
    const mask = this.#mask;
    let hole = bucket;
    for (let next = (hole + 1) & mask; buckets[2 * next + 1] !== 0; next = (next + 1) & mask) {
      const hash = buckets[2 * next] ?? 0;
      if (((next - (hash & mask)) & mask) < ((next - hole) & mask)) continue;
      buckets[2 * hole] = hash;
      buckets[2 * hole + 1] = buckets[2 * next + 1] ?? 0;
      hole = next;
    }
    buckets[2 * hole + 1] = 0;
  }

  #resize(bucketCount: number): void {
    const former = this.#buckets;
    this.#buckets = new Int32Array(2 * bucketCount);
    this.#mask = bucketCount - 1;
    for (let offset = 0; offset < former.length; offset += 2) {
      const entry = former[offset + 1] ?? 0;
      if (entry !== 0) this.#occupy(former[offset] ?? 0, entry);
    }
  }
}
