// A page of changes that waits for the first change that passes the filter, or until its time is up. Invariant: its
// cursor continues after the last change in it, however many more the feed delivered, and its seq is of the last entry
// that is whole.

import type { Clock, Timer } from '../../core/async/clock.ts';
import { type FeedChange, type FeedFilter, feedMatcher, wholeSeq } from '../../core/change-feed.ts';
import type { GrantdError } from '../../core/errors.ts';
import type { FeedBatch, FeedFollower, FeedSubscription } from '../../front/changes.ts';
import type { TenantSession } from '../../front/front.ts';
import type { Follower } from './followers.ts';

export type AwaitedChanges = Omit<FeedBatch, 'atMs'>;

export interface AwaitedQuery {
  readonly filter: FeedFilter;
  readonly limit: number;
  readonly waitMs: number;
  /** Where it begins: after the entries up to `seq`, or within the next one. */
  readonly cursor: string;
  readonly seq: number;
}

export class AwaitedPage implements Follower, FeedFollower {
  readonly kind = 'page';
  readonly session: TenantSession;
  readonly page: Promise<AwaitedChanges>;
  readonly #onStopped: (page: AwaitedPage) => void;
  readonly #matches: ((change: FeedChange) => boolean) | undefined;
  readonly #limit: number;
  readonly #timer: Timer;
  readonly #resolve: (page: AwaitedChanges) => void;
  readonly #reject: (error: unknown) => void;
  #subscription: FeedSubscription | undefined;
  /** No change up to here passes the filter. */
  #cursor: string;
  #seq: number;
  #ended = false;

  constructor(
    clock: Clock,
    session: TenantSession,
    { filter, limit, waitMs, cursor, seq }: AwaitedQuery,
    onStopped: (page: AwaitedPage) => void,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<AwaitedChanges>();
    this.session = session;
    this.page = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#onStopped = onStopped;
    this.#matches = feedMatcher(filter);
    this.#limit = limit;
    this.#cursor = cursor;
    this.#seq = seq;
    this.#timer = clock.setTimer(() => this.#end([]), waitMs);
  }

  begin(subscription: FeedSubscription): void {
    if (this.#ended) subscription.close();
    else this.#subscription = subscription;
  }

  take({ changes, cursor, seq }: FeedBatch): boolean {
    if (this.#ended) return false;
    const fitting = this.#matches === undefined ? changes : changes.filter(this.#matches);
    const last = fitting.length > this.#limit ? fitting[this.#limit - 1] : undefined;
    this.#cursor = last?.cursor ?? cursor;
    this.#seq = last === undefined ? seq : wholeSeq(last);
    if (fitting.length === 0) return true;
    this.#end(fitting.slice(0, this.#limit));
    return false;
  }

  end(error: GrantdError | undefined): void {
    this.#subscription = undefined;
    if (error === undefined) this.#end([]);
    else this.fail(error);
  }

  fail(error: unknown): void {
    if (this.#ended) return;
    this.#reject(error);
    this.#end([]);
  }

  /** The page is empty then. That its key has expired is for the owner of the tenant to say, to the next call. */
  stop(): void {
    this.#end([]);
  }

  #end(changes: readonly FeedChange[]): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#timer.cancel();
    this.#subscription?.close();
    this.#subscription = undefined;
    this.#onStopped(this);
    this.#resolve({ changes, cursor: this.#cursor, seq: this.#seq });
  }
}
