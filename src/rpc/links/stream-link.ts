// The link of a peer to one shard: one stream, dialled again for as long as the link is open. It sends what gathers
// as one message (all of a turn of the event loop, and checks by gathering.ts), finds the receiver of each reply,
// tracks the shard's clock, and notices a dead connection within 2 s. Invariants: every receiver hears exactly once of
// its request (a reply, a failure, or the loss of the stream) unless it was forgotten before; the table of receivers is
// bounded, and so is the outbox.

import type { Clock, Random, Timer } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import { GrantdError } from '../../core/errors.ts';
import type { ShardFailure } from '../../shard/shard.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { AnnouncedRoutes, type LinkRoutes } from '../announced-routes.ts';
import type {
  FrontMessage,
  ReceivedCheckResults,
  ReceivedReply,
  ReceivedRoutes,
  ReceivedSettings,
  ReceivedShardMessage,
  ReceivedWelcome,
} from '../messages.ts';
import { OUTSTANDING_MAX, PING_INTERVAL_MS, SILENCE_MS_MAX } from '../protocol.ts';
import { fromWireFailure } from '../status-mapping.ts';
import type { ClusterIdentity } from '../transport/cluster-identity.ts';
import { dialShard, type ShardDial, type ShardDialOptions } from '../transport/shard-dialer.ts';
import type { OpenStream } from '../transport/transport.ts';
import { Gathering, type MessageSpacing } from './gathering.ts';
import { ReceiverTable } from './receiver-table.ts';

/** Twice per ping interval: silence is noticed at most this much after its bound. */
const TICK_MS = PING_INTERVAL_MS / 2;

/** Distinct reasons why one shard stays away. More would only fill the log. */
const LOSS_REASONS_MAX = 10;

/** The stream ended before the reply came: it is unknown whether the shard did anything. */
export class DisconnectedError extends Error {
  readonly kind = 'disconnected';
}

/** Why one try failed. GrantdError is final; the others say what to do next. */
export type TryFailure = GrantdError | ShardFailure | DisconnectedError;

/** What waits for the reply to a request. */
export interface Receiver {
  onReply(reply: ReceivedReply): void;
  onFailure(failure: TryFailure): void;
}

/** What has gathered to be sent. */
export interface LinkOutbox {
  /** Whether the bytes that wait for the shard exceed their bound, so that nothing more should be added. */
  readonly full: boolean;
  /** Checks that wait for others to leave with. */
  readonly gathered: number;
  /** The next message, with as much of what has gathered as it may carry; undefined if nothing has. */
  next(): FrontMessage | undefined;
  clear(): void;
}

export interface StreamLinkEvents {
  /** False: this shard does not fit the cluster of the others, and the link is not used. */
  onWelcome?(welcome: ReceivedWelcome): boolean;
  /** The shard has sent its welcome, and its clock is known. */
  onReady?(): void;
  /** What the shard serves: everything once the link is ready, and then each change. */
  onRoutes?(routes: LinkRoutes): void;
  /** A message of the shard has arrived, and is read next. */
  onHeard?(nowMs: number): void;
  /** What has changed since the shard issued handles to keys of these tenants. */
  onSettings?(settings: readonly ReceivedSettings[]): void;
  /** Without those that failed. */
  onCheckResults?(results: ReceivedCheckResults): void;
  /** The stream, ready or not, has ended. The receivers hear of it next. */
  onLost(): void;
}

export interface LinkDependencies {
  readonly clock: Clock;
  /** What gathers in one turn is sent at its end. */
  readonly turns: Turns;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The cluster of this process: shards of another one are refused. */
  readonly cluster: ClusterIdentity;
  /** With the certificate of the process. */
  readonly openStream: OpenStream;
}

export interface StreamLinkDependencies extends Omit<LinkDependencies, 'metrics'> {
  /** Counts streams by state. */
  readonly connections: Metrics['frontShardConnections'];
}

export interface StreamLinkOptions {
  readonly outbox: LinkOutbox;
  readonly hello: ShardDialOptions['hello'];
  /** Absent: everything leaves at the end of its turn. So it is where a message costs little: within one process. */
  readonly spacing?: MessageSpacing | undefined;
}

