// The tail of a change feed as one session sees it: one call at a time that waits at the owner for what comes next,
// whatever the number of followers. What it gets is kept for a moment, so that a follower that has read its way up to
// here can go on from memory. Invariants: the batches that it keeps follow each other without a gap, and go up to where
// the tail is; a follower that the owner would not serve any more is ended with the owner's reason.
//
// While many changes come, the tail lets them gather at the owner. After a pause, a change is passed on at once.

import { backoffMs, type Clock, delay, jitteredMs, type Random } from '../../core/async/clock.ts';
import { type Turns, turnOf } from '../../core/async/turns.ts';
import { type FeedChange, type FeedPlace, isAfter, parseFeedContent, wholeSeq } from '../../core/change-feed.ts';
import { GrantdError } from '../../core/errors.ts';
import { FEED_WAIT_MS_MAX } from '../../rpc/protocol.ts';
import type { FeedPage, FeedQuery, FeedRecord } from '../../shard/shard.ts';
import type { FeedBatch } from '../changes.ts';

/** The pause after changes before the owner is asked for more. */
const GATHER_MS = 25;
/** Changes of one call: together far less than a follower may leave unsent. */
export const FEED_PAGE_LIMIT = 250;
/** Kept for followers that come, or come back: seconds of changes. Together with the bound of the process. */
const BATCHES_MAX = 64;
const BYTES_MAX = 1024 * 1024;
/** Followers that get a batch in one step of the event loop, and what the batch costs for each. */
const FOLLOWERS_PER_STEP = 32;
const FOLLOWER_MS = 0.02;
/** What parsing a page costs. */
const PAGE_MS = 0.5;

export interface TailTotals {
  followers: number;
  bytes: number;
  readonly bytesMax: number;
}

export interface TailFollower {
  /** Takes what the tail has after the follower's place. `latest`: the batch that it got last. */
  advance(latest: PlacedBatch): void;
  /** Nothing is called after it. */
  end(error: GrantdError | undefined): void;
}

export interface TailDependencies {
  readonly clock: Clock;
  readonly turns: Turns;
  /** Whose turns it takes. */
  readonly tenantId: string;
  readonly reader: FeedReader;
  readonly totals: TailTotals;
  /** The last follower has left. The tail is not used again. */
  readonly onEnded: () => void;
}

export class Tail {
  readonly #dependencies: TailDependencies;
  readonly #followers = new Set<TailFollower>();
  #batches: PlacedBatch[] = [];
  #bytes = 0;
  /** Everything up to here is known, and was kept; undefined: the owner has not said yet where the end is. */
  #at: { readonly place: FeedPlace; readonly cursor: string } | undefined;
  #located = Promise.withResolvers<void>();
  #running = false;
  #ended = false;

  constructor(dependencies: TailDependencies) {
    this.#dependencies = dependencies;
  }

  /** Whether the end is known from which the tail goes on. */
  get isLocated(): boolean {
    return this.#at !== undefined;
  }

  /** Resolves once it is, or the tail has ended. */
  get located(): Promise<void> {
    return this.#located.promise;
  }

