// The last changes of a tenant whose change feed has followers, so that followers at its end never read the store.
// Those that are gone are read from the store.

import type { Clock } from '../../core/async/clock.ts';
import { type FeedContent, type FeedPlace, isAfter, isFeedAction, parseFeedContent } from '../../core/change-feed.ts';
import type { AuditLogRow } from '../../store/store.ts';
import { auditActionOf, auditLogRow, type Change, type ChangeOrigin } from '../log-changes.ts';
import type { MemoryBudget } from './memory-budget.ts';
import type { ReaderLimits } from './reader-limits.ts';
import { type RecentItem, RecentItems } from './recent-items.ts';

/** Of a change, without the characters of its text; and of the object itself. */
const CHANGE_BYTES = 400;
const EMPTY_BYTES = 500;
/** Characters are in the text of a change and, once it was filtered, in its content. */
const BYTES_PER_CHARACTER = 2;

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
    super(budget, clock, seq, EMPTY_BYTES, limits);
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