export class StreamLink<Call extends Receiver> {
  readonly address: string;
  /** Those that wait for a reply. */
  readonly receivers = new ReceiverTable<Call>();
  readonly #clock: Clock;
  readonly #turns: Turns;
  readonly #log: Log;
  readonly #connections: StreamLinkDependencies['connections'];
  readonly #events: StreamLinkEvents;
  readonly #outbox: LinkOutbox;
  readonly #gathering: Gathering | undefined;
  readonly #dial: ShardDial;
  readonly #flush = (): void => this.#flushNow();

  #welcomed = false;
  #ready = false;
  #shardName = '';
  #connection = 0;
  #routes: AnnouncedRoutes | undefined;
  #clockOffsetMs = 0;
  #heardAtMs = 0;
  #tickedAtMs = 0;
  #ticks = 0;
  #tick: Timer | undefined;
  /** Reasons logged since the last connection. */
  readonly #lossReasons = new Set<string>();

  #flushScheduled = false;
  #blocked = false;

  constructor(
    address: string,
    events: StreamLinkEvents,
    dependencies: StreamLinkDependencies,
    options: StreamLinkOptions,
  ) {
    this.address = address;
    this.#events = events;
    this.#outbox = options.outbox;
    this.#clock = dependencies.clock;
    const { spacing } = options;
    this.#gathering = spacing && new Gathering(this.#clock, spacing, () => this.#schedule());
    this.#turns = dependencies.turns;
    this.#log = dependencies.log;
    this.#connections = dependencies.connections;
    this.#connections.inc({ state: 'connecting' });
    this.#dial = dialShard(
      address,
      {
        onReady: (welcome) => this.#open(welcome),
        onMessage: (message) => this.#receive(message),
        onDrain: () => {
          this.#blocked = false;
          this.#schedule();
        },
        onClosed: (reason) => this.#lose(reason),
      },
      {
        clock: dependencies.clock,
        random: dependencies.random,
        openStream: dependencies.openStream,
        cluster: dependencies.cluster,
        hello: options.hello,
      },
    );
  }

  /** Whether the shard has sent its welcome and its clock is known. */
  get ready(): boolean {
    return this.#ready;
  }

  /** Raised with every connection: what was issued over another one is not valid. */
  get connection(): number {
    return this.#connection;
  }

  /** The stable name of the shard, from its last welcome. */
  get shardName(): string {
    return this.#shardName;
  }

  /** The shard's clock minus ours; possibly too small, never too large. */
  get clockOffsetMs(): number {
    return this.#clockOffsetMs;
  }

  /**
   * Takes a receiver in whose request the caller adds to the outbox at once, under the returned id. 0: the request
   * cannot be sent, and the receiver has heard of that. `mayWait`: for others to leave with, as checks do.
   */
  enlist(receiver: Call, mayWait = false): number {
    if (!this.#ready) {
      receiver.onFailure(new DisconnectedError('There is no connection to the shard.'));
      return 0;
    }
    if (this.receivers.size >= OUTSTANDING_MAX || this.#outbox.full) {
      receiver.onFailure(new GrantdError('overloaded', 'Too many requests are waiting for one shard.'));
      return 0;
    }
    const id = this.receivers.add(receiver);
    if (this.#flushScheduled || this.#blocked) return id;
    if (!mayWait || this.#gathering?.waits(this.#outbox.gathered) !== true) this.#schedule();
    return id;
  }

  /** Sends a message ahead of everything that waits. False: it cannot be sent now. */
  sendAhead(message: FrontMessage): boolean {
    if (!this.#ready || this.#blocked) return false;
    this.#blocked = !this.#dial.send(message);
    return true;
  }

  /** The receiver, if one still waits, gets this reply. */
  takeReply(reply: ReceivedReply): void {
    const receiver = this.receivers.take(reply.id);
    if (receiver === undefined) return;
    if (reply.failure === null || reply.failure === undefined) receiver.onReply(reply);
    else receiver.onFailure(fromWireFailure(reply.failure));
  }

  /** Closes the link for good, once. Every receiver hears of it. */
  close(): void {
    this.#dial.close();
    this.#connections.dec({ state: 'connecting' });
    this.#drop(new DisconnectedError('The connection to the shard is closing.'));
  }

  /** What has gathered leaves at the end of this turn. */
  #schedule(): void {
    if (this.#flushScheduled || this.#blocked) return;
    this.#flushScheduled = true;
    this.#turns.atEnd(this.#flush);
  }

  #flushNow(): void {
    this.#flushScheduled = false;
    while (this.#ready && !this.#blocked) {
      const message = this.#outbox.next();
      if (message === undefined) return;
      if (message.checks) this.#gathering?.sent(message.checks.ids?.length ?? 0);
      this.#blocked = !this.#dial.send(message);
    }
  }

  #open(welcome: ReceivedWelcome): void {
    this.#shardName = welcome.shardName;
    this.#connection += 1;
    this.#welcomed = this.#events.onWelcome?.(welcome) ?? true;
    const nowMs = this.#clock.monotonicMs();
    this.#heardAtMs = nowMs;
    this.#tickedAtMs = nowMs;
    this.#scheduleTick();
  }

  #scheduleTick(): void {
    this.#tick = this.#clock.setTimer(() => this.#onTick(), TICK_MS);
  }

  #onTick(): void {
    const nowMs = this.#clock.monotonicMs();
    // If this process itself stalled, it has not yet read what arrived since: the shard gets another chance.
    if (nowMs - this.#tickedAtMs > 2 * TICK_MS) this.#heardAtMs = Math.max(this.#heardAtMs, nowMs - PING_INTERVAL_MS);
    this.#tickedAtMs = nowMs;
    if (nowMs - this.#heardAtMs > SILENCE_MS_MAX) {
      this.#dial.reset('The shard has been silent for too long.');
      return;
    }
    this.#ticks += 1;
    if (this.#ticks % 2 === 0) this.#dial.send({ ping: { id: this.#ticks >>> 0 } });
    this.#scheduleTick();
  }

  #receive(message: ReceivedShardMessage): void {
    this.#heardAtMs = this.#clock.monotonicMs();
    this.#events.onHeard?.(this.#heardAtMs);
    // The shard read its clock before this moment, so the offset can only be too small, and an attempt expire early.
    if (message.pong !== null) this.#clockOffsetMs = message.pong.shardMs - this.#heardAtMs;
    if (message.routes !== null) this.#takeRoutes(message.routes);
    if (message.pong !== null && !this.#ready && this.#welcomed) {
      this.#ready = true;
      this.#connections.dec({ state: 'connecting' });
      this.#connections.inc({ state: 'ready' });
      this.#lossReasons.clear();
      this.#log.info({ address: this.address }, 'connected to a shard');
      this.#events.onReady?.();
      if (this.#routes !== undefined) this.#events.onRoutes?.(this.#routes.whole);
    }
    if (message.checkResults !== null) {
      this.#events.onCheckResults?.(message.checkResults);
      for (const reply of message.checkResults.failed) this.takeReply(reply);
    }
    for (const reply of message.replies) this.takeReply(reply);
    if (message.settings.length > 0) this.#events.onSettings?.(message.settings);
    if (message.checkResults === null || this.#gathering?.answered(this.#outbox.gathered) !== true) return;
    // Without a call that leaves at the end of this turn: they leave with the bytes that this message lets go.
    if (!this.#flushScheduled) this.#flushNow();
  }

  #takeRoutes(routes: ReceivedRoutes): void {
    this.#routes ??= new AnnouncedRoutes();
    const applied = this.#routes.take(routes);
    if (this.#ready) this.#events.onRoutes?.(applied);
  }

  #lose(reason: string): void {
    // An absent shard may be dialled for hours: the log names each reason once.
    if (!this.#lossReasons.has(reason) && this.#lossReasons.size < LOSS_REASONS_MAX) {
      this.#lossReasons.add(reason);
      this.#log.warn({ address: this.address, reason }, 'no connection to a shard');
    }
    this.#drop(new DisconnectedError('The connection to the shard was lost.'));
  }

  #drop(failure: DisconnectedError): void {
    this.#tick?.cancel();
    if (this.#ready) {
      this.#connections.dec({ state: 'ready' });
      this.#connections.inc({ state: 'connecting' });
    }
    this.#ready = false;
    this.#welcomed = false;
    this.#blocked = false;
    this.#routes = undefined;
    this.#outbox.clear();
    this.#gathering?.clear();
    const receivers = this.receivers.takeAll();
    this.#events.onLost();
    for (const receiver of receivers) receiver.onFailure(failure);
  }
}
