// The last items of the log of a tenant that has followers or readers: changes for the change feed, so that followers
// at its end never read the store, and commits for readers, which begin again if they lack one that is gone. Invariant:
// every item that was committed after `afterSeq` is here, in the order of the log; of an entry there is everything or
// nothing. Beyond the bound in bytes the oldest entries are dropped; the budget of the process evicts all items at
// once, and they are kept again from the next question on.

import type { Clock } from '../../core/async/clock.ts';
import { type FeedContent, type FeedPlace, isAfter, isFeedAction, parseFeedContent } from '../../core/change-feed.ts';
import type { AuditLogRow } from '../../store/store.ts';
import { auditActionOf, auditLogRow, type Change, type ChangeOrigin, encodeCommit } from '../log-changes.ts';
import { READER_LIMITS, type ReaderLimits } from './limits.ts';
import { Evictable, type MemoryBudget } from './memory-budget.ts';

const BYTES_PER_CHARACTER = 2;
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

// ---- changes, for the feed ----

/** Memory of a change, without the characters of its text; and of the object itself. */
const CHANGE_BYTES = 400;
const EMPTY_CHANGES_BYTES = 500;

export interface RecentChange extends RecentItem {
  readonly row: AuditLogRow;
  /** Time of its entry, wall clock in ms. */
  readonly timeMs: number;
  /** Read from the row when a filter first needs it. */
  content: FeedContent | undefined;
  /** Signed at its first delivery. */
  cursor: string | undefined;
}

export const contentOf = (change: RecentChange): FeedContent | undefined => {
  change.content ??= parseFeedContent(change.row.change);
  return change.content;
};

export class RecentChanges extends RecentItems<RecentChange> {
  readonly #waiting = new Set<() => void>();

  /** `seq`: of the last entry of the log. Its commits from here on are reported to `commit`. */
  constructor(budget: MemoryBudget, clock: Clock, seq: number, limits?: ReaderLimits) {
    super(budget, clock, seq, EMPTY_CHANGES_BYTES, limits);
  }

  override get followed(): boolean {
    return this.#waiting.size > 0 || super.followed;
  }

  /** Calls that wait for the next commit. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether every change after the place is here. */
  covers({ seq }: FeedPlace): boolean {
    return seq > this.afterSeq;
  }

  /** The changes after a place that it covers, in order. */
  after(place: FeedPlace): Generator<RecentChange, void, undefined> {
    return this.itemsAfter(({ row }) => isAfter(row, place));
  }

  /** The changes of an operation. `index`: of its first one in the entry. Wakes every call that waits. */
  commit(changes: readonly Change[], origin: ChangeOrigin, place: FeedPlace & { readonly timeMs: number }): void {
    const { seq, index: first, timeMs } = place;
    this.add(seq, () =>
      changes.flatMap((change, index) => {
        if (!isFeedAction(auditActionOf(change))) return [];
        const row = auditLogRow(change, origin, seq, first + index);
        // Its characters are in its text and, once it was filtered, in its content.
        const bytes = CHANGE_BYTES + 2 * BYTES_PER_CHARACTER * row.change.length;
        return [{ seq, row, timeMs, bytes, content: undefined, cursor: undefined }];
      }),
    );
    this.#wake();
  }

  /** Calls back once, unless `forget` comes first: after the tenant's next commit, or when its tenure has ended. */
  wait(waiter: () => void): void {
    if (this.dropped) waiter();
    else this.#waiting.add(waiter);
  }

  forget(waiter: () => void): void {
    this.#waiting.delete(waiter);
  }

  /** Calls back every waiting call, too. */
  override drop(): void {
    super.drop();
    this.#wake();
  }

  #wake(): void {
    if (this.#waiting.size === 0) return;
    const woken = [...this.#waiting];
    this.#waiting.clear();
    for (const waiter of woken) waiter();
  }
}

// ---- commits, for readers ----

/** Memory of a commit, without its text; and of the object itself. */
const COMMIT_BYTES = 100;
const EMPTY_COMMITS_BYTES = 300;

/** What a reader takes in one step, in some milliseconds; the last entry of a part may exceed it. */
const PART_CHARACTERS = 256 * 1024;

export interface CommitsPart {
  /** Lines of JSON, one for each commit, in order. */
  readonly lines: string;
  readonly lastSeq: number;
  readonly more: boolean;
}

interface RecentCommit extends RecentItem {
  /** A line of JSON. */
  readonly text: string;
}

export class RecentCommits extends RecentItems<RecentCommit> {
  readonly #clock: Clock;
  /** When the last commit was applied, or these began, on the monotonic clock. */
  committedAtMs: number;

  /** `seq`: of the last entry of the log. Its commits from here on are reported to `commit`. */
  constructor(budget: MemoryBudget, clock: Clock, seq: number, limits?: ReaderLimits) {
    super(budget, clock, seq, EMPTY_COMMITS_BYTES, limits);
    this.#clock = clock;
    this.committedAtMs = clock.monotonicMs();
  }

  /** The entry after which the tenant has no commit, for a reader. */
  askedLastSeq(): number {
    this.asked();
    return this.lastSeq;
  }

  /** The commits after a seq, of whole entries; undefined: some of them are no longer here. */
  after(seq: number): CommitsPart | undefined {
    this.asked();
    if (seq < this.afterSeq) return undefined;
    let lines = '';
    let lastSeq = seq;
    for (const commit of this.itemsAfter((each) => each.seq > seq)) {
      if (commit.seq > lastSeq && lines.length >= PART_CHARACTERS) return { lines, lastSeq, more: true };
      lines += lines === '' ? commit.text : `\n${commit.text}`;
      lastSeq = commit.seq;
    }
    return { lines, lastSeq, more: false };
  }

  /** The changes of an operation. */
  commit(changes: readonly Change[], seq: number): void {
    this.committedAtMs = this.#clock.monotonicMs();
    this.add(seq, () => {
      const text = encodeCommit(seq, changes);
      return [{ seq, text, bytes: COMMIT_BYTES + BYTES_PER_CHARACTER * text.length }];
    });
  }
}
