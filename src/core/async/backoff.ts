// Pauses between attempts. Each consecutive failure doubles the pause, up to a maximum. If many clients may wait for
// the same thing, a random part of the pause is left out, to avoid a thundering herd. A success resets the pause.

import type { Random } from './clock.ts';

export interface Backoff {
  /** The pause after the first failure. */
  readonly firstMs: number;
  readonly maxMs: number;
}

/** The pause before the next attempt, after `failures` earlier consecutive failures: 0 gives the first pause. */
export function backoffMs({ firstMs, maxMs }: Backoff, failures: number): number {
  // For large values the power is infinite, and the maximum applies.
  return Math.min(firstMs * 2 ** failures, maxMs);
}

const BYTE_MAX = 255;

/** `fullMs` minus a random part of it, at most `share` (by default half). */
export function jitteredMs(random: Random, fullMs: number, share = 0.5): number {
  const [byte = 0] = random.bytes(1);
  return fullMs * (1 - share * (byte / BYTE_MAX));
}
