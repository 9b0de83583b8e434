// One follower of a change feed, from its start to its end. It reads pages until it has reached the tail, as fast as it
// takes them, and goes on from there. If it falls behind further than the tail remembers, it reads pages again.
// Invariant: its place only moves forward, over everything that fits; each change that fits is given once, in the order
// of the log; and nothing is given while it is behind, or after its end.

import type { Clock } from '../../core/async/clock.ts';
import { type Turns, turnOf } from '../../core/async/turns.ts';
import type { FeedFilter, FeedPlace } from '../../core/change-feed.ts';
import { GrantdError } from '../../core/errors.ts';
import type { FeedPage } from '../../shard/shard.ts';
import type { FeedFollower, FeedSubscription } from '../changes.ts';
import { batchOf, type PlacedBatch } from './feed-batch.ts';
import type { FeedReader } from './feed-reader.ts';
import { FEED_PAGE_LIMIT, type Tail, type TailFollower } from './tail.ts';

const isSame = (left: FeedPlace, right: FeedPlace): boolean => left.seq === right.seq && left.index === right.index;

/** What parsing a page costs. */
const PAGE_MS = 0.5;

export interface FollowingDependencies {
  readonly clock: Clock;
  readonly turns: Turns;
  readonly tenantId: string;
  readonly reader: FeedReader;
  readonly tail: Tail;
}

export class Following implements FeedSubscription, TailFollower {
  readonly #dependencies: FollowingDependencies;
  readonly #filter: FeedFilter;
  readonly #follower: FeedFollower;
  #place: FeedPlace;
  #cursor: string;
  /** The last page was the end of the log. */
  #atEnd: boolean;
  /** The follower is behind. */
  #paused = false;
  #ended = false;
  #reading = false;
  #giving = false;

  /** `first`: the page with which it starts. */
  constructor(dependencies: FollowingDependencies, filter: FeedFilter, follower: FeedFollower, first: FeedPage) {
    this.#dependencies = dependencies;
    this.#filter = filter;
    this.#follower = follower;
    this.#place = first.next;
    this.#cursor = first.nextCursor;
    this.#atEnd = first.atEnd;
    this.#reading = true;
    dependencies.tail.add(this);
    // The caller gets its subscription before its first batch.
    dependencies.clock.setImmediate(() => {
      this.#give(batchOf(first, undefined));
      this.#reading = false;
      this.#go();
    });
  }

  resume(): void {
    if (!this.#paused || this.#ended) return;
    this.#paused = false;
    this.#go();
  }

  close(): void {
    this.#ended = true;
    this.#dependencies.tail.remove(this);
  }

  advance(latest: PlacedBatch): void {
    if (!this.#goesOn || this.#reading || this.#giving) return;
    // Whoever has kept up is where the batch begins. An empty batch is news too, though it leads no further.
    if (isSame(latest.from, this.#place)) this.#give(latest);
    else if (isSame(latest.to, this.#place) && latest.changes.length === 0) this.#give(latest);
    else this.#go();
  }

  end(error: GrantdError | undefined): void {
    if (this.#ended) return;
    this.close();
    this.#follower.end(error);
  }

  get #goesOn(): boolean {
    return !this.#paused && !this.#ended;
  }

  /** Gives what is known, or reads on. */
  #go(): void {
    if (!this.#goesOn || this.#reading || this.#giving) return;
    const { tail } = this.#dependencies;
    if (tail.covers(this.#place)) {
      for (const batch of tail.after(this.#place)) if (!this.#give(batch)) return;
      return;
    }
    this.#reading = true;
    void this.#read();
  }

  /** Whether the follower takes more. */
  #give(batch: PlacedBatch): boolean {
    if (this.#ended) return false;
    this.#place = batch.to;
    this.#cursor = batch.cursor;
    this.#giving = true;
    // It may resume before it has said that it is behind.
    this.#paused = true;
    try {
      if (this.#follower.take(batch)) this.#paused = false;
    } catch (error) {
      this.end(GrantdError.from(error));
    } finally {
      this.#giving = false;
    }
    return this.#goesOn;
  }

  async #read(): Promise<void> {
    const { tail, turns, tenantId, reader } = this.#dependencies;
    const wanted = (): boolean => !this.#ended;
    try {
      while (this.#goesOn && !tail.covers(this.#place)) {
        if (this.#atEnd && !tail.isLocated) await tail.located;
        const page = await reader.read(
          { ...this.#filter, cursor: this.#cursor, limit: FEED_PAGE_LIMIT, waitMs: 0 },
          wanted,
        );
        if (page === undefined) return;
        await turnOf(turns, tenantId, PAGE_MS);
        this.#atEnd = page.atEnd;
        this.#give(batchOf(page, this.#place));
      }
    } catch (error) {
      this.end(GrantdError.from(error));
    }
    this.#reading = false;
    this.#go();
  }
}
