// Draws by popularity: the item of rank r is drawn in proportion to 1 / r^s (Zipf). Invariant: the same seed gives the
// same draws on every machine, so that all runs and all systems get the same checks.

/** The exponent that benchmarks of caches commonly use (YCSB; Cooper et al., 2010). */
export const ZIPF_EXPONENT = 0.99;

/** Numbers from 0 to below 1, by xorshift (Marsaglia, 2003). */
function* uniformFrom(seed: number): Generator<number, never> {
  let state = seed | 0 || 1;
  for (;;) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    yield (state >>> 0) / 2 ** 32;
  }
}

export class Zipf {
  /** The share of all draws that go to the ranks up to each. */
  readonly #shares: Float64Array;

  constructor(items: number, exponent = ZIPF_EXPONENT) {
    const shares = new Float64Array(items);
    let sum = 0;
    for (let rank = 1; rank <= items; rank += 1) {
      sum += rank ** -exponent;
      shares[rank - 1] = sum;
    }
    this.#shares = shares.map((share) => share / sum);
  }

  /** The share of all draws that go to the most popular items: what a perfect cache of so many would hit. */
  shareOf(items: number): number {
    return items <= 0 ? 0 : (this.#shares[Math.min(items, this.#shares.length) - 1] ?? 1);
  }

  /** Ranks without end, from 0. */
  *draws(seed: number): Generator<number, never> {
    const uniforms = uniformFrom(seed);
    for (;;) yield this.#rankAt(uniforms.next().value);
  }

  /** The first rank whose share exceeds the number. */
  #rankAt(uniform: number): number {
    let low = 0;
    let high = this.#shares.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#shares[middle] ?? 1) > uniform) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
