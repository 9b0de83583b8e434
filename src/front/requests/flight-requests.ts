// What flights request: one check (the hot path), any other call, or only a handle. Each flight has one such object. It
// decides what each try sends, and resolves or rejects the promise of the caller.

import type { Clock } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { SingleCheck } from '../../rpc/calls/checks.ts';
import type { CallBody, Write } from '../../rpc/calls/define-call.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import type { ReceivedReply } from '../../rpc/messages.ts';
import type { AnswerOf, CallName, RequestOf, TimedAnswer } from '../../shard/shard.ts';
import type { RequestContext } from '../front.ts';
import type { ShardLink } from '../links/shard-link.ts';
import {
  Flight,
  type FlightControl,
  type FlightPath,
  type FlightRequest,
  served,
  wrongAnswerError,
} from './flights.ts';

/**
 * How far the wall clock may move ahead of the monotonic one between the tries of a write. A repeat thus arrives within
 * the deadline of a request (10 s) plus this bound after the first try, well within the idempotency window, which is
 * twice the deadline. NTP steps the clock of a maintained machine by less.
 */
export const SUSPENSION_MS_MAX = 1000;

/** Sweeps of a check at a reader: 50 to 100 ms. A reader that reads the page from the store first mostly takes less. */
const CHECK_SWEEPS_AT_READER = 1;
/** For any other read: a bulk call or a listing may well take some hundred milliseconds. */
const CALL_SWEEPS_AT_READER = 10;

/** One check: the hot path. */
export class CheckRequest implements FlightRequest {
  readonly #check: SingleCheck;
  readonly #resolve: (answer: TimedAnswer) => void;
  readonly #reject: (error: GrantdError) => void;

  constructor(check: SingleCheck, resolve: (answer: TimedAnswer) => void, reject: (error: GrantdError) => void) {
    this.#check = check;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get write(): Write {
    return 'no';
  }

  get readAt(): string {
    return this.#check.subject;
  }

  get sweepsAtReader(): number {
    return CHECK_SWEEPS_AT_READER;
  }

  get allowedWhileSuspended(): boolean {
    return false;
  }

  send(flight: Flight, link: ShardLink, handle: number): void {
    flight.sendCheck(link, handle, this.#check);
  }

  takeCheck(flight: Flight, authorized: boolean, checkedAtMs: number): void {
    served(flight);
    flight.load?.answered(flight.context, 1);
    flight.land();
    this.#resolve({ authorized, checkedAtMs });
  }

  takeReply(flight: Flight): void {
    flight.refuse(wrongAnswerError());
  }

  reject(error: GrantdError): void {
    this.#reject(error);
  }
}

/**
 * Guards the repeats of one write against a suspension of the machine. The deadline of a request is on the monotonic
 * clock, which stops while the machine is suspended. The owner of a slot knows an operation for its idempotency window,
 * which runs on. Invariant: no try of a write is sent if the machine was suspended for longer than a bound since the
 * first try. After that the owner may have forgotten what the first try did, and would do it again.
 */
export class RepeatGuard {
  readonly #clock: Clock;
  /** Wall clock minus monotonic clock before the first try. */
  #wallOffsetMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the next try may be sent. To be called right before each try, including the first. */
  maySend(): boolean {
    const wallOffsetMs = this.#clock.wallMs() - this.#clock.monotonicMs();
    this.#wallOffsetMs ??= wallOffsetMs;
    return wallOffsetMs - this.#wallOffsetMs <= SUSPENSION_MS_MAX;
  }
}

/** Any other call. `write`: carries the request id, the same over all tries. `checks`: their number in a bulk call. */
export class CallRequest implements FlightRequest {
  readonly write: Write;
  readonly readAt: string | undefined;
  readonly sweepsAtReader = CALL_SWEEPS_AT_READER;
  readonly #body: CallBody;
  /** Only for a write. */
  readonly #guard: RepeatGuard | undefined;
  readonly #checks: number;
  readonly #resolve: (reply: ReceivedReply) => void;
  readonly #reject: (error: GrantdError) => void;

  constructor(
    clock: Clock,
    call: {
      readonly body: CallBody;
      readonly write: Write;
      readonly checks?: number;
      readonly readAt?: string | undefined;
    },
    resolve: (reply: ReceivedReply) => void,
    reject: (error: GrantdError) => void,
  ) {
    this.#body = call.body;
    this.write = call.write;
    this.readAt = call.readAt;
    this.#guard = call.write === 'no' ? undefined : new RepeatGuard(clock);
    this.#checks = call.checks ?? 0;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get allowedWhileSuspended(): boolean {
    return 'confirm' in this.#body;
  }

  send(flight: Flight, link: ShardLink, handle: number): void {
    if (this.#guard === undefined || this.#guard.maySend()) {
      flight.sendCall(link, handle, this.#body, this.#guard !== undefined);
      return;
    }
    flight.control.metrics.frontSuspendedWrites.inc();
    flight.refuse(
      new GrantdError('unavailable', 'The machine was suspended during the request. Repeating the call is safe.'),
    );
  }

  takeCheck(flight: Flight): void {
    flight.refuse(wrongAnswerError());
  }

  takeReply(flight: Flight, reply: ReceivedReply): void {
    if (this.#checks > 0) flight.load?.answered(flight.context, this.#checks);
    flight.land();
    this.#resolve(reply);
  }

  reject(error: GrantdError): void {
    this.#reject(error);
  }
}

/** Lands as soon as the session has a handle: the first authentication waits for this. */
export class AuthenticationRequest implements FlightRequest {
  readonly #resolve: () => void;
  readonly #reject: (error: GrantdError) => void;

  constructor(resolve: () => void, reject: (error: GrantdError) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get write(): Write {
    return 'no';
  }

  get readAt(): undefined {
    return undefined;
  }

  get sweepsAtReader(): number {
    return 0;
  }

  get allowedWhileSuspended(): boolean {
    return true;
  }

  send(flight: Flight): void {
    flight.land();
    this.#resolve();
  }

  takeCheck(flight: Flight): void {
    flight.refuse(wrongAnswerError());
  }

  takeReply(flight: Flight): void {
    flight.refuse(wrongAnswerError());
  }

  reject(error: GrantdError): void {
    this.#reject(error);
  }
}

export interface CallOptions {
  /** Instead of that of the call. */
  readonly write?: Write;
  /** Their number in a bulk call, for the load of the shard. */
  readonly checks?: number;
  /** See `FlightRequest.readAt`. */
  readonly readAt?: string | undefined;
}

/** Makes a call over as many tries as its path and deadline allow. */
export async function makeCall<Name extends CallName>(
  control: FlightControl,
  path: FlightPath,
  context: RequestContext,
  name: Name,
  request: RequestOf<Name>,
  options: CallOptions = {},
): Promise<AnswerOf<Name>> {
  const call = CALLS[name];
  const { write = call.write, checks = 0, readAt } = options;
  const body = call.toWire(request);
  const reply = await new Promise<ReceivedReply>((resolve, reject) => {
    const flying = new CallRequest(control.clock, { body, write, checks, readAt }, resolve, reject);
    control.flights.start(new Flight(control, context, path, flying));
  });
  return call.answerOf(reply, request);
}
