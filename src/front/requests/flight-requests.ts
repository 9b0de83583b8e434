// What flights request: one check (the hot path), any other call, or only a handle. Each flight has one such object. It
// decides what each try sends, and resolves or rejects the promise of the caller.

import type { Clock } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { Write } from '../../rpc/calls/define-call.ts';
import type { Reply__Output } from '../../rpc/gen/grantd/v1/Reply.ts';
import type { CallBody } from '../links/outbox.ts';
import type { ShardLink } from '../links/shard-link.ts';
import { type Flight, type FlightRequest, wrongAnswerError } from './flights.ts';
import { RepeatGuard } from './repeat-guard.ts';
import { served } from './retries.ts';

export const CONFIRM: CallBody = Object.freeze({ confirm: {} });

export interface CheckAnswer {
  readonly authorized: boolean;
  readonly checkedAtMs: number;
}

/** One check: the hot path. */
export class CheckRequest implements FlightRequest {
  readonly #subject: string;
  readonly #relation: number;
  readonly #object: string;
  readonly #resolve: (answer: CheckAnswer) => void;
  readonly #reject: (error: GrantdError) => void;

  constructor(
    subject: string,
    relation: number,
    object: string,
    resolve: (answer: CheckAnswer) => void,
    reject: (error: GrantdError) => void,
  ) {
    this.#subject = subject;
    this.#relation = relation;
    this.#object = object;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get write(): boolean {
    return false;
  }

  get createsAnew(): boolean {
    return false;
  }

  get allowedWhileSuspended(): boolean {
    return false;
  }

  send(flight: Flight, link: ShardLink, handle: number): void {
    flight.sendCheck(link, handle, this.#subject, this.#relation, this.#object);
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

/** Any other call. `write`: carries the request id, the same over all tries. `checks`: their number in a bulk call. */
export class CallRequest implements FlightRequest {
  readonly createsAnew: boolean;
  readonly #body: CallBody;
  /** Only for a write. */
  readonly #guard: RepeatGuard | undefined;
  readonly #checks: number;
  readonly #resolve: (reply: Reply__Output) => void;
  readonly #reject: (error: GrantdError) => void;

  constructor(
    clock: Clock,
    call: { readonly body: CallBody; readonly write: Write; readonly checks?: number },
    resolve: (reply: Reply__Output) => void,
    reject: (error: GrantdError) => void,
  ) {
    this.#body = call.body;
    this.#guard = call.write === 'no' ? undefined : new RepeatGuard(clock);
    this.createsAnew = call.write === 'creates';
    this.#checks = call.checks ?? 0;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get write(): boolean {
    return this.#guard !== undefined;
  }

  get allowedWhileSuspended(): boolean {
    return this.#body === CONFIRM;
  }

  send(flight: Flight, link: ShardLink, handle: number): void {
    if (this.#guard === undefined || this.#guard.maySend()) {
      flight.sendCall(link, handle, this.#body, this.write);
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

  takeReply(flight: Flight, reply: Reply__Output): void {
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

  get write(): boolean {
    return false;
  }

  get createsAnew(): boolean {
    return false;
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
