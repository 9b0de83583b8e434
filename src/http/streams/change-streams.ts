// All streams of changes of this front, and the pages that wait: how they begin, their common timer, and their end with
// the front. Invariants: each stream gets a checkpoint at least every 15 s while the owner can be reached; a closing
// front ends them one after another, with a hint when to reconnect.

import type { Clock, Random, Timer } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import type { FeedFilter } from '../../core/change-feed.ts';
import { type Plans, resolvePlan } from '../../core/plans.ts';
import type { FeedStart } from '../../front/changes.ts';
import type { TenantSession } from '../../front/front.ts';
import { type AwaitedChanges, AwaitedPage, type AwaitedQuery } from './awaited-page.ts';
import { ChangeStream, type StreamSurroundings } from './change-stream.ts';
import { type FollowEnd, type Follower, Followers, type FollowKind } from './followers.ts';
import { Sender } from './sender.ts';
import { BatchEncoder, channelOf, type StreamFormat } from './stream-format.ts';
import {
  BYTES_MAX,
  DRAIN_TICKS,
  RETRY_MS_MAX,
  RETRY_MS_MIN,
  STALL_MS,
  STREAMS_MAX,
  TENANT_BYTES_MAX,
  TICK_MS,
  TICKS_PER_CHECKPOINT,
} from './stream-limits.ts';

export interface StreamMeter {
  delivered(changes: number): void;
  stopped(kind: FollowKind, reason: FollowEnd): void;
}

export interface StreamBounds {
  readonly streamsMax: number;
  readonly streamBytesMax: number;
  readonly tenantStreamBytesMax: number;
  readonly streamStallMs: number;
}

export const STREAM_BOUNDS: StreamBounds = Object.freeze({
  streamsMax: STREAMS_MAX,
  streamBytesMax: BYTES_MAX,
  tenantStreamBytesMax: TENANT_BYTES_MAX,
  streamStallMs: STALL_MS,
});

interface StreamDependencies {
  readonly clock: Clock;
  readonly turns: Turns;
  readonly random: Random;
  readonly meter: StreamMeter;
}

export interface StreamQuery {
  readonly start: FeedStart;
  readonly filter: FeedFilter;
  readonly format: StreamFormat;
  /** Whether a checkpoint follows each batch of which something passes the filter. */
  readonly marksBatches?: boolean;
}

/** A request being served, whose client may disconnect before the response. */
export interface FollowRequest {
  onceClosed(listener: () => void): void;
}

const BYTE_MAX = 255;

export class ChangeStreams {
  readonly #clock: Clock;
  readonly #plans: Plans;
  readonly #followers: Followers;
  readonly #sender: Sender;
  readonly #surroundings: StreamSurroundings;
  /** For each tick, the streams whose checkpoints are due. */
  readonly #ticks: readonly Set<ChangeStream>[] = Array.from({ length: TICKS_PER_CHECKPOINT }, () => new Set());
  #opened = 0;
  #tick = 0;
  #timer: Timer | undefined;
  /** Undefined: the front is not closing. */
  #drainTicksLeft: number | undefined;

  constructor({ clock, turns, random, meter }: StreamDependencies, options: StreamBounds & { readonly plans: Plans }) {
    this.#clock = clock;
    this.#plans = options.plans;
    this.#followers = new Followers(options.streamsMax);
    const { streamBytesMax: bytesMax, tenantStreamBytesMax: tenantBytesMax, streamStallMs: stallMs } = options;
    this.#sender = new Sender({ clock, turns }, { bytesMax, tenantBytesMax, stallMs });
    this.#surroundings = {
      sender: this.#sender,
      encoder: new BatchEncoder(),
      retryMs: () => {
        const [byte = 0] = random.bytes(1);
        return Math.round(RETRY_MS_MIN + (RETRY_MS_MAX - RETRY_MS_MIN) * (byte / BYTE_MAX));
      },
      onDelivered: (changes) => meter.delivered(changes),
      onStopped: (stream, reason, begun) => {
        this.#ticks[stream.tick]?.delete(stream);
        this.#followers.remove(stream);
        if (begun) meter.stopped(stream.kind, reason);
      },
    };
  }

  get heldBytes(): number {
    return this.#sender.heldBytes;
  }

  countByKind(): Readonly<Record<FollowKind, number>> {
    const counts = { ndjson: 0, sse: 0, page: 0 };
    for (const { kind } of this.#followers) counts[kind] += 1;
    return counts;
  }

  /**
   * A stream that follows from there and waits for its response. Throws `too-many-streams`; rejects with the error of
   * the first read.
   */
  open(
    request: FollowRequest,
    session: TenantSession,
    { start, filter, format, marksBatches = false }: StreamQuery,
  ): Promise<ChangeStream> {
    const tick = this.#opened % TICKS_PER_CHECKPOINT;
    const stream = new ChangeStream(this.#surroundings, session, channelOf(format, filter), { tick, marksBatches });
    const failed = (error: unknown): never => {
      stream.stop('failed');
      throw error;
    };
    try {
      this.#add(stream);
    } catch (error) {
      return failed(error);
    }
    this.#opened += 1;
    this.#ticks[tick]?.add(stream);
    request.onceClosed(() => stream.stop('client'));
    return session.followChanges(start, filter, stream).then((subscription) => {
      stream.begin(subscription);
      return stream;
    }, failed);
  }

  /** The first changes after the cursor that fit. Rejects with `too-many-streams`, or with the error of the owner. */
  async awaitPage(request: FollowRequest, session: TenantSession, query: AwaitedQuery): Promise<AwaitedChanges> {
    const page = new AwaitedPage(this.#clock, session, query, (stopped) => this.#followers.remove(stopped));
    try {
      this.#add(page);
    } catch (error) {
      page.stop();
      throw error;
    }
    request.onceClosed(() => page.stop());
    session.followChanges({ cursor: query.cursor }, query.filter, page).then(
      (subscription) => page.begin(subscription),
      (error: unknown) => page.fail(error),
    );
    return page.page;
  }

  #add(follower: Follower): void {
    const { session } = follower;
    this.#followers.add(follower, resolvePlan(this.#plans, session.plan).streamsMax);
    this.#timer ??= this.#clock.setTimer(this.#onTick, TICK_MS);
  }

  readonly #onTick = (): void => {
    this.#tick = (this.#tick + 1) % TICKS_PER_CHECKPOINT;
    for (const stream of this.#ticks[this.#tick] ?? []) stream.checkpoint();
    this.#followers.stopExpired();
    this.#sender.stopStalled();
    this.#drainSome();
    const idle = this.#followers.count === 0;
    this.#timer = idle ? undefined : this.#clock.setTimer(this.#onTick, TICK_MS);
  };

  #drainSome(): void {
    if (this.#drainTicksLeft === undefined) return;
    const count = Math.ceil(this.#followers.count / Math.max(1, this.#drainTicksLeft));
    this.#drainTicksLeft -= 1;
    let stopped = 0;
    for (const follower of this.#followers) {
      if (stopped === count) break;
      follower.stop('draining');
      stopped += 1;
    }
  }

  /** From now on all of them end, one after another; so do those that begin later. */
  drain(): void {
    this.#drainTicksLeft ??= DRAIN_TICKS;
  }

  /** Ends all of them, and the timer. */
  close(): void {
    this.drain();
    for (const follower of this.#followers) follower.stop('draining');
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
