// The link of a front to one shard. It gathers the checks and calls of one turn of the event loop into one message,
// finds the receiver of each reply, tracks the shard's clock, and notices a dead connection within 2 s. Invariants:
// every receiver hears exactly once of its check or call (a reply, a failure, or the loss of the stream) unless it was
// forgotten before; the table of receivers and the outbox are bounded.

import type { Clock, Random, Timer } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import { GrantdError } from '../../core/errors.ts';
import type { SingleCheck } from '../../rpc/calls/checks.ts';
import type { Attempt } from '../../rpc/gen/grantd/v1/Attempt.ts';
import type { CheckResults__Output } from '../../rpc/gen/grantd/v1/CheckResults.ts';
import type { Hello } from '../../rpc/gen/grantd/v1/Hello.ts';
import type { Reply__Output } from '../../rpc/gen/grantd/v1/Reply.ts';
import type { Report } from '../../rpc/gen/grantd/v1/Report.ts';
import type { Routes__Output } from '../../rpc/gen/grantd/v1/Routes.ts';
import type { ShardMessage__Output } from '../../rpc/gen/grantd/v1/ShardMessage.ts';
import type { Welcome__Output } from '../../rpc/gen/grantd/v1/Welcome.ts';
import { OUTSTANDING_MAX, PING_INTERVAL_MS, SILENCE_MS_MAX } from '../../rpc/protocol.ts';
import { fromWireFailure } from '../../rpc/status-mapping.ts';
import { dialShard, type ShardDial } from '../../rpc/transport/shard-dialer.ts';
import type { OpenStream } from '../../rpc/transport/transport.ts';
import type { MemberAddress, ShardFailure } from '../../shard/shard.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { LoadTally } from './load-tally.ts';
import { type CallBody, Outbox } from './outbox.ts';
import { ReceiverTable } from './receiver-table.ts';

/** Twice per ping interval: silence is noticed at most this much after its bound. */
const TICK_MS = PING_INTERVAL_MS / 2;

/** Distinct reasons why one shard stays away. More would only fill the log. */
const LOSS_REASONS_MAX = 10;

const NO_TIMES = new Map<number, number>();

/** The stream ended before the reply came: it is unknown whether the shard did anything. */
export class Disconnected extends Error {
  readonly kind = 'disconnected';
}

/** Why one try failed. GrantdError is final; the others say what to do next. */
export type TryFailure = GrantdError | ShardFailure | Disconnected;

export interface Receiver {
  onCheck(authorized: boolean, checkedAtMs: number): void;
  onReply(reply: Reply__Output): void;
  onFailure(failure: TryFailure): void;
}

export interface LinkEvents {
  /** False: this shard does not fit the cluster of the others, and the link is not used. */
  onWelcome(link: ShardLink, welcome: Welcome__Output): boolean;
  /** What the shard serves; replaces what it said before. Never before the link is ready. */
  onRoutes(link: ShardLink, routes: LinkRoutes): void;
  onLost(link: ShardLink): void;
}

export interface LinkRoutes {
  readonly epochs: ReadonlyMap<number, number>;
  /** The other members that the shard knows. */
  readonly members: readonly MemberAddress[];
}

export interface LinkDependencies {
  readonly clock: Clock;
  /** What gathers in one turn is sent at its end. */
  readonly turns: Turns;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly openStream: OpenStream;
}

export interface LinkOptions {
  readonly hello: () => Hello;
}

export class ShardLink {
  readonly address: string;
  /** Requests to this shard since the last report. */
  readonly load = new LoadTally();
  readonly #clock: Clock;
  readonly #turns: Turns;
  readonly #log: Log;
  readonly #metrics: Metrics;
  readonly #events: LinkEvents;
  readonly #dial: ShardDial;
  readonly #receivers = new ReceiverTable<Receiver>();
  readonly #flush = (): void => this.#flushNow();

  #welcomed = false;
  #connection = 0;
  #ready = false;
  #shardName = '';
  #routes: LinkRoutes | undefined;
  /** The shard's clock minus ours; possibly too small, never too large. */
  #clockOffsetMs = 0;
  #heardAtMs = 0;
  #tickedAtMs = 0;
  #ticks = 0;
  #tick: Timer | undefined;
  /** Reasons logged since the last connection. */
  readonly #lossReasons = new Set<string>();

  #flushScheduled = false;
  #blocked = false;
  readonly #outbox: Outbox;

