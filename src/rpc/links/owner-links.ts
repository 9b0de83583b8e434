// The links of a shard to other shards: to the owners of tenants that it reads for, and to the successors of its slots.
// One per address, dialled at the first call and closed after a minute without one. Invariants: each call is sent at
// most once, never before it was made, and settles with its reply or with the connection; the links are bounded, and so
// are the calls that wait at each.

import type { Clock, Timer } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import { SHARD_ADDRESSES_MAX } from '../../core/limits.ts';
import { isAddress } from '../../core/text/addresses.ts';
import type { SuccessorPort } from '../../shard/ownership/ownership.ts';
import type { OwnerPort } from '../../shard/readers/follow-tenant.ts';
import {
  type AnswerOf,
  type Expectation,
  type ExpectedSlot,
  type FollowAnswer,
  type FollowRequest,
  type HandedOverSlot,
  type InterShardCalls,
  type RequestOf,
  ShardFailure,
} from '../../shard/shard.ts';
import type { CallBody, DefinedCall } from '../calls/define-call.ts';
import { handoverCalls } from '../calls/handovers.ts';
import { readerCalls } from '../calls/readers.ts';
import { Peer, type ReceivedReply } from '../messages.ts';
import { OUTSTANDING_MAX } from '../protocol.ts';
import type { ShardDialOptions } from '../transport/shard-dialer.ts';
import { CallQueue } from './call-queue.ts';
import {
  DisconnectedError,
  type LinkDependencies,
  type Receiver,
  StreamLink,
  type StreamLinkDependencies,
  type TryFailure,
} from './stream-link.ts';

/** A link without calls costs a connection and a ping every half second; a new one costs the first call a few ms. */
const IDLE_MS_MAX = 60_000;

export interface OwnerLinksOptions {
  /** Name of this process, for the logs of owners. */
  readonly name: string;
  readonly version: string;
  /** An owner whose cluster has another number of slots refuses the connection. */
  readonly slots: number;
}

/** A call that waits for its reply. */
class InterShardCall<Name extends keyof InterShardCalls = keyof InterShardCalls> implements Receiver {
  readonly #call: DefinedCall<Name>;
  readonly #request: RequestOf<Name>;
  readonly #resolve: (answer: AnswerOf<Name>) => void;
  readonly #reject: (error: GrantdError | ShardFailure) => void;

  constructor(
    call: DefinedCall<Name>,
    request: RequestOf<Name>,
    resolve: (answer: AnswerOf<Name>) => void,
    reject: (error: GrantdError | ShardFailure) => void,
  ) {
    this.#call = call;
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get body(): CallBody {
    return this.#call.toWire(this.#request);
  }

  onReply(reply: ReceivedReply): void {
    try {
      this.#resolve(this.#call.answerOf(reply, this.#request));
    } catch (error) {
      this.#reject(GrantdError.from(error));
    }
  }

  onFailure(failure: TryFailure): void {
    this.#reject(failure instanceof DisconnectedError ? new ShardFailure('not-serving', failure.message) : failure);
  }
}

/** What a link asks of a call. */
type WaitingCall = Receiver & Pick<InterShardCall, 'body'>;

class OwnerLink {
  readonly #clock: Clock;
  readonly #queue = new CallQueue();
  readonly #link: StreamLink<WaitingCall>;
  /** Calls that wait for the connection. */
  #early: WaitingCall[] = [];
  #calledAtMs: number;
  #idle: Timer;

  constructor(
    address: string,
    dependencies: StreamLinkDependencies,
    hello: ShardDialOptions['hello'],
    onIdle: () => void,
  ) {
    this.#clock = dependencies.clock;
    this.#link = new StreamLink(
      address,
      { onReady: () => this.#sendEarly(), onLost: () => this.#failEarly() },
      dependencies,
      { outbox: this.#queue, hello },
    );
    this.#calledAtMs = this.#clock.monotonicMs();
    this.#idle = this.#watchIdle(IDLE_MS_MAX, onIdle);
  }

  call<Name extends keyof InterShardCalls>(
    defined: DefinedCall<Name>,
    request: RequestOf<Name>,
  ): Promise<AnswerOf<Name>> {
    this.#calledAtMs = this.#clock.monotonicMs();
    return new Promise((resolve, reject) => {
      const call = new InterShardCall(defined, request, resolve, reject);
      if (this.#link.ready) this.#send(call);
      else if (this.#early.length < OUTSTANDING_MAX) this.#early.push(call);
      else reject(new GrantdError('overloaded', 'Too many calls are waiting for the connection to one shard.'));
    });
  }

  /** What waits for a reply fails. */
  close(): void {
    this.#idle.cancel();
    this.#link.close();
  }

  #watchIdle(inMs: number, onIdle: () => void): Timer {
    return this.#clock.setTimer(() => {
      const leftMs = this.#calledAtMs + IDLE_MS_MAX - this.#clock.monotonicMs();
      if (leftMs <= 0) onIdle();
      else this.#idle = this.#watchIdle(leftMs, onIdle);
    }, inMs);
  }

  #send(call: WaitingCall): void {
    const id = this.#link.enlist(call);
    if (id !== 0) this.#queue.add({ ...call.body, id, handle: 0, attempt: null });
  }

  #sendEarly(): void {
    const calls = this.#early;
    this.#early = [];
    for (const call of calls) this.#send(call);
  }

  /** A dial ends within 2 s, one way or the other, so no call waits for longer. */
  #failEarly(): void {
    const calls = this.#early;
    this.#early = [];
    for (const call of calls) call.onFailure(new DisconnectedError('There is no connection to the shard.'));
  }
}

export class OwnerLinks implements OwnerPort, SuccessorPort {
  readonly #dependencies: StreamLinkDependencies;
  readonly #hello: ReturnType<ShardDialOptions['hello']>;
  readonly #links = new Map<string, OwnerLink>();
  #closed = false;

  constructor(dependencies: LinkDependencies, { name, version, slots }: OwnerLinksOptions) {
    this.#dependencies = { ...dependencies, connections: dependencies.metrics.ownerConnections };
    this.#hello = { name, version, peer: Peer.PEER_SHARD, slots };
  }

  follow(address: string, request: FollowRequest): Promise<FollowAnswer> {
    return this.#call(address, readerCalls.followTenant, request);
  }

  expect(address: string, slot: ExpectedSlot): Promise<Expectation> {
    return this.#call(address, handoverCalls.expectSlot, slot);
  }

  take(address: string, slot: HandedOverSlot): Promise<undefined> {
    return this.#call(address, handoverCalls.takeSlot, slot);
  }

  /** Closes every link. What waits fails, and so does every later call. */
  close(): void {
    this.#closed = true;
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
  }

  async #call<Name extends keyof InterShardCalls>(
    address: string,
    call: DefinedCall<Name>,
    request: RequestOf<Name>,
  ): Promise<AnswerOf<Name>> {
    const link = this.#links.get(address) ?? this.#dial(address);
    if (link === undefined) throw new ShardFailure('not-serving', 'The shard cannot be dialled.');
    return link.call(call, request);
  }

  #dial(address: string): OwnerLink | undefined {
    if (this.#closed) return undefined;
    if (!isAddress(address) || this.#links.size >= SHARD_ADDRESSES_MAX) {
      this.#dependencies.log.warn(
        { address, links: this.#links.size },
        'owner not dialled: its address is malformed, or there are too many links',
      );
      return undefined;
    }
    const link = new OwnerLink(
      address,
      this.#dependencies,
      () => this.#hello,
      () => {
        this.#links.delete(address);
        link.close();
      },
    );
    this.#links.set(address, link);
    return link;
  }
}
