// Randomness from a seed: the same text gives the same numbers, on every machine. sfc32 (Chris Doty-Humphrey,
// PractRand), seeded with the first 16 bytes of SHA-256 over the text. `fork` gives an independent sequence by name, so
// that a draw more in one part of a run does not change every other part.

import { createHash } from 'node:crypto';
import type { Random } from '../../src/core/async/clock.ts';

export class SeededRandom implements Random {
  readonly #seed: string;
  #a: number;
  #b: number;
  #c: number;
  #count: number;

  constructor(seed: string) {
    this.#seed = seed;
    const digest = createHash('sha256').update(seed).digest();
    this.#a = digest.readInt32LE(0);
    this.#b = digest.readInt32LE(4);
    this.#c = digest.readInt32LE(8);
    this.#count = digest.readInt32LE(12);
  }

  fork(name: string): SeededRandom {
    return new SeededRandom(`${this.#seed}/${name}`);
  }

  /** 32 bits, unsigned. */
  word(): number {
    const sum = (this.#a + this.#b + this.#count) | 0;
    this.#count = (this.#count + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    this.#c |= 0;
    return sum >>> 0;
  }

  /** 0 to 1, 1 excluded. */
  fraction(): number {
    return this.word() / 0x1_0000_0000;
  }

  /** A real number from `low` to `high`. */
  between(low: number, high: number): number {
    return low + (high - low) * this.fraction();
  }

  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number {
    return low + Math.floor((high - low + 1) * this.fraction());
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(items.length * this.fraction())];
    if (item === undefined) throw new Error('Nothing to pick from.');
    return item;
  }

  /** One of the names, each as often as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const names = Object.keys(weights) as Name[];
    let rest = names.reduce((sum, name) => sum + weights[name], 0) * this.fraction();
    for (const name of names) {
      rest -= weights[name];
      if (rest < 0) return name;
    }
    return this.pick(names);
  }

  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    let word = 0;
    for (let index = 0; index < length; index += 1) {
      if (index % 4 === 0) word = this.word();
      bytes[index] = word;
      word >>>= 8;
    }
    return bytes;
  }
}
