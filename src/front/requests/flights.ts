// What is under way in a front: every request is a flight from its start to its answer, over all its tries. It keeps: a
// flight ends exactly once, with an answer or an error, not long after its deadline at the latest; there are never more
// than the bound, and above it the one with the oldest deadline goes first.

import type { Clock, Timer } from '../../core/async/clock.ts';
import { type ErrorCode, GrantdError } from '../../core/errors.ts';
import { beginCall, CHECK, endCall } from '../../rpc/call-spans.ts';
import type { Reply__Output } from '../../rpc/gen/grantd/v1/Reply.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { TraceSpan } from '../../telemetry/spans.ts';
import type { RequestContext } from '../front.ts';
import type { LoadTally } from '../links/load-tally.ts';
import { type CallBody, requestOf } from '../links/outbox.ts';
import type { Waiter } from '../links/retry-gate.ts';
import type { Route } from '../links/route.ts';
import type { Receiver, ShardLink, TryFailure } from '../links/shard-link.ts';
import type { RepeatGuard } from './repeat-guard.ts';
import { type RetryControl, retry, served } from './retries.ts';

/** How late after its deadline a flight may end. */
const SWEEP_MS = 50;

/**
 * What the owner says before it looks at the operation's id: an earlier try may have been done all the same, under a key
 * or a tenant that was good then.
 */
const REFUSED_AT_THE_DOOR: ReadonlySet<ErrorCode> = new Set(['unauthorized', 'tenant-suspended', 'tenant-not-found']);

/** An owner that has just lost its tenure or its lease, or that was cut off, may have committed before. */
const MAY_HAVE_COMMITTED: ReadonlySet<Exclude<TryFailure, GrantdError>['kind']> = new Set([
  'disconnected',
  'not-serving',
  'undecided',
]);

export interface FlightControl extends RetryControl {
  readonly metrics: Metrics;
  readonly flights: FlightTable;
  /** Acts on what a failed try says about owners. */
  readonly redirect: (link: ShardLink, failure: TryFailure) => void;
}

export abstract class Flight implements Receiver, Waiter {
  /** Neighbours in the table's list. */
  previous: Flight | undefined;
  next: Flight | undefined;
  settled = false;
  probing: (() => void) | undefined;
  readonly context: RequestContext;
  protected readonly control: FlightControl;
  #tries = 0;
  /** Where the current try went, and as what. */
  protected link: ShardLink | undefined;
  protected id = 0;
  /** Of the shard that was asked last, for a request whose outcome counts there. */
  protected load: LoadTally | undefined;
  #span: TraceSpan | undefined;
  /** A try was sent of which it is not known whether the shard did anything. */
  #unknownTry = false;

  constructor(control: FlightControl, context: RequestContext) {
    this.control = control;
    this.context = context;
  }

  /** Makes one try, unless settled. Called again after a failure that lets another one follow. */
  abstract attempt(): void;
  protected abstract reject(error: GrantdError): void;
  /** A try has failed in a way that is not final: prepares the next one. Returns the route that it went over. */
  protected abstract recover(failure: Exclude<TryFailure, GrantdError>): Route | undefined;

  /** Whether this is a write. */
  protected get changes(): boolean {
    return false;
  }

  /** Whether the same call of a client, made again, creates another one: a key or a tenant. */
  protected get createsAnew(): boolean {
    return false;
  }

  onCheck(_authorized: boolean, _checkedAtMs: number): void {
    this.refuse(new GrantdError('internal', 'The shard answered another question than was asked.'));
  }

  onReply(_reply: Reply__Output): void {
    this.refuse(new GrantdError('internal', 'The shard answered another question than was asked.'));
  }

  onFailure(failure: TryFailure): void {
    if (this.settled) return;
    this.endTry(failure);
    const sent = this.link !== undefined;
    this.link = undefined;
    if (failure instanceof GrantdError) {
      served(this);
      this.refuse(failure);
      return;
    }
    const { kind } = failure;
    if (sent && MAY_HAVE_COMMITTED.has(kind)) this.#unknownTry = true;
    this.control.metrics.frontRetries.inc({ reason: kind });
    const tries = this.#tries;
    this.#tries += 1;
    retry(this.control, this, { route: this.recover(failure), kind, tries });
  }

  /** Ends the flight without an answer. A write that a shard may have taken is never said not to have happened. */
  refuse(error: GrantdError): void {
    if (this.settled) return;
    const sent = this.#unknownTry || this.link !== undefined;
    const unknown = this.changes && sent && (error.retryable || REFUSED_AT_THE_DOOR.has(error.code));
    this.load?.refused(this.context, unknown ? 'unavailable' : error.code);
    this.endTry(error);
    this.land();
    this.reject(
      unknown
        ? new GrantdError(
            'unavailable',
            this.createsAnew
              ? 'The creation was not confirmed in time: its outcome is not known. A repeated call may create a second one: look at the list first.'
              : 'The change was not confirmed in time: its outcome is not known. Repeating the call is safe.',
            { cause: error },
          )
        : error,
    );
  }

  /** Ends the flight because its deadline has passed. */
  expire(): void {
    this.refuse(new GrantdError('unavailable', 'The answer could not be given in time. Repeating the call is safe.'));
  }

  /** Whether the next try of a write may be sent; refuses the flight where it may not. */
  protected maySend(guard: RepeatGuard): boolean {
    if (guard.maySend()) return true;
    this.control.metrics.frontSuspendedWrites.inc();
    this.refuse(
      new GrantdError('unavailable', 'The machine was suspended during the request. Repeating the call is safe.'),
    );
    return false;
  }

  /** Begins the span of a try, of a check without a body. Returns what the shard is to be told of it; undefined: nothing. */
  protected beginTry(link: ShardLink, body?: CallBody): string | undefined {
    const { span } = this.context;
    if (span === undefined) return undefined;
    this.endTry();
    this.#span = beginCall(span, body === undefined ? CHECK : requestOf(body), link.address);
    return this.#span.traceparent;
  }

  protected endTry(failure?: TryFailure): void {
    if (this.#span === undefined) return;
    endCall(this.#span, failure);
    this.#span = undefined;
  }

  /** Takes the flight out of the table. To be called before its promise is resolved. */
  protected land(): void {
    this.settled = true;
    this.endTry();
    this.control.flights.remove(this);
    if (this.link !== undefined) {
      this.link.forget(this.id);
      this.link = undefined;
    }
  }
}

export class FlightTable {
  readonly #clock: Clock;
  readonly #metrics: Metrics;
  readonly #flightsMax: number;
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

  /** Starts the flight, or refuses it or the oldest one. */
  start(flight: Flight): void {
    if (this.#closed) {
      flight.refuse(new GrantdError('unavailable', 'The service is shutting down.'));
      return;
    }
    if (this.#size >= this.#flightsMax) {
      const oldest = this.#first;
      const overloaded = new GrantdError('overloaded', 'Too many requests are under way.');
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

  /** Ends everything and refuses what comes later. */
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

  /** One walk over all every 50 ms costs less than a timer for each. */
  #sweep(): void {
    this.#timer = undefined;
    this.#report();
    const nowMs = this.#clock.monotonicMs();
    let flight = this.#first;
    while (flight !== undefined) {
      const { next } = flight;
      if (flight.context.deadlineMs <= nowMs) flight.expire();
      flight = next;
    }
    if (this.#size > 0) this.#schedule();
    else this.#report();
  }

  /** By difference: fronts of one process share the gauge. */
  #report(): void {
    this.#metrics.frontQueueLength.inc(this.#size - this.#reported);
    this.#reported = this.#size;
  }
}
