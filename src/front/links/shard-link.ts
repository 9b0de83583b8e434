// The link of a front to one shard: checks and calls under handles, and what the front has requested there.

import type { Clock } from '../../core/async/clock.ts';
import { ERROR_CATALOGUE, type ErrorCode, GrantdError } from '../../core/errors.ts';
import { SHARD_ADDRESSES_MAX } from '../../core/limits.ts';
import { LATENCY_BUCKETS, latencyBucket } from '../../core/structures/latency-histogram.ts';
import { isAddress } from '../../core/text/addresses.ts';
import type { Discovery } from '../../discovery/discovery.ts';
import type { LinkRoutes } from '../../rpc/announced-routes.ts';
import type { SingleCheck } from '../../rpc/calls/checks.ts';
import type { CallBody } from '../../rpc/calls/define-call.ts';
import type { MessageSpacing } from '../../rpc/links/gathering.ts';
import { type Receiver as CallReceiver, type LinkDependencies, StreamLink } from '../../rpc/links/stream-link.ts';
import type {
  Attempt,
  Load,
  ReceivedCheckResults,
  ReceivedSettings,
  ReceivedWelcome,
  Report,
} from '../../rpc/messages.ts';
import type { ShardDialOptions } from '../../rpc/transport/shard-dialer.ts';
import type { LogPosition, MemberAddress } from '../../shard/shard.ts';
import type { Log } from '../../telemetry/log.ts';
import type { RequestContext } from '../front.ts';
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
  /** What the shard serves: everything once the link is ready, and then each change. */
  onRoutes(link: ShardLink, routes: LinkRoutes): void;
  onSettings(link: ShardLink, settings: readonly ReceivedSettings[]): void;
  onLost(link: ShardLink): void;
}

