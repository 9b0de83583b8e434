// Everything in flight in a front. Every request is a flight from its start to its end, over all its tries. A flight
// consists of a path (how its tries reach a shard: flight-paths.ts) and a request (what it sends, and what it does with
// the outcome: flight-requests.ts). Invariants: a flight ends exactly once, with a result or an error, and soon after
// its deadline at the latest; the number of flights is bounded, and above the bound the one with the oldest deadline is
// refused.
//
//   anywhere ──position of the log──▶ ReaderPosition ──next try──▶ anywhere
//      ├──no position, failed or slow reader──▶ owner-only
//      └──suspended tenant──▶ confirming ──next try──▶ owner-only
//   each ──result, refusal, deadline──▶ settled
//
// The next try follows a failed one at once if something has changed since; together with the other waiters if the
// owner must become ready first; otherwise after a pause.

import { type Clock, delay, type Random, type Timer } from '../../core/async/clock.ts';
import { type ErrorCode, GrantdError } from '../../core/errors.ts';
import { beginCall, CHECK, endCall } from '../../rpc/call-spans.ts';
import type { SingleCheck } from '../../rpc/calls/checks.ts';
import type { CallBody, Write } from '../../rpc/calls/define-call.ts';
import type { TryFailure } from '../../rpc/links/stream-link.ts';
import type { ReceivedReply } from '../../rpc/messages.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { TraceSpan } from '../../telemetry/spans.ts';
import type { RequestContext } from '../front.ts';
import { requestOf } from '../links/outbox.ts';
import {
  type AskedReader,
  type Binding,
  type RetryGate,
  type Route,
  type RoutingTable,
  retryDelayMs,
  type Waiter,
} from '../links/routing-table.ts';
import type { LoadTally, Receiver, ShardLink } from '../links/shard-link.ts';
import type { FlightState, ReadPositions } from './read-positions.ts';
import type { ReadCounts } from './reader-reads.ts';

/** How late after its deadline a flight may end, and the unit in which readers are waited for. */
const SWEEP_MS = 50;
/** Reads that wait at a reader and at the owner at once: if all readers are slow, they stay with their readers. */
const ASIDE_MAX = 100;
/** Tries without a pause. More would busy owners that redirect to each other in a circle. */
const AT_ONCE_TRIES = 2;

/**
 * Refusals that the owner gives before it checks the operation's id. An earlier try may have succeeded all the same,
 * under a key or a tenant that was valid then.
 */
const REFUSED_AT_THE_DOOR: ReadonlySet<ErrorCode> = new Set(['unauthorized', 'tenant-suspended', 'tenant-not-found']);

/**
 * What a reader says of itself, or by its own clock, memory and queues: the owner may know better. Other refusals are
 * final, since the reader has confirmed that it has all that the owner had.
 */
const OF_THE_READER: ReadonlySet<ErrorCode> = new Set(['overloaded', 'unavailable', 'internal', 'unauthorized']);

/** An owner that has just lost its tenure, its lease or its connection may have committed before. */
const MAY_HAVE_COMMITTED: ReadonlySet<Exclude<TryFailure, GrantdError>['kind']> = new Set([
  'disconnected',
  'not-serving',
  'undecided',
]);

export interface RetryControl {
  readonly clock: Clock;
  readonly random: Random;
  readonly routing: RoutingTable;
  readonly retries: RetryGate;
}

export interface FlightControl extends RetryControl {
  readonly metrics: Metrics;
  readonly flights: FlightTable;
  readonly reads: ReadCounts;
  readonly positions: ReadPositions;
  /** Acts on what a failed try says about owners. */
  readonly redirect: (link: ShardLink, failure: TryFailure) => void;
  /** See `FrontOptions`. */
  readonly localReader?: string | undefined;
}

/** A try failed, and another one may follow. */
export type RetryableFailure = Exclude<TryFailure, GrantdError>;

/** How the tries of a flight reach a shard. Holds no state of a flight, so the flights of a session share one. */
export interface FlightPath {
  /** Sends a try to a shard, makes the flight wait for a route, or refuses it. */
  attempt(flight: Flight): void;
  /** The shard has replied to a call of the flight, or to one that the path itself made for it. */
  takeReply(flight: Flight, reply: ReceivedReply): void;
  /** Prepares another try (`retry`), or ends the flight. */
  fail(flight: Flight, failure: RetryableFailure): void;
}

