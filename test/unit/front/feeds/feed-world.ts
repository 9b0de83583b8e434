// A feed on a virtual clock, with the calls that wait for it, and followers that note what they get.

import { FairTurns } from '../../../../src/core/async/turns.ts';
import type { FeedFilter } from '../../../../src/core/change-feed.ts';
import { feedMatcher } from '../../../../src/core/change-feed.ts';
import type { GrantdError } from '../../../../src/core/errors.ts';
import type { FeedBatch, FeedFollower, FeedStart, FeedSubscription } from '../../../../src/front/changes.ts';
import { Feeds, type FollowedSession } from '../../../../src/front/feeds/feeds.ts';
import { systemRandom } from '../../../../src/roles/process/system.ts';
import type { FeedPage, FeedQuery } from '../../../../src/shard/shard.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { FakeFeed } from './fake-feed.ts';

export class Noted implements FeedFollower {
  readonly batches: FeedBatch[] = [];
  readonly filter: FeedFilter;
  ended: { readonly error: GrantdError | undefined } | undefined;
  subscription: FeedSubscription | undefined;
  /** Batches that it still takes before it is behind; undefined: any number. */
  appetite: number | undefined;

  constructor(filter: FeedFilter = {}) {
    this.filter = filter;
  }

  take(batch: FeedBatch): boolean {
    if (this.ended !== undefined) throw new Error('a batch came after the end');
    if (this.appetite !== undefined && this.appetite <= 0) throw new Error('a batch came while it was behind');
    this.batches.push(batch);
    if (this.appetite !== undefined) this.appetite -= 1;
    return this.appetite !== 0;
  }

  end(error: GrantdError | undefined): void {
    if (this.ended !== undefined) throw new Error('it ended twice');
    this.ended = { error };
  }

  /** What passes its filter: `3.0`. */
  get got(): readonly string[] {
    const fits = feedMatcher(this.filter) ?? (() => true);
    return this.batches.flatMap(({ changes }) => changes.filter(fits).map(({ seq, index }) => `${seq}.${index}`));
  }
}

export class FeedWorld {
  readonly clock = new VirtualClock();
  readonly feed = new FakeFeed();
  readonly feeds: Feeds;
  readonly session: FollowedSession;
  /** Queries since the start, newest last. */
  readonly queries: FeedQuery[] = [];
  /** What calls throw now, also those that wait. */
  failure: Error | undefined;
  readonly #waits = new Set<() => void>();

  constructor() {
    this.feeds = new Feeds({ clock: this.clock, turns: new FairTurns(this.clock), random: systemRandom });
    this.session = { tenantId: 'ten_1', readPage: (query) => this.#readPage(query) };
  }

  /** Calls that wait at the owner. */
  get waiting(): number {
    return this.#waits.size;
  }

  wake(): void {
    for (const wake of [...this.#waits]) wake();
  }

  fail(error: Error | undefined): void {
    this.failure = error;
    this.wake();
  }

  grant(count = 1): void {
    this.feed.grant(count);
    this.wake();
  }

  async #readPage(query: FeedQuery): Promise<FeedPage> {
    this.queries.push(query);
    const untilMs = this.clock.monotonicMs() + query.waitMs;
    await Promise.resolve();
    while (true) {
      if (this.failure !== undefined) throw this.failure;
      const page = this.feed.page(query);
      if (page.items.length > 0 || !page.atEnd || this.clock.monotonicMs() >= untilMs) return page;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          timer.cancel();
          this.#waits.delete(wake);
          resolve();
        };
        const timer = this.clock.setTimer(wake, untilMs - this.clock.monotonicMs());
        this.#waits.add(wake);
      });
    }
  }

  /** Resolves once the follower is subscribed and everything that is due has run. */
  async follow(noted: Noted, start: FeedStart = {}): Promise<Noted> {
    noted.subscription = await this.feeds.follow(this.session, start, noted.filter, noted);
    await this.pass(0);
    return noted;
  }

  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.clock.advance(0);
  }
}
