// The last changes of a tenant whose change feed has followers, so that followers at its end never read the store.
// Invariant: every change of the feed that was committed after `afterSeq` is here, in the order of the log. Each tenant
// has a bound in changes and bytes, beyond which the oldest are dropped; the budget of the process evicts a tenant's
// changes as a whole. A tenant without followers for a while has none.

import type { Clock } from '../../core/async/clock.ts';
import { type FeedContent, type FeedPlace, isAfter, isFeedAction, parseFeedContent } from '../../core/change-feed.ts';
import type { AuditLogRow } from '../../store/store.ts';
import { AUDIT_ACTION_OF, auditLogRow, type Change, type ChangeOrigin } from '../log-changes.ts';
import { Evictable, type MemoryBudget } from './memory-budget.ts';

/** Seconds of a tenant that writes as fast as it can: as long as a follower takes to come back after a failover. */
const CHANGES_MAX = 4096;
const BYTES_MAX = 2 * 1024 * 1024;
/** Of a change, without the characters of its text; and of the object itself. */
const CHANGE_BYTES = 400;
const RING_BYTES = 500;
/** Characters are in the text of a change and, once it was filtered, in its content. */
const BYTES_PER_CHARACTER = 2;
/** After this time without a call, the tenant has no followers: they call every few seconds. */
const FOLLOWED_MS = 60_000;
/** Dropped changes leave the list in bulk. */
const DROPPED_MAX = 1024;

export interface RecentChange {
  readonly row: AuditLogRow;
  /** Time of its entry, wall clock in ms. */
  readonly timeMs: number;
  readonly bytes: number;
  /** Read from the row when a filter first needs it. */
  content: FeedContent | undefined;
  /** Signed at its first delivery. */
  cursor: string | undefined;
}

export const contentOf = (change: RecentChange): FeedContent | undefined => {
  change.content ??= parseFeedContent(change.row.change);
  return change.content;
};

export class RecentChanges extends Evictable {
  readonly #budget: MemoryBudget;
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #changes: RecentChange[] = [];
  /** Index of the oldest change. */
  #head = 0;
  #afterSeq: number;
  #lastSeq: number;
  #askedAtMs: number;
  #dropped = false;

  /** `seq`: of the last entry of the log. Its commits from here on are reported to `commit`. */
  constructor(budget: MemoryBudget, clock: Clock, seq: number) {
    super();
    this.#budget = budget;
    this.#clock = clock;
    this.#afterSeq = seq;
    this.#lastSeq = seq;
    this.#askedAtMs = clock.monotonicMs();
    budget.add(this, RING_BYTES);
  }

  /** Whether the tenant has followers. */
  get followed(): boolean {
    return this.#waiting.size > 0 || this.#clock.monotonicMs() - this.#askedAtMs < FOLLOWED_MS;
  }

  get size(): number {
    return this.#changes.length - this.#head;
  }

  /** Calls that wait for the next commit. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** A call follows the tenant. */
  asked(): void {
    this.#askedAtMs = this.#clock.monotonicMs();
    this.referenced = true;
    if (this.place < 0 && !this.#dropped) this.#budget.add(this, this.bytes);
  }

  /** Whether every change after the place is here. */
  covers({ seq }: FeedPlace): boolean {
    return seq > this.#afterSeq;
  }

  /** The changes after a place that it covers, in order. */
  *after(place: FeedPlace): Generator<RecentChange, void, undefined> {
    for (let index = this.#firstAfter(place); index < this.#changes.length; index += 1) {
      const change = this.#changes[index];
      if (change !== undefined) yield change;
    }
  }

  /** The changes of an operation. `index`: of its first one in the entry. Wakes every call that waits. */
  commit(changes: readonly Change[], origin: ChangeOrigin, place: FeedPlace & { readonly timeMs: number }): void {
    this.#lastSeq = place.seq;
    if (this.place < 0) this.#afterSeq = place.seq;
    else this.#add(changes, origin, place);
    this.#wake();
  }

  #add(changes: readonly Change[], origin: ChangeOrigin, place: FeedPlace & { readonly timeMs: number }): void {
    const { seq, timeMs } = place;
    let { index } = place;
    let bytes = 0;
    for (const change of changes) {
      if (isFeedAction(AUDIT_ACTION_OF[change.kind])) {
        const row = auditLogRow(change, origin, seq, index);
        const held = CHANGE_BYTES + 2 * BYTES_PER_CHARACTER * row.change.length;
        this.#changes.push({ row, timeMs, bytes: held, content: undefined, cursor: undefined });
        bytes += held;
      }
      index += 1;
    }
    if (bytes === 0) return;
    this.#resize(bytes);
    while (this.size > CHANGES_MAX || (this.bytes > BYTES_MAX && this.size > 0)) this.#dropOldestEntry();
  }

  /** Calls back once, unless `forget` comes first: after the tenant's next commit, or when its tenure has ended. */
  wait(waiter: () => void): void {
    if (this.#dropped) waiter();
    else this.#waiting.add(waiter);
  }

  forget(waiter: () => void): void {
    this.#waiting.delete(waiter);
  }

  /** Readers find evicted changes in the store. Changes are kept again from the next call on. */
  override evict(): void {
    this.#clear();
  }

  /** The tenant or its tenure has ended, or the tenant has no followers. Calls back every waiting call. */
  drop(): void {
    this.#dropped = true;
    this.#budget.remove(this);
    this.#clear();
    this.#wake();
  }

  #clear(): void {
    this.#changes = [];
    this.#head = 0;
    this.#afterSeq = this.#lastSeq;
    this.bytes = RING_BYTES;
  }

  #wake(): void {
    if (this.#waiting.size === 0) return;
    const woken = [...this.#waiting];
    this.#waiting.clear();
    for (const waiter of woken) waiter();
  }

  #resize(bytes: number): void {
    this.#budget.resize(this, this.bytes + bytes);
  }

  /** Nothing is known of an entry of which a part is gone. */
  #dropOldestEntry(): void {
    const seq = this.#changes[this.#head]?.row.seq ?? this.#lastSeq;
    let bytes = 0;
    while (this.#changes[this.#head]?.row.seq === seq) {
      bytes += this.#changes[this.#head]?.bytes ?? 0;
      this.#head += 1;
    }
    this.#afterSeq = seq;
    this.#resize(-bytes);
    if (this.#head < DROPPED_MAX) return;
    this.#changes = this.#changes.slice(this.#head);
    this.#head = 0;
  }

  #firstAfter(place: FeedPlace): number {
    let low = this.#head;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const row = this.#changes[middle]?.row;
      if (row !== undefined && isAfter(row, place)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