/** What a flight requests, and what it does with the outcome. One per flight. */
export interface FlightRequest {
  /** The flight never reports a write as not done if a shard may have received it. */
  readonly write: Write;
  /** The subject or object by which a reader of the tenant is chosen; undefined: only the owner answers. */
  readonly readAt: string | undefined;
  /** After so many sweeps at a reader, the owner is asked as well. */
  readonly sweepsAtReader: number;
  /** A suspended tenant may still make this request. */
  readonly allowedWhileSuspended: boolean;
  /** Makes one try (`sendCheck`, `sendCall`), or lands or refuses the flight. */
  send(flight: Flight, link: ShardLink, handle: number): void;
  takeCheck(flight: Flight, authorized: boolean, checkedAtMs: number): void;
  takeReply(flight: Flight, reply: ReceivedReply): void;
  reject(error: GrantdError): void;
}

export function wrongAnswerError(): GrantdError {
  return new GrantdError('internal', 'The shard replied to a different request.');
}

/** Whether a refusal by a reader is the answer; otherwise the owner is asked. */
const isFinal = (failure: TryFailure): failure is GrantdError =>
  failure instanceof GrantdError && !OF_THE_READER.has(failure.code);

/**
 * The try of a read at a reader that has not answered for a while, beside which the owner is asked. The first outcome
 * counts: each rests on what was acknowledged before the flight began at least, and the flight lasts until then.
 */
class SlowReaderTry implements Receiver {
  readonly #flight: Flight;
  readonly #link: ShardLink;
  readonly #id: number;
  readonly #reader: AskedReader;
  readonly #load: LoadTally | undefined;

  constructor(flight: Flight, link: ShardLink, id: number, reader: AskedReader) {
    this.#flight = flight;
    this.#link = link;
    this.#id = id;
    this.#reader = reader;
    this.#load = flight.load;
    link.handOver(id, this);
  }

  onHint(unknownNamespaces: readonly string[]): void {
    this.#flight.onHint(unknownNamespaces);
  }

  onCheck(authorized: boolean, checkedAtMs: number): void {
    this.#end();
    this.#flight.request.takeCheck(this.#flight, authorized, checkedAtMs);
  }

  onReply(reply: ReceivedReply): void {
    this.#end();
    this.#flight.takeReply(reply);
  }

  onFailure(failure: TryFailure): void {
    if (isFinal(failure)) {
      this.#end();
      this.#flight.refuse(failure);
      return;
    }
    this.#reader.failed(failure);
    this.#flight.failAside();
  }

  /** The flight has ended. */
  forget(): void {
    this.#link.forget(this.#id);
  }

  /** The flight ends with this outcome. */
  #end(): void {
    this.#flight.load = this.#load;
    this.#flight.dropTry();
  }
}

export class Flight implements Receiver, Waiter {
  /** Neighbours in the table's list. */
  previous: Flight | undefined;
  next: Flight | undefined;
  /** Final once settled. */
  state: FlightState = 'anywhere';
  probing: (() => void) | undefined;
  readonly context: RequestContext;
  readonly control: FlightControl;
  readonly request: FlightRequest;
  /** Where the current try goes. Set by the path. */
  binding: Binding | undefined;
  /** Tally of the shard that was asked last, for a request whose outcome counts there. */
  load: LoadTally | undefined;
  readonly #path: FlightPath;
  #tries = 0;
  /** Link and id of the current try. */
  #link: ShardLink | undefined;
  #id = 0;
  #span: TraceSpan | undefined;
  /** A try was sent, and it is unknown whether the shard did anything. */
  #unknownTry = false;
  /** At a reader, in the current try. */
  #sweeps = 0;
  #aside: SlowReaderTry | undefined;
  /** The owner has said so while a reader may still answer. */
  #refusal: GrantdError | undefined;

  constructor(control: FlightControl, context: RequestContext, path: FlightPath, request: FlightRequest) {
    this.control = control;
    this.context = context;
    this.request = request;
    this.#path = path;
  }

  get settled(): boolean {
    return this.state === 'settled';
  }

  /** Makes one try, unless settled. Called again after a failure that allows another one. */
  attempt(): void {
    if (!this.settled) this.#path.attempt(this);
  }

