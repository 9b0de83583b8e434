// Pauses between tries: each failure in a row doubles the pause up to a maximum, and where many may wait for one thing,
// a random part of it is left out, so that they do not come back as one thundering herd. A success starts over at the
// first.

import type { Random } from './clock.ts';

export interface Backoff {
  /** The pause after the first failure. */
  readonly firstMs: number;
  readonly maxMs: number;
}

/** The pause before the next try, where `failures` in a row came before the last one: 0 gives the first pause. */
export function backoffMs({ firstMs, maxMs }: Backoff, failures: number): number {
  // Far out the power is infinite, and the maximum stands.
  return Math.min(firstMs * 2 ** failures, maxMs);
}

const BYTE_MAX = 255;

/** `fullMs` less a random part of it, up to `share`: half of it where nobody says another. */
export function jitteredMs(random: Random, fullMs: number, share = 0.5): number {
  const [byte = 0] = random.bytes(1);
  return fullMs * (1 - share * (byte / BYTE_MAX));
}
