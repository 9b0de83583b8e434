// A hash map for string keys that come with requests. A Map makes V8 internalize every key that it looks up in its
// string table, which costs more than the map itself. Here a lookup takes half of the time with ten thousand keys, and
// a quarter with several hundred thousand, most of which are in no processor cache.
//
// Open addressing with linear probing (Knuth, The Art of Computer Programming, volume 3, section 6.4) into a dense list
// of entries. The hashes depend on a secret of the process, so that an attacker cannot choose keys that collide; the
// order of entries does not.
//
// A map of a few entries has no buckets: it compares keys one after another. Most tenants have few subjects in use, and
// the data of a rarely used tenant is in no cache of the processor, so each object less on the way counts.

import { getRandomValues } from 'node:crypto';

const BUCKETS_MIN = 8;
/** Entries up to which a search is linear: it touches about as many places in memory as buckets and one entry. */
const FEW_MAX = 4;
const [SEED = 0, FACTOR = 0] = getRandomValues(new Int32Array(2)).map((value) => value | 1);

/** Bound: V8 would look up a method for each character, since keys have many internal representations. */
export const unitAt: (key: string, index: number) => number = Function.prototype.call.bind(String.prototype.charCodeAt);

/** 32 bits. `factor`: odd. */
export function hashWith(seed: number, factor: number, key: string): number {
  const { length } = key;
  let hash = seed ^ length;
  for (let index = 0; index < length; index += 1) {
    hash = Math.imul(hash ^ unitAt(key, index), factor);
    hash ^= hash >>> 15;
  }
  return hash;
}

const hashOf = (key: string): number => hashWith(SEED, FACTOR, key);

/** The index, among the entries, of the entry of an occupied bucket. */
const offsetIn = (buckets: Int32Array, bucket: number): number => 2 * ((buckets[2 * bucket + 1] ?? 0) - 1);

export class StringMap<Value> {
  /**
   * Two numbers per bucket: the hash of a key, and the number of its entry, counted from 1; 0: the bucket is empty.
   * Undefined: there have been only a few entries so far.
   */
  #buckets: Int32Array | undefined;
  #mask = BUCKETS_MIN - 1;
  /** Two elements per entry: its key and its value. */
  #entries: (string | Value)[] = [];

  get size(): number {
    return this.#entries.length / 2;
  }

