// One stream of changes to one client: it follows the feed and writes into a response that stays open. Invariants: the
// client gets every change of the feed, in order and without a gap, or the stream ends; a checkpoint comes after
// everything that it covers; nothing is sent once the feed has ended; at most a few batches wait here.

import { GrantdError } from '../../core/errors.ts';
import type { FeedBatch, FeedFollower, FeedSubscription } from '../../front/changes.ts';
import type { TenantSession } from '../../front/front.ts';
import type { ResponseStream, StreamListener } from '../wire/response-stream.ts';
import type { FollowEnd, Follower } from './followers.ts';
import type { Sender, SendingStream, TenantStreams } from './sender.ts';
import { type BatchEncoder, type Channel, type EncodedBatch, type Mark, retryPart } from './stream-format.ts';
import { QUEUE_MAX } from './stream-limits.ts';

/** Shared by all streams. */
export interface StreamSurroundings {
  readonly sender: Sender;
  readonly encoder: BatchEncoder;
  /** How long a client should wait before it reconnects, in ms; varies, so that clients do not reconnect at once. */
  readonly retryMs: () => number;
  readonly onDelivered: (changes: number) => void;
  /** Called once. `begun`: it had a response. */
  readonly onStopped: (stream: ChangeStream, reason: FollowEnd, begun: boolean) => void;
}

/** When a stream has checkpoints. */
export interface StreamMarks {
  /** That of the common timer. */
  readonly tick: number;
  /** After each batch, too, of which something passes the filter. */
  readonly marksBatches: boolean;
}

/** Errors after which the key is no longer served. */
const REFUSALS = new Set(['unauthorized', 'insufficient-scope', 'tenant-suspended', 'tenant-not-found']);

/** Reasons for which the client has gone, or must receive nothing more. */
const CUT = new Set<FollowEnd>(['client', 'slow', 'memory']);

/** For a stream that is stopped before it has a response. */
function stoppedError(reason: FollowEnd): GrantdError {
  if (reason === 'displaced') return new GrantdError('too-many-streams', 'Another tenant needed the place.');
  return new GrantdError('unavailable', 'The stream was ended before it began. Nothing was changed.');
}

export class ChangeStream implements Follower, FeedFollower, StreamListener, SendingStream {
  readonly session: TenantSession;
  scheduled = false;
  waitingSinceMs = 0;
  readonly tick: number;
  readonly #surroundings: StreamSurroundings;
  readonly #channel: Channel;
  readonly #tenant: TenantStreams;
  readonly #marksBatches: boolean;
  readonly #queue: EncodedBatch[] = [];
  #subscription: FeedSubscription | undefined;
  #response: ResponseStream | undefined;
  /** The next part to send of the first batch in the queue. */
  #part = 0;
  /** Everything up to here has been sent. */
  #sent: Mark | undefined;
  /** The mark of the last checkpoint. */
  #marked: Mark | undefined;
  #checkpointDue = true;
  /** The client has not taken the last part. */
  #waiting = false;
  /** The feed gives nothing until `resume`. */
  #behind = false;
  #ended = false;
  #error: GrantdError | undefined;

  constructor(
    surroundings: StreamSurroundings,
    session: TenantSession,
    channel: Channel,
    { tick, marksBatches }: StreamMarks,
  ) {
    this.session = session;
    this.tick = tick;
    this.#marksBatches = marksBatches;
    this.#surroundings = surroundings;
    this.#channel = channel;
    this.#tenant = surroundings.sender.enter(session.tenantId);
  }

  get kind() {
    return this.#channel.format;
  }

  /** The feed has been read for the first time. Throws if the stream has been stopped in the meantime. */
  begin(subscription: FeedSubscription): void {
    if (this.#ended) {
      subscription.close();
      throw this.#error ?? stoppedError('failed');
    }
    this.#subscription = subscription;
  }

  /** The head of the response has been sent. */
  attach(response: ResponseStream): void {
    if (this.#ended) {
      response.end();
      return;
    }
    this.#response = response;
    this.#schedule();
  }

