// The link of a front to one shard: checks and calls under handles, and what the front has requested there.

import { GrantdError } from '../../core/errors.ts';
import type { SingleCheck } from '../../rpc/calls/checks.ts';
import type { CallBody } from '../../rpc/calls/define-call.ts';
import {
  type Receiver as CallReceiver,
  type LinkDependencies,
  type LinkRoutes,
  StreamLink,
} from '../../rpc/links/stream-link.ts';
import type { Attempt, ReceivedCheckResults, ReceivedWelcome, Report } from '../../rpc/messages.ts';
import type { ShardDialOptions } from '../../rpc/transport/shard-dialer.ts';
import type { LogPosition } from '../../shard/shard.ts';
import { LoadTally } from './load-tally.ts';
import { Outbox } from './outbox.ts';

const NO_TIMES = new Map<number, number>();

export interface Receiver extends CallReceiver {
  onCheck(authorized: boolean, checkedAtMs: number): void;
  /** Right before the denial of a check that names namespaces of which the tenant has nothing. */
  onHint?(unknownNamespaces: readonly string[]): void;
}

export interface LinkEvents {
  /** False: this shard does not fit the cluster of the others, and the link is not used. */
  onWelcome(link: ShardLink, welcome: ReceivedWelcome): boolean;
  /** What the shard serves; replaces what it said before. Never before the link is ready. */
  onRoutes(link: ShardLink, routes: LinkRoutes): void;
  onLost(link: ShardLink): void;
}

export interface LinkOptions {
  readonly hello: ShardDialOptions['hello'];
}

export class ShardLink {
  readonly address: string;
  /** Requests to this shard since the last report. */
  readonly load = new LoadTally();
  readonly #outbox: Outbox;
  readonly #link: StreamLink<Receiver>;

  constructor(address: string, events: LinkEvents, dependencies: LinkDependencies, options: LinkOptions) {
    this.address = address;
    const { metrics } = dependencies;
    this.#outbox = new Outbox(metrics);
    this.#link = new StreamLink(
      address,
      {
        onWelcome: (welcome) => events.onWelcome(this, welcome),
        // Failures while the shard was away are not its own.
        onReady: () => this.load.take(0),
        onRoutes: (routes) => events.onRoutes(this, routes),
        onHeard: (nowMs) => {
          this.load.nowMs = nowMs;
        },
        onCheckResults: (results) => this.#takeCheckResults(results),
        onLost: () => events.onLost(this),
      },
      { ...dependencies, connections: metrics.frontShardConnections },
      { outbox: this.#outbox, hello: options.hello },
    );
  }

  /** Whether the shard has sent its welcome and its clock is known. */
  get ready(): boolean {
    return this.#link.ready;
  }

  /** Raised with every connection: what was issued over another one is not valid. */
  get connection(): number {
    return this.#link.connection;
  }

  /** The stable name of the shard, from its last welcome. */
  get shardName(): string {
    return this.#link.shardName;
  }

  /**
   * Sends a check with everything else that gathers in this turn. Returns its id, for `forget`; 0 if it failed at once.
   * `traceparent`: of the requesting span, if any.
   */
  check(receiver: Receiver, handle: number, check: SingleCheck, traceparent?: string): number {
    const id = this.#link.enlist(receiver);
    if (id !== 0) this.#outbox.addCheck(id, handle, check, traceparent);
    return id;
  }

  /** A reader answers the calls of the tenant that are made next at this position or at a later one. */
  answerAt(position: LogPosition): void {
    this.#outbox.addPosition(position);
  }

  /** Like `check`. A write carries its request id, and the time on our clock by which it has to arrive. */
  call(
    receiver: Receiver,
    handle: number,
    body: CallBody,
    write?: { readonly requestId: string; readonly deadlineMs: number },
    traceparent?: string,
  ): number {
    const id = this.#link.enlist(receiver);
    if (id === 0) return 0;
    const { clockOffsetMs } = this.#link;
    const attempt: Attempt | null =
      write === undefined ? null : { requestId: write.requestId, expiresAtMs: write.deadlineMs + clockOffsetMs };
    const call = { ...body, id, handle, attempt, ...(traceparent === undefined ? {} : { traceparent }) };
    if (this.#outbox.addCall(call)) return id;
    this.#link.receivers.take(id)?.onFailure(new GrantdError('internal', 'The call is too large for a message.'));
    return 0;
  }

  /** Sends a report ahead of everything that waits. False: it cannot be sent now. */
  report(report: Report): boolean {
    return this.#link.sendAhead({ report });
  }

  /** Another receiver hears of this check or call from now on. */
  handOver(id: number, receiver: Receiver): void {
    this.#link.receivers.replace(id, receiver);
  }

  /** The receiver hears nothing more of this check or call. */
  forget(id: number): void {
    this.#link.receivers.take(id);
  }

  /** Closes the link for good, once. Every receiver hears of it. */
  close(): void {
    this.#link.close();
  }

  #takeCheckResults({ authorized, denied, checkedAtMs, timed, timedAtMs, hinted }: ReceivedCheckResults): void {
    const { receivers } = this.#link;
    const times = timed.length === 0 ? NO_TIMES : new Map<number, number>();
    for (const [index, id] of timed.entries()) {
      const time = timedAtMs[index];
      if (time !== undefined) times.set(id, time);
    }
    for (const { id, unknownNamespaces } of hinted) receivers.get(id)?.onHint?.(unknownNamespaces);
    for (const id of authorized) {
      receivers.take(id)?.onCheck(true, times.get(id) ?? checkedAtMs);
    }
    for (const id of denied) {
      receivers.take(id)?.onCheck(false, times.get(id) ?? checkedAtMs);
    }
  }
}
