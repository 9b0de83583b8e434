// A set of strings in a few bits each: it has every string that was added, and takes one in a hundred of the others for
// its own (Bloom, 1970). It grows by further filters, each larger than the one before (Almeida et al., Scalable
// Bloom Filters, 2007).

import { hashWith } from './string-map.ts';

const BITS_PER_ENTRY = 12;
const PROBES = 7;
const GROWTH = 4;
const ENTRIES_MIN = 64;
/** Known to everyone: who chooses strings that collide only makes a filter of their own less useful. */
const [SEED, FACTOR, SECOND_FACTOR] = [0x811c9dc5, 0x85ebca6b, 0x9e3779b1];

interface Layer {
  readonly bits: Uint32Array;
  readonly entriesMax: number;
  entries: number;
}

export class BloomFilter {
  readonly #bytesMax: number;
  /** The last one is filled. */
  readonly #layers: Layer[] = [];
  #bytes = 0;

  /** `bytesMax`: beyond, it no longer grows, and takes more and more strings for its own. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#grow(ENTRIES_MIN);
  }

  get bytes(): number {
    return this.#bytes;
  }

  has(text: string): boolean {
    const hash = hashWith(SEED, FACTOR, text);
    return this.#layers.some((layer) => hasHash(layer, hash));
  }

  add(text: string): void {
    const hash = hashWith(SEED, FACTOR, text);
    if (this.#layers.some((layer) => hasHash(layer, hash))) return;
    let layer = this.#layers.at(-1);
    if (layer === undefined || layer.entries >= layer.entriesMax)
      layer = this.#grow(GROWTH * (layer?.entriesMax ?? ENTRIES_MIN));
    layer.entries += 1;
    for (let probe = 0; probe < PROBES; probe += 1) {
      const bit = bitOf(layer, hash, probe);
      layer.bits[bit >>> 5] = (layer.bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
    }
  }

  #grow(entriesMax: number): Layer {
    const words = Math.ceil((entriesMax * BITS_PER_ENTRY) / 32);
    const last = this.#layers.at(-1);
    if (last !== undefined && this.#bytes + 4 * words > this.#bytesMax) return last;
    const layer = { bits: new Uint32Array(words), entriesMax, entries: 0 };
    this.#layers.push(layer);
    this.#bytes += 4 * words;
    return layer;
  }
}

/** Double hashing (Kirsch and Mitzenmacher, 2006), both hashes from one. */
function bitOf({ bits }: Layer, hash: number, probe: number): number {
  const second = Math.imul(hash ^ (hash >>> 15), SECOND_FACTOR) | 1;
  return ((hash + Math.imul(probe, second)) >>> 0) % (32 * bits.length);
}

function hasHash(layer: Layer, hash: number): boolean {
  for (let probe = 0; probe < PROBES; probe += 1) {
    const bit = bitOf(layer, hash, probe);
    if (((layer.bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
  }
  return true;
}