  sendCheck(link: ShardLink, handle: number, check: SingleCheck): void {
    const id = link.check(this, handle, check, this.#beginTry(link));
    if (id !== 0) this.#sent(link, id);
  }

  /** Sends a call as this try. A write carries the request id, the same over all tries. */
  sendCall(link: ShardLink, handle: number, body: CallBody, write = false): void {
    const id = link.call(this, handle, body, write ? this.context : undefined, this.#beginTry(link, body));
    if (id !== 0) this.#sent(link, id);
  }

  onCheck(authorized: boolean, checkedAtMs: number): void {
    if (!this.settled) this.request.takeCheck(this, authorized, checkedAtMs);
  }

  onReply(reply: ReceivedReply): void {
    served(this);
    this.#path.takeReply(this, reply);
  }

  /** The reply belongs to the request itself. */
  takeReply(reply: ReceivedReply): void {
    if (this.settled) return;
    if (reply.unknownNamespaces.length > 0) this.onHint(reply.unknownNamespaces);
    this.request.takeReply(this, reply);
  }

  onHint(unknownNamespaces: readonly string[]): void {
    this.context.unknownNamespaces = unknownNamespaces;
  }

  onFailure(failure: TryFailure): void {
    if (this.settled) return;
    this.#endTry(failure);
    const sent = this.#link !== undefined;
    this.#link = undefined;
    const reader = this.binding?.reader;
    if (reader !== undefined && !isFinal(failure)) {
      reader.failed(failure);
      this.state = 'owner-only';
      this.attempt();
      return;
    }
    if (failure instanceof GrantdError) {
      served(this);
      if (failure.retryable && this.#aside !== undefined) this.#refusal = failure;
      else this.refuse(failure);
      return;
    }
    if (sent && MAY_HAVE_COMMITTED.has(failure.kind)) this.#unknownTry = true;
    this.#path.fail(this, failure);
  }

  /** Called with every sweep: asks the owner beside a reader that has not answered for a while. */
  askAside(): void {
    const reader = this.binding?.reader;
    const link = this.#link;
    if (reader === undefined || link === undefined) return;
    this.#sweeps += 1;
    if (this.#sweeps <= this.request.sweepsAtReader) return;
    this.#aside = new SlowReaderTry(this, link, this.#id, reader);
    this.control.flights.asides += 1;
    this.control.reads.late += 1;
    this.#link = undefined;
    this.state = 'owner-only';
    this.attempt();
  }

  /** The reader beside which the owner is asked has failed. */
  failAside(): void {
    this.#dropAside();
    if (this.#refusal !== undefined) this.refuse(this.#refusal);
  }

  /** That reader has the outcome: the try at the owner is not needed. */
  dropTry(): void {
    // The owner has not replied: those that wait for it do so as before.
    this.probing = undefined;
    this.#link?.forget(this.#id);
    this.#link = undefined;
  }

  #dropAside(): void {
    if (this.#aside === undefined) return;
    this.#aside.forget();
    this.#aside = undefined;
    this.control.flights.asides -= 1;
  }

  /** Another try follows. `route`: of the failed one; its redirection has already been applied. */
  retry({ kind }: RetryableFailure, route: Route | undefined): void {
    this.control.metrics.frontRetries.inc({ reason: kind });
    const tries = this.#tries;
    this.#tries += 1;
    retry(this.control, this, { route, kind, tries });
  }

  /** Ends the flight without a result. A write that a shard may have received is never reported as not done. */
  refuse(error: GrantdError): void {
    if (this.settled) return;
    const sent = this.#unknownTry || this.#link !== undefined;
    const unknown = this.request.write !== 'no' && sent && (error.retryable || REFUSED_AT_THE_DOOR.has(error.code));
    this.load?.refused(this.context, unknown ? 'unavailable' : error.code);
    this.#endTry(error);
    this.#settle();
    if (this.#link !== undefined) {
      this.#link.forget(this.#id);
      this.#link = undefined;
    }
    this.request.reject(unknown ? this.#unknownOutcomeError(error) : error);
  }

  /** Ends the flight because its deadline has passed. */
  expire(): void {
    this.refuse(
      new GrantdError('unavailable', 'The request could not be completed in time. Repeating the call is safe.'),
    );
  }

  /** Ends the flight with the result that has come. To be called before its promise is resolved. */
  land(): void {
    this.#settle();
    // The link has already dropped this id.
    this.#link = undefined;
  }

  #sent(link: ShardLink, id: number): void {
    this.#link = link;
    this.#id = id;
  }

  /** Begins the span of a try; a check has no body. Returns the traceparent for the shard; undefined: not traced. */
  #beginTry(link: ShardLink, body?: CallBody): string | undefined {
    const { span } = this.context;
    if (span === undefined) return undefined;
    this.#endTry();
    this.#span = beginCall(span, body === undefined ? CHECK : requestOf(body), link.address);
    return this.#span.traceparent;
  }

  #endTry(failure?: TryFailure): void {
    if (this.#span === undefined) return;
    endCall(this.#span, failure);
    this.#span = undefined;
  }

  #settle(): void {
    this.state = 'settled';
    this.#endTry();
    this.#dropAside();
    this.control.flights.remove(this);
  }

  #unknownOutcomeError(cause: GrantdError): GrantdError {
    return new GrantdError(
      'unavailable',
      this.request.write === 'creates'
        ? 'The creation was not confirmed in time, so its outcome is unknown. Repeating the call may create a second one: check the list first.'
        : 'The change was not confirmed in time, so its outcome is unknown. Repeating the call is safe.',
      { cause },
    );
  }
}

export class FlightTable {
  readonly #clock: Clock;
  readonly #metrics: Metrics;
  readonly #flightsMax: number;
  /** Flights that are at a reader and at the owner at once. */
  asides = 0;
  #first: Flight | undefined;
  #last: Flight | undefined;
  #size = 0;
  #reported = 0;
  #timer: Timer | undefined;
  #closed = false;

  constructor(dependencies: { readonly clock: Clock; readonly metrics: Metrics }, flightsMax: number) {
    this.#clock = dependencies.clock;
    this.#metrics = dependencies.metrics;
    this.#flightsMax = flightsMax;
  }

  get size(): number {
    return this.#size;
  }

  /** Starts the flight. If the table is full, refuses this flight or the oldest one. */
  start(flight: Flight): void {
    if (this.#closed) {
      flight.refuse(new GrantdError('unavailable', 'The service is shutting down.'));
      return;
    }
    if (this.#size >= this.#flightsMax) {
      const oldest = this.#first;
      const overloaded = new GrantdError('overloaded', 'Too many requests are in flight.');
      if (oldest === undefined || oldest.context.deadlineMs > flight.context.deadlineMs) {
        flight.refuse(overloaded);
        return;
      }
      oldest.refuse(overloaded);
    }
    flight.previous = this.#last;
    if (this.#last === undefined) this.#first = flight;
    else this.#last.next = flight;
    this.#last = flight;
    this.#size += 1;
    if (this.#timer === undefined) this.#schedule();
    flight.attempt();
  }

  remove(flight: Flight): void {
    if (flight.previous === undefined && this.#first !== flight) return;
    if (flight.previous === undefined) this.#first = flight.next;
    else flight.previous.next = flight.next;
    if (flight.next === undefined) this.#last = flight.previous;
    else flight.next.previous = flight.previous;
    flight.previous = undefined;
    flight.next = undefined;
    this.#size -= 1;
  }

  /** Refuses all flights, and those that come later. */
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    while (this.#first !== undefined) {
      this.#first.refuse(new GrantdError('unavailable', 'The service is shutting down.'));
    }
    this.#report();
  }

  #schedule(): void {
    this.#timer = this.#clock.setTimer(() => this.#sweep(), SWEEP_MS);
  }

  /** One walk over all flights every 50 ms costs less than a timer for each. */
  #sweep(): void {
    this.#timer = undefined;
    this.#report();
    const nowMs = this.#clock.monotonicMs();
    let flight = this.#first;
    while (flight !== undefined) {
      const { next } = flight;
      if (flight.context.deadlineMs <= nowMs) flight.expire();
      else if (this.asides < ASIDE_MAX) flight.askAside();
      flight = next;
    }
    if (this.#size > 0) this.#schedule();
    else this.#report();
  }

  /** By difference, because the fronts of one process share the gauge. */
  #report(): void {
    this.#metrics.frontQueueLength.inc(this.#size - this.#reported);
    this.#reported = this.#size;
  }
}

/** `route`: of the failed try, whose redirection has already been applied. `tries`: how many came before it. */
export function retry(
  control: RetryControl,
  waiter: Waiter,
  failed: {
    readonly route: Route | undefined;
    readonly kind: Exclude<TryFailure, GrantdError>['kind'];
    readonly tries: number;
  },
): void {
  const { clock, random, routing, retries } = control;
  const { route, kind, tries } = failed;
  const refused = kind === 'not-serving' || kind === 'wrong-owner';
  if (refused && route !== undefined && routing.route(route.slot) === route) {
    retries.wait(route, waiter);
    return;
  }
  served(waiter);
  if (tries < AT_ONCE_TRIES && (refused || kind === 'handle-unknown')) waiter.attempt();
  else clock.setTimer(() => waiter.attempt(), retryDelayMs(random, tries + 1));
}

/** The waiter has heard from an owner: those that wait for the same owner go on. */
export function served(waiter: Waiter): void {
  const open = waiter.probing;
  if (open === undefined) return;
  waiter.probing = undefined;
  open();
}

/** For a call that takes several flights. Throws if the deadline leaves no time for another try. */
export async function pauseBetweenTries(
  { clock, random }: Pick<RetryControl, 'clock' | 'random'>,
  context: RequestContext,
  tries: number,
): Promise<void> {
  const delayMs = retryDelayMs(random, tries);
  if (clock.monotonicMs() + delayMs >= context.deadlineMs) {
    throw new GrantdError('unavailable', 'Not every shard replied in time. Repeating the call is safe.');
  }
  await delay(clock, delayMs);
}
