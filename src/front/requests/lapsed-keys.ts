// Keys that this front had verified until their owner refused them: revoked ones, and those that a fault made an owner
// refuse. For some minutes, the owner is asked again whatever else the client's address has failed at, so that a fault
// does not outlast itself. Invariants: each is asked about ever more seldom, so a revoked key that a client goes on
// sending costs its owner little, and then has the limits of any other unknown key; an exemption is for that key alone.
// Only hashes are remembered, and a bounded number.

import type { Clock } from '../../core/async/clock.ts';
import { shortHash } from '../limits/failure-limiter.ts';
import { RecentMap } from './recent-map.ts';

/** About 150 bytes each. */
const KEYS_MAX_DEFAULT = 10_000;
/** How long after its last success a key is exempt. */
const LAPSED_MS_MAX = 600_000;
/** The pause between two questions about a key: a tenth of the time since its last success, so about 50 in all. */
const PAUSE_RATIO = 0.1;
const PAUSE_MS_MIN = 250;

interface LapsedKey {
  /** Both on the monotonic clock. */
  readonly lapsedAtMs: number;
  nextAtMs: number;
}

export class LapsedKeys {
  readonly #clock: Clock;
  readonly #keys: RecentMap<LapsedKey>;

  constructor(clock: Clock, keysMax = KEYS_MAX_DEFAULT) {
    this.#clock = clock;
    this.#keys = new RecentMap(keysMax);
  }

  /** The owner has just refused a key that it had accepted. */
  add(key: string): void {
    const nowMs = this.#clock.monotonicMs();
    this.#keys.set(shortHash(key), { lapsedAtMs: nowMs, nextAtMs: nowMs });
  }

  /** Whether the owner is to be asked about the key now. True takes the question. */
  mayAskAgain(key: string): boolean {
    if (this.#keys.size === 0) return false;
    const hash = shortHash(key);
    const lapsed = this.#keys.get(hash);
    if (lapsed === undefined) return false;
    const nowMs = this.#clock.monotonicMs();
    const sinceMs = nowMs - lapsed.lapsedAtMs;
    if (sinceMs >= LAPSED_MS_MAX) {
      this.#keys.delete(hash);
      return false;
    }
    if (nowMs < lapsed.nextAtMs) return false;
    lapsed.nextAtMs = nowMs + Math.max(PAUSE_MS_MIN, PAUSE_RATIO * sinceMs);
    return true;
  }
}