  add(follower: TailFollower): void {
    this.#followers.add(follower);
    this.#dependencies.totals.followers += 1;
    if (this.#running) return;
    this.#running = true;
    void this.#run();
  }

  remove(follower: TailFollower): void {
    if (this.#followers.delete(follower)) this.#dependencies.totals.followers -= 1;
  }

  /** Whether everything after the place is kept, or still to come. */
  covers(place: FeedPlace): boolean {
    const start = this.#batches[0]?.from ?? this.#at?.place;
    return start !== undefined && !isAfter(start, place);
  }

  /** What is kept after a place that it covers, in order. */
  *after(place: FeedPlace): Generator<PlacedBatch, void, undefined> {
    for (const batch of [...this.#batches]) {
      if (isAfter(batch.to, place)) yield batchAfter(batch, place);
    }
  }

  close(): void {
    this.#end(undefined);
  }

  async #run(): Promise<void> {
    try {
      // A follower may come in the very moment in which the last one has left.
      do await this.#follow();
      while (!this.#ended && this.#followers.size > 0);
      this.#end(undefined);
    } catch (error) {
      this.#end(GrantdError.from(error));
    }
  }

  async #follow(): Promise<void> {
    const { clock, turns, tenantId, reader } = this.#dependencies;
    const wanted = (): boolean => !this.#ended && this.#followers.size > 0;
    while (wanted()) {
      const page = await reader.read(this.#nextQuery(), wanted);
      if (page === undefined) return;
      await turnOf(turns, tenantId, PAGE_MS);
      if (this.#ended) return;
      const batch = batchOf(page, this.#at?.place ?? page.next);
      this.#keep(batch);
      await this.#deliver(batch);
      this.#trim();
      if (page.items.length > 0 && page.atEnd) await delay(clock, GATHER_MS);
    }
  }

  #nextQuery(): FeedQuery {
    const limit = FEED_PAGE_LIMIT;
    if (this.#at === undefined) return { fromNow: true, limit, waitMs: 0 };
    return { cursor: this.#at.cursor, limit, waitMs: FEED_WAIT_MS_MAX };
  }

  #keep(batch: PlacedBatch): void {
    this.#at = { place: batch.to, cursor: batch.cursor };
    this.#located.resolve();
    const last = this.#batches.at(-1);
    // Nothing but the log of other tenants has moved.
    if (batch.changes.length === 0 && last?.changes.length === 0) {
      this.#batches[this.#batches.length - 1] = { ...batch, from: last.from };
      return;
    }
    this.#batches.push(batch);
    this.#count(batch.bytes);
  }

  /** Gives the batch to the followers at the tail, a few at a time. */
  async #deliver(latest: PlacedBatch): Promise<void> {
    const { turns, tenantId } = this.#dependencies;
    let step = 0;
    for (const follower of [...this.#followers]) {
      if (this.#followers.has(follower)) follower.advance(latest);
      step += 1;
      if (step % FOLLOWERS_PER_STEP === 0) await turnOf(turns, tenantId, FOLLOWERS_PER_STEP * FOLLOWER_MS);
    }
  }

  /** Followers at the tail need nothing of it. Those behind read pages again. */
  #trim(): void {
    const { totals } = this.#dependencies;
    const isOver = (): boolean => {
      const { length } = this.#batches;
      return length > 0 && (length > BATCHES_MAX || this.#bytes > BYTES_MAX || totals.bytes > totals.bytesMax);
    };
    while (isOver()) this.#count(-(this.#batches.shift()?.bytes ?? 0));
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#dependencies.totals.bytes += bytes;
  }

  #end(error: GrantdError | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#batches = [];
    this.#count(-this.#bytes);
    this.#located.resolve();
    this.#dependencies.onEnded();
    void this.#endFollowers(error);
  }

  async #endFollowers(error: GrantdError | undefined): Promise<void> {
    const { turns, tenantId } = this.#dependencies;
    const followers = [...this.#followers];
    for (const [index, follower] of followers.entries()) {
      if (!this.#followers.has(follower)) continue;
      this.remove(follower);
      follower.end(error);
      if ((index + 1) % FOLLOWERS_PER_STEP === 0) await turnOf(turns, tenantId, FOLLOWERS_PER_STEP * FOLLOWER_MS);
    }
  }
}

// ---- the reader of pages ----
//
// Reads pages of a change feed for as long as someone follows it: through every change of owner, and with patience if
// no owner answers. Invariant: what the owner refuses for good is refused at once; what may pass is tried again, with
// pauses, up to a bound. Nothing is made up meanwhile.

const RETRY = { firstMs: 100, maxMs: 2000 };
/** A follower that has heard nothing for this long is better off at another front. */
const PATIENCE_MS = 60_000;

export interface FeedReaderDependencies {
  readonly clock: Clock;
  readonly random: Random;
  /** Rejects with a GrantdError. */
  readonly readPage: (query: FeedQuery) => Promise<FeedPage>;
}

export class FeedReader {
  readonly #dependencies: FeedReaderDependencies;

  constructor(dependencies: FeedReaderDependencies) {
    this.#dependencies = dependencies;
  }

  readOnce(query: FeedQuery): Promise<FeedPage> {
    return this.#dependencies.readPage(query);
  }

  /** Rejects with a GrantdError for good. Undefined: the page is no longer wanted. */
  async read(query: FeedQuery, wanted: () => boolean): Promise<FeedPage | undefined> {
    const { clock, random, readPage } = this.#dependencies;
    let failingSinceMs: number | undefined;
    for (let failures = 0; wanted(); failures += 1) {
      try {
        const page = await readPage(query);
        return wanted() ? page : undefined;
      } catch (thrown) {
        const error = GrantdError.from(thrown);
        if (!error.retryable) throw error;
        const nowMs = clock.monotonicMs();
        failingSinceMs ??= nowMs;
        if (nowMs - failingSinceMs >= PATIENCE_MS) {
          throw new GrantdError('unavailable', 'The changes could not be read for too long.', { cause: error });
        }
      }
      await delay(clock, jitteredMs(random, backoffMs(RETRY, failures)));
    }
    return undefined;
  }
}

// ---- batches ----
//
// Pages of the change feed as batches for followers: parsed once, with their places in the log. Invariant: a batch has
// every change between its two places that the page was asked for.

/** Memory of a change, without the characters of its text. */
const CHANGE_BYTES = 700;
const BYTES_PER_CHARACTER = 2;

export interface PlacedBatch extends FeedBatch {
  /** Everything up to here came before. */
  readonly from: FeedPlace;
  /** The place of the cursor. */
  readonly to: FeedPlace;
  /** Memory, roughly. */
  readonly bytes: number;
}

/** Undefined: a kind of change that this version does not know. */
function changeFrom(record: FeedRecord): FeedChange | undefined {
  const change = parseFeedContent(record.change);
  if (change === undefined) return undefined;
  const { seq, index, atMs, actor, requestId, cursor } = record;
  return { seq, index, atMs, actor, requestId, cursor, change };
}

export const changesOf = ({ items }: FeedPage): readonly FeedChange[] =>
  items.map(changeFrom).filter((change) => change !== undefined);

/** `from`: the place at which the page was asked for; undefined: not known, since the page is the first one. */
export function batchOf(page: FeedPage, from: FeedPlace | undefined): PlacedBatch {
  const { items, nextCursor: cursor, next: to, atMs } = page;
  const bytes = items.reduce((sum, { change }) => sum + CHANGE_BYTES + BYTES_PER_CHARACTER * change.length, 0);
  return { changes: changesOf(page), cursor, seq: wholeSeq(to), atMs, from: from ?? { seq: 0, index: -1 }, to, bytes };
}

/** The part of a batch that is after a place within it. The batch itself, which can be shared, if that is all of it. */
export function batchAfter(batch: PlacedBatch, place: FeedPlace): PlacedBatch {
  const [first] = batch.changes;
  if (first === undefined || isAfter(first, place)) return batch;
  return { ...batch, from: place, changes: batch.changes.filter((change) => isAfter(change, place)) };
}
