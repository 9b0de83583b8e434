// The last items of the log of a tenant whose commits somebody follows. Invariant: every item that was committed after
// `afterSeq` is here, in the order of the log; of an entry there is everything or nothing. Beyond the bound in bytes
// the oldest entries are dropped; the budget of the process evicts all items at once, and they are kept again from the
// next question on.

import type { Clock } from '../../core/async/clock.ts';
import { Evictable, type MemoryBudget } from './memory-budget.ts';
import { READER_LIMITS, type ReaderLimits } from './reader-limits.ts';

/** Dropped items leave the list in bulk. */
const DROPPED_MAX = 1024;

export interface RecentItem {
  readonly seq: number;
  readonly bytes: number;
}

export abstract class RecentItems<Item extends RecentItem> extends Evictable {
  readonly #budget: MemoryBudget;
  readonly #clock: Clock;
  readonly #emptyBytes: number;
  readonly #limits: ReaderLimits;
  #items: Item[] = [];
  /** Index of the oldest item. */
  #head = 0;
  #afterSeq: number;
  #lastSeq: number;
  #askedAtMs: number;
  #dropped = false;

  /** `seq`: of the last entry of the log. `emptyBytes`: of the object itself. */
  constructor(budget: MemoryBudget, clock: Clock, seq: number, emptyBytes: number, limits = READER_LIMITS) {
    super();
    this.#limits = limits;
    this.#budget = budget;
    this.#clock = clock;
    this.#emptyBytes = emptyBytes;
    this.#afterSeq = seq;
    this.#lastSeq = seq;
    this.#askedAtMs = clock.monotonicMs();
    budget.add(this, emptyBytes);
  }

  /** Whether the tenant has followers. */
  get followed(): boolean {
    return this.#clock.monotonicMs() - this.#askedAtMs < this.#limits.followedMs;
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  protected get dropped(): boolean {
    return this.#dropped;
  }

  /** Every item of the entries after this one is here. */
  get afterSeq(): number {
    return this.#afterSeq;
  }

  /** The last commit of the tenant, or the last entry before the first that was reported. */
  protected get lastSeq(): number {
    return this.#lastSeq;
  }

  /** A follower asks. */
  asked(): void {
    this.#askedAtMs = this.#clock.monotonicMs();
    this.referenced = true;
    if (this.place < 0 && !this.#dropped) this.#budget.add(this, this.bytes);
  }

  /** The items from the first one on that is after a place, in order. */
  protected *itemsAfter(isAfter: (item: Item) => boolean): Generator<Item, void, undefined> {
    let low = this.#head;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const item = this.#items[middle];
      if (item !== undefined && isAfter(item)) high = middle;
      else low = middle + 1;
    }
    for (let item = this.#items[low]; item !== undefined; item = this.#items[low]) {
      yield item;
      low += 1;
    }
  }

  /** An operation was committed. Its items are made only if they are kept. */
  protected add(seq: number, make: () => readonly Item[]): void {
    this.#lastSeq = seq;
    if (this.place < 0) {
      this.#afterSeq = seq;
      return;
    }
    let bytes = 0;
    for (const item of make()) {
      this.#items.push(item);
      bytes += item.bytes;
    }
    if (bytes === 0) return;
    this.#budget.resize(this, this.bytes + bytes);
    while (this.bytes > this.#limits.recentBytesMax && this.size > 0) this.#dropOldestEntry();
  }

  override evict(): void {
    this.#clear();
  }

  /** The tenant or its tenure has ended, or the tenant has no followers. */
  drop(): void {
    this.#dropped = true;
    this.#budget.remove(this);
    this.#clear();
  }

  #clear(): void {
    this.#items = [];
    this.#head = 0;
    this.#afterSeq = this.#lastSeq;
    this.bytes = this.#emptyBytes;
  }

  /** Nothing is known of an entry of which a part is gone. */
  #dropOldestEntry(): void {
    const seq = this.#items[this.#head]?.seq ?? this.#lastSeq;
    let bytes = 0;
    for (let oldest = this.#items[this.#head]; oldest?.seq === seq; oldest = this.#items[this.#head]) {
      bytes += oldest.bytes;
      this.#head += 1;
    }
    this.#afterSeq = seq;
    this.#budget.resize(this, this.bytes - bytes);
    if (this.#head < DROPPED_MAX) return;
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}