  get(key: string): Value | undefined {
    const offset = this.#offsetOf(key);
    return offset < 0 ? undefined : (this.#entries[offset + 1] as Value);
  }

  /**
   * The values of several keys. Little of a large map is in the processor's caches. Doing each step for all keys lets
   * the processor fetch what they need at the same time instead of one after another.
   */
  getMany(keys: readonly string[]): (Value | undefined)[] {
    const buckets = this.#buckets;
    if (buckets === undefined) return keys.map((key) => this.get(key));
    const hashes = keys.map(hashOf);
    const entries = hashes.map((hash) => buckets[2 * (hash & this.#mask) + 1] ?? 0);
    const candidates = entries.map((entry) => (entry === 0 ? undefined : this.#entries[2 * entry - 2]));
    return keys.map((key, index) => {
      if (candidates[index] === key) return this.#entries[2 * (entries[index] ?? 0) - 1] as Value;
      const bucket = this.#find(buckets, key, hashes[index] ?? 0);
      return bucket < 0 ? undefined : (this.#entries[offsetIn(buckets, bucket) + 1] as Value);
    });
  }

  has(key: string): boolean {
    return this.#offsetOf(key) >= 0;
  }

  set(key: string, value: Value): void {
    if (this.#buckets === undefined) {
      const offset = this.#search(key);
      if (offset >= 0) {
        this.#entries[offset + 1] = value;
        return;
      }
      if (this.size < FEW_MAX) {
        this.#entries.push(key, value);
        return;
      }
    }
    this.#setIn(this.#buckets ?? this.#index(), key, value);
  }

  #setIn(buckets: Int32Array, key: string, value: Value): void {
    const hash = hashOf(key);
    const bucket = this.#find(buckets, key, hash);
    if (bucket >= 0) {
      this.#entries[offsetIn(buckets, bucket) + 1] = value;
      return;
    }
    // At most three of four buckets are occupied.
    const isFull = 4 * (this.size + 1) > 3 * (this.#mask + 1);
    this.#entries.push(key, value);
    this.#occupy(isFull ? this.#resize(buckets, 2 * (this.#mask + 1)) : buckets, hash, this.size);
  }

  /** Returns whether the key was there. The last entry takes its place in the order. */
  delete(key: string): boolean {
    const buckets = this.#buckets;
    const bucket = buckets === undefined ? -1 : this.#find(buckets, key, hashOf(key));
    const offset = buckets === undefined ? this.#search(key) : bucket < 0 ? -1 : offsetIn(buckets, bucket);
    if (offset < 0) return false;
    if (buckets !== undefined) this.#free(buckets, bucket);
    const value = this.#entries.pop() as Value;
    const lastKey = this.#entries.pop() as string;
    if (offset < this.#entries.length) {
      this.#entries[offset] = lastKey;
      this.#entries[offset + 1] = value;
      if (buckets !== undefined) {
        const moved = this.#bucketOfEntry(buckets, hashOf(lastKey), this.#entries.length / 2 + 1);
        buckets[2 * moved + 1] = offset / 2 + 1;
      }
    }
    const bucketCount = this.#mask + 1;
    if (buckets !== undefined && bucketCount > BUCKETS_MIN && 8 * this.size < bucketCount) {
      this.#resize(buckets, bucketCount / 2);
    }
    return true;
  }

  clear(): void {
    this.#buckets = undefined;
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

  /** The index in `#entries` of a key; −1: the key is missing. */
  #offsetOf(key: string): number {
    const buckets = this.#buckets;
    if (buckets !== undefined) {
      const bucket = this.#find(buckets, key, hashOf(key));
      return bucket < 0 ? -1 : offsetIn(buckets, bucket);
    }
    return this.#search(key);
  }

  /** The same without buckets. */
  #search(key: string): number {
    const entries = this.#entries;
    for (let offset = 0; offset < entries.length; offset += 2) if (entries[offset] === key) return offset;
    return -1;
  }

  /** The bucket of a key; −1: the key is missing. */
  #find(buckets: Int32Array, key: string, hash: number): number {
    const mask = this.#mask;
    for (let bucket = hash & mask; ; bucket = (bucket + 1) & mask) {
      const entry = buckets[2 * bucket + 1] ?? 0;
      if (entry === 0) return -1;
      if (buckets[2 * bucket] === hash && this.#entries[2 * (entry - 1)] === key) return bucket;
    }
  }

  #bucketOfEntry(buckets: Int32Array, hash: number, entry: number): number {
    let bucket = hash & this.#mask;
    while (buckets[2 * bucket + 1] !== entry) bucket = (bucket + 1) & this.#mask;
    return bucket;
  }

  #occupy(buckets: Int32Array, hash: number, entry: number): void {
    let bucket = hash & this.#mask;
    while (buckets[2 * bucket + 1] !== 0) bucket = (bucket + 1) & this.#mask;
    buckets[2 * bucket] = hash;
    buckets[2 * bucket + 1] = entry;
  }

  /** Empties a bucket, and moves up entries that a search would no longer find (algorithm 6.4R in Knuth). */
  #free(buckets: Int32Array, freed: number): void {
    const mask = this.#mask;
    let hole = freed;
    for (let next = (hole + 1) & mask; buckets[2 * next + 1] !== 0; next = (next + 1) & mask) {
      const hash = buckets[2 * next] ?? 0;
      if (((next - (hash & mask)) & mask) < ((next - hole) & mask)) continue;
      buckets[2 * hole] = hash;
      buckets[2 * hole + 1] = buckets[2 * next + 1] ?? 0;
      hole = next;
    }
    buckets[2 * hole + 1] = 0;
  }

  /** Gives every entry its bucket: from now on the map has them. */
  #index(): Int32Array {
    const buckets = new Int32Array(2 * BUCKETS_MIN);
    this.#buckets = buckets;
    for (let offset = 0; offset < this.#entries.length; offset += 2) {
      this.#occupy(buckets, hashOf(this.#entries[offset] as string), offset / 2 + 1);
    }
    return buckets;
  }

  #resize(old: Int32Array, bucketCount: number): Int32Array {
    const buckets = new Int32Array(2 * bucketCount);
    this.#buckets = buckets;
    this.#mask = bucketCount - 1;
    for (let offset = 0; offset < old.length; offset += 2) {
      const entry = old[offset + 1] ?? 0;
      if (entry !== 0) this.#occupy(buckets, old[offset] ?? 0, entry);
    }
    return buckets;
  }
}
