// The memory budget of the shards of a process: everything that can be read again from the store is held under one bound in bytes. When
// it is exceeded the least recently used goes, by second chance (CLOCK; Corbató, 1968): a use costs one assignment.

import type { Metrics } from '../telemetry/metrics.ts';

export abstract class Evictable {
  /** Estimated bytes held. Changed through the budget only. */
  bytes = 0;
  /** Set at every use; cleared when the hand passes. */
  referenced = true;
  /** Greater than zero while somebody relies on it: it stays. */
  pins = 0;
  /** Its place in the budget, −1 outside. The budget's own. */
  place = -1;

  /** Lets go of the content. Called by the budget after it has taken the item out. */
  abstract evict(): void;
}

/** Places that the hand passes in one call: what it does not free, the next call goes on with. */
const HAND_STEPS_MAX = 4096;

/** The budget of a process, seen in its metrics. */
export function createMemoryBudget(metrics: Metrics, bytesMax: number): MemoryBudget {
  const budget = new MemoryBudget(bytesMax);
  let reported = 0;
  metrics.onRender(() => {
    metrics.pageCacheBytes.inc(budget.bytes);
    metrics.pageCacheEvictions.inc(budget.evictions - reported);
    reported = budget.evictions;
  });
  return budget;
}

export class MemoryBudget {
  readonly bytesMax: number;
  #bytes = 0;
  #evictions = 0;
  #hand = 0;
  readonly #items: Evictable[] = [];

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get evictions(): number {
    return this.#evictions;
  }

  add(item: Evictable, bytes: number): void {
    item.place = this.#items.length;
    item.bytes = bytes;
    item.referenced = true;
    this.#items.push(item);
    this.#bytes += bytes;
    this.#shrink();
  }

  /** Takes an item out without evicting it. */
  remove(item: Evictable): void {
    if (item.place < 0) return;
    this.#bytes -= item.bytes;
    const last = this.#items.pop();
    if (last !== undefined && last !== item) {
      last.place = item.place;
      this.#items[item.place] = last;
    }
    item.place = -1;
  }

  /** An item has grown or shrunk. */
  resize(item: Evictable, bytes: number): void {
    if (item.place >= 0) this.#bytes += bytes - item.bytes;
    item.bytes = bytes;
    this.#shrink();
  }

  #shrink(): void {
    let steps = Math.min(HAND_STEPS_MAX, this.#items.length * 2);
    while (this.#bytes > this.bytesMax && steps > 0) {
      steps -= 1;
      if (this.#hand >= this.#items.length) this.#hand = 0;
      const item = this.#items[this.#hand];
      if (item === undefined) return;
      if (item.pins > 0 || item.referenced) {
        item.referenced = false;
        this.#hand += 1;
        continue;
      }
      // The last item takes the place: the hand looks at it next.
      this.remove(item);
      this.#evictions += 1;
      item.evict();
    }
  }
}