  checkpoint(): void {
    this.#checkpointDue = true;
    this.#schedule();
  }

  // ---- from the feed ----

  take(batch: FeedBatch): boolean {
    if (this.#ended) return false;
    const { sender, encoder } = this.#surroundings;
    const encoded = encoder.encode(batch, this.#channel);
    if (encoded.parts.length === 0 && this.#queue.length === 0) {
      this.#sent = encoded.mark;
      if (this.#checkpointDue) this.#schedule();
    } else {
      this.#queue.push(encoded);
      sender.hold(this.#tenant, encoded);
      this.#schedule();
    }
    if (!this.#ended && !this.#waiting && this.#queue.length < QUEUE_MAX) return true;
    this.#behind = true;
    return false;
  }

  end(error: GrantdError | undefined): void {
    this.#subscription = undefined;
    this.#error = error;
    this.stop(error === undefined ? 'draining' : REFUSALS.has(error.code) ? 'key' : 'failed');
  }

  // ---- from the client ----

  taken(): void {
    this.#waiting = false;
    this.#surroundings.sender.stopWaiting(this.#tenant, this);
    this.#schedule();
  }

  closed(): void {
    this.stop('client');
  }

  // ---- from the sender ----

  send(): void {
    const response = this.#response;
    if (response === undefined || this.#waiting || this.#ended) return;
    if (!this.#sendBatches(response) || !this.#sendCheckpoint(response)) {
      this.#waiting = true;
      this.#surroundings.sender.wait(this.#tenant, this);
    } else if (this.#behind && this.#subscription !== undefined) {
      this.#behind = false;
      this.#subscription.resume();
    }
  }

  /** False: the client has not taken the last part. */
  #sendBatches(response: ResponseStream): boolean {
    for (let batch = this.#queue[0]; batch !== undefined; batch = this.#queue[0]) {
      for (let part = batch.parts[this.#part]; part !== undefined; part = batch.parts[this.#part]) {
        this.#part += 1;
        if (!response.send(part)) return false;
      }
      this.#finish(batch);
      if (this.#marksBatches && !this.#sendCheckpoint(response)) return false;
    }
    return true;
  }

  #sendCheckpoint(response: ResponseStream): boolean {
    const mark = this.#sent;
    if (!this.#checkpointDue || mark === undefined || mark === this.#marked) return true;
    this.#checkpointDue = false;
    this.#marked = mark;
    return response.send(mark.checkpoint(this.#channel.format));
  }

  /** The client has taken all of the first batch. */
  #finish(batch: EncodedBatch): void {
    this.#queue.shift();
    this.#part = 0;
    this.#sent = batch.mark;
    this.#checkpointDue ||= this.#marksBatches && batch.changes > 0;
    this.#surroundings.sender.release(this.#tenant, batch);
    this.#surroundings.onDelivered(batch.changes);
  }

  #schedule(): void {
    if (!this.#waiting && this.#response !== undefined) this.#surroundings.sender.schedule(this.#tenant, this);
  }

  // ---- the end ----

  stop(reason: FollowEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error ??= stoppedError(reason);
    const { sender, onStopped } = this.#surroundings;
    for (const batch of this.#queue.splice(0)) sender.release(this.#tenant, batch);
    sender.stopWaiting(this.#tenant, this);
    sender.leave(this.#tenant);
    this.#subscription?.close();
    this.#subscription = undefined;
    const begun = this.#response !== undefined;
    this.#endResponse(reason);
    onStopped(this, reason, begun);
  }

  #endResponse(reason: FollowEnd): void {
    const response = this.#response;
    this.#response = undefined;
    if (response === undefined) return;
    // A part that the client has not taken would still reach it after the end of its key.
    if (this.#waiting || CUT.has(reason)) {
      response.cut();
      return;
    }
    const hint = reason === 'key' ? undefined : retryPart(this.#channel.format, this.#surroundings.retryMs());
    if (hint !== undefined) response.send(hint);
    response.end();
  }
}