  constructor(address: string, events: LinkEvents, dependencies: LinkDependencies, options: LinkOptions) {
    this.address = address;
    this.#events = events;
    this.#clock = dependencies.clock;
    this.#turns = dependencies.turns;
    this.#log = dependencies.log;
    this.#metrics = dependencies.metrics;
    this.#outbox = new Outbox(dependencies.metrics);
    this.#metrics.frontShardConnections.inc({ state: 'connecting' });
    this.#dial = dialShard(
      address,
      {
        onReady: (welcome) => this.#open(welcome),
        onMessage: (message) => this.#receive(message),
        onDrain: () => {
          this.#blocked = false;
          this.#flushNow();
        },
        onClosed: (reason) => this.#lose(reason),
      },
      {
        clock: dependencies.clock,
        random: dependencies.random,
        openStream: dependencies.openStream,
        firstMessage: () => ({ hello: options.hello(), ping: { id: 0 } }),
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

  /**
   * Sends a check with everything else that gathers in this turn. Returns its id, for `forget`; 0 if it failed at once.
   * `traceparent`: of the requesting span, if any.
   */
  check(receiver: Receiver, handle: number, check: SingleCheck, traceparent?: string): number {
    const id = this.#enlist(receiver);
    if (id !== 0) this.#outbox.addCheck(id, handle, check, traceparent);
    return id;
  }

  /** Like `check`. A write carries its request id, and the time on our clock by which it has to arrive. */
  call(
    receiver: Receiver,
    handle: number,
    body: CallBody,
    write?: { readonly requestId: string; readonly deadlineMs: number },
    traceparent?: string,
  ): number {
    const id = this.#enlist(receiver);
    if (id === 0) return 0;
    const attempt: Attempt | null =
      write === undefined ? null : { requestId: write.requestId, expiresAtMs: write.deadlineMs + this.#clockOffsetMs };
    this.#outbox.addCall({ ...body, id, handle, attempt, ...(traceparent === undefined ? {} : { traceparent }) });
    return id;
  }

  /** Sends a report ahead of everything that waits. False: it cannot be sent now. */
  report(report: Report): boolean {
    if (!this.#ready || this.#blocked) return false;
    this.#blocked = !this.#dial.send({ report });
    return true;
  }

  /** The receiver hears nothing more of this check or call. */
  forget(id: number): void {
    this.#receivers.take(id);
  }

  /** Closes the link for good, once. Every receiver hears of it. */
  close(): void {
    this.#dial.close();
    this.#metrics.frontShardConnections.dec({ state: 'connecting' });
    this.#drop(new Disconnected('The front is closing.'));
  }

  #enlist(receiver: Receiver): number {
    if (!this.#ready) {
      receiver.onFailure(new Disconnected('There is no connection to the shard.'));
      return 0;
    }
    if (this.#receivers.size >= OUTSTANDING_MAX || this.#outbox.full) {
      receiver.onFailure(new GrantdError('overloaded', 'Too many requests are waiting for one shard.'));
      return 0;
    }
    const id = this.#receivers.add(receiver);
    if (!this.#flushScheduled && !this.#blocked) {
      this.#flushScheduled = true;
      this.#turns.atEnd(this.#flush);
    }
    return id;
  }

  #flushNow(): void {
    this.#flushScheduled = false;
    while (this.#ready && !this.#blocked) {
      const message = this.#outbox.next();
      if (message === undefined) return;
      this.#blocked = !this.#dial.send(message);
    }
  }

  #open(welcome: Welcome__Output): void {
    this.#shardName = welcome.shardName;
    this.#connection += 1;
    this.#welcomed = this.#events.onWelcome(this, welcome);
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

  #receive(message: ShardMessage__Output): void {
    this.#heardAtMs = this.#clock.monotonicMs();
    this.load.nowMs = this.#heardAtMs;
    // The shard read its clock before this moment, so the offset can only be too small, and an attempt expire early.
    if (message.pong !== null) this.#clockOffsetMs = message.pong.shardMs - this.#heardAtMs;
    if (message.routes !== null) this.#takeRoutes(message.routes);
    if (message.pong !== null && !this.#ready && this.#welcomed) {
      this.#ready = true;
      // Failures while the shard was away are not its own.
      this.load.take(0);
      this.#metrics.frontShardConnections.dec({ state: 'connecting' });
      this.#metrics.frontShardConnections.inc({ state: 'ready' });
      this.#lossReasons.clear();
      this.#log.info({ address: this.address }, 'connected to a shard');
      if (this.#routes !== undefined) this.#events.onRoutes(this, this.#routes);
    }
    if (message.checkResults !== null) this.#takeCheckResults(message.checkResults);
    for (const reply of message.replies) this.#takeReply(reply);
  }

  #takeRoutes(routes: Routes__Output): void {
    const epochs = new Map(routes.slots.map((slot, index) => [slot, routes.epochs[index] ?? 0]));
    this.#routes = { epochs, members: routes.members };
    if (this.#ready) this.#events.onRoutes(this, this.#routes);
  }

  #takeCheckResults(results: CheckResults__Output): void {
    const receivers = this.#receivers;
    const { authorized, denied, checkedAtMs, timed, timedAtMs } = results;
    const times = timed.length === 0 ? NO_TIMES : new Map<number, number>();
    for (const [index, id] of timed.entries()) {
      const time = timedAtMs[index];
      if (time !== undefined) times.set(id, time);
    }
    for (const id of authorized) {
      receivers.take(id)?.onCheck(true, times.get(id) ?? checkedAtMs);
    }
    for (const id of denied) {
      receivers.take(id)?.onCheck(false, times.get(id) ?? checkedAtMs);
    }
    for (const reply of results.failed) this.#takeReply(reply);
  }

  #takeReply(reply: Reply__Output): void {
    const receiver = this.#receivers.take(reply.id);
    if (receiver === undefined) return;
    if (reply.failure === null || reply.failure === undefined) receiver.onReply(reply);
    else receiver.onFailure(fromWireFailure(reply.failure));
  }

  #lose(reason: string): void {
    // The front dials an absent shard for hours: the log names each reason once.
    if (!this.#lossReasons.has(reason) && this.#lossReasons.size < LOSS_REASONS_MAX) {
      this.#lossReasons.add(reason);
      this.#log.warn({ address: this.address, reason }, 'no connection to a shard');
    }
    this.#drop(new Disconnected('The connection to the shard was lost.'));
  }

  #drop(failure: Disconnected): void {
    this.#tick?.cancel();
    if (this.#ready) {
      this.#metrics.frontShardConnections.dec({ state: 'ready' });
      this.#metrics.frontShardConnections.inc({ state: 'connecting' });
    }
    this.#ready = false;
    this.#welcomed = false;
    this.#blocked = false;
    this.#routes = undefined;
    this.#outbox.clear();
    const receivers = this.#receivers.takeAll();
    this.#events.onLost(this);
    for (const receiver of receivers) receiver.onFailure(failure);
  }
}