export interface LinkOptions {
  readonly hello: ShardDialOptions['hello'];
  /** As of `StreamLinkOptions`. */
  readonly spacing?: MessageSpacing | undefined;
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
        onSettings: (settings) => events.onSettings(this, settings),
        onCheckResults: (results) => this.#takeCheckResults(results),
        onLost: () => events.onLost(this),
      },
      { ...dependencies, connections: metrics.frontShardConnections },
      { outbox: this.#outbox, ...options },
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
   * Sends a check with everything else that gathers in this turn, or soon (gathering.ts). Returns its id, for `forget`;
   * 0 if it failed at once. `traceparent`: of the requesting span, if any.
   */
  check(receiver: Receiver, handle: number, check: SingleCheck, traceparent?: string): number {
    const id = this.#link.enlist(receiver, true);
    if (id !== 0) this.#outbox.addCheck(id, handle, check, traceparent);
    return id;
  }

  /** A reader answers the calls of the tenant that are made next at this position or at a later one. */
  answerAt(position: LogPosition): void {
    this.#outbox.addPosition(position);
  }

  /** Returns what `check` does. A write carries its request id, and the time on our clock by which it has to arrive. */
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

// ---- load ----

/**
 * What this front has requested from one shard since its last report. Every check passes here, so the tally only adds,
 * and takes the time from callers that have already read the clock.
 */
export class LoadTally {
  /** When the replies being processed arrived, on the monotonic clock. */
  nowMs = 0;
  #checks = 0;
  #failures = 0;
  readonly #latencies = new Uint32Array(LATENCY_BUCKETS);

  /** Counts answered checks of one request. Requests that do not come from a tenant do not count. */
  answered(context: RequestContext, count: number): void {
    const { arrivedAtMs } = context;
    if (arrivedAtMs === undefined) return;
    this.#checks += count;
    const bucket = latencyBucket(this.nowMs - arrivedAtMs);
    this.#latencies[bucket] = (this.#latencies[bucket] ?? 0) + 1;
  }

  /** Counts a refused request, a check or another. Refusals caused by the client do not count. */
  refused(context: RequestContext, code: ErrorCode): void {
    if (context.arrivedAtMs !== undefined && ERROR_CATALOGUE[code].httpStatus >= 500) this.#failures += 1;
  }

  /** Returns what has gathered, and starts over. */
  take(elapsedMs: number): Load {
    const load = {
      elapsedMs: Math.max(0, Math.round(elapsedMs)),
      checks: this.#checks,
      failures: this.#failures,
      latencies: [...this.#latencies],
    };
    this.#checks = 0;
    this.#failures = 0;
    this.#latencies.fill(0);
    return load;
  }
}

// ---- all links of a front ----
//
// The links of a front: one per address that discovery names, and one per member or owner that a shard names.
// Invariants: no address is dialled twice, and the number of links is bounded.

/** For this long after it was named or lost, an address is dialled again and again even if no source names it now. */
const NAMED_MS = 60_000;

export class ShardLinks {
  readonly #createLink: (address: string) => ShardLink;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #links = new Map<string, ShardLink>();
  /** When a shard last named the address as an owner's, or when its connection was lost. */
  readonly #namedAtMs = new Map<string, number>();
  /** The addresses of members, by the link to the shard that announces them. */
  readonly #announced = new Map<ShardLink, ReadonlySet<string>>();
  readonly #unwatch: () => void;
  #seeds: ReadonlySet<string> = new Set();
  #closed = false;

  constructor(dependencies: {
    readonly discovery: Discovery;
    readonly createLink: (address: string) => ShardLink;
    readonly clock: Clock;
    readonly log: Log;
  }) {
    this.#createLink = dependencies.createLink;
    this.#clock = dependencies.clock;
    this.#log = dependencies.log;
    this.#unwatch = dependencies.discovery.watch((addresses) => this.#seed(addresses));
  }

  /** The link to an owner that a shard has named; dials it if there is none. Undefined if it cannot be dialled. */
  named(address: string): ShardLink | undefined {
    const link = this.#get(address);
    if (link !== undefined) this.#namedAtMs.set(address, this.#clock.monotonicMs());
    return link;
  }

  /** A shard announces the other members. Those not reached under another address are dialled. */
  announce(by: ShardLink, members: readonly MemberAddress[]): void {
    this.#announced.set(by, new Set(members.map(({ address }) => address)));
    const reached = new Set(this.ready().map(({ shardName }) => shardName));
    for (const { shardName, address } of members) {
      if (!reached.has(shardName)) this.#get(address);
    }
  }

  #get(address: string): ShardLink | undefined {
    const known = this.#links.get(address);
    if (known !== undefined || this.#closed) return known;
    if (!isAddress(address) || this.#links.size >= SHARD_ADDRESSES_MAX) {
      this.#log.warn(
        { address, links: this.#links.size },
        'shard address not dialled: it is malformed, or there are too many links',
      );
      return undefined;
    }
    const link = this.#createLink(address);
    this.#links.set(address, link);
    return link;
  }

  ready(): ShardLink[] {
    return [...this.#links.values()].filter((link) => link.ready);
  }

  /** A dial failed or a connection ended. An address that no source names any more is not dialled again. */
  onLost(link: ShardLink): void {
    // The shard was there until now, so it counts as named now.
    if (this.#announced.delete(link)) this.#namedAtMs.set(link.address, this.#clock.monotonicMs());
    if (!this.#wanted(link)) this.#release(link);
  }

  #wanted({ address }: ShardLink): boolean {
    const namedAtMs = this.#namedAtMs.get(address) ?? Number.NEGATIVE_INFINITY;
    if (this.#seeds.has(address) || this.#clock.monotonicMs() - namedAtMs < NAMED_MS) return true;
    for (const addresses of this.#announced.values()) if (addresses.has(address)) return true;
    return false;
  }

  close(): void {
    this.#closed = true;
    this.#unwatch();
    for (const link of [...this.#links.values()]) this.#release(link);
  }

  #seed(addresses: readonly string[]): void {
    this.#seeds = new Set(addresses);
    for (const address of this.#seeds) this.#get(address);
    for (const link of [...this.#links.values()]) {
      if (!link.ready && !this.#wanted(link)) this.#release(link);
    }
  }

  #release(link: ShardLink): void {
    if (!this.#links.delete(link.address)) return;
    this.#namedAtMs.delete(link.address);
    this.#announced.delete(link);
    link.close();
  }
}
