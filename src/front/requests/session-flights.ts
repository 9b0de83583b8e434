// The flights of a session: requests that need a handle at the owner of the tenant. A try takes the handle that holds
// now, or waits for one; a try that finds it gone, or its owner changed, acquires another and goes on.

import { GrantdError } from '../../core/errors.ts';
import type { Write } from '../../rpc/calls/define-call.ts';
import type { Reply__Output } from '../../rpc/gen/grantd/v1/Reply.ts';
import type { RequestContext } from '../front.ts';
import type { CallBody } from '../links/outbox.ts';
import type { Route } from '../links/route.ts';
import type { ShardLink, TryFailure } from '../links/shard-link.ts';
import { Flight, type FlightControl } from './flights.ts';
import type { Binding, HandleKeeper } from './handle-keeper.ts';
import { RepeatGuard } from './repeat-guard.ts';
import { served } from './retries.ts';

/** What a flight needs to know of its session. */
export interface FlightSession {
  readonly handles: HandleKeeper;
  readonly expired: boolean;
  /** The tenant is suspended, as far as this front knows, and this session is not the operator's. */
  readonly refused: boolean;
}

export const CONFIRM: CallBody = Object.freeze({ confirm: {} });

export function expiredError(): GrantdError {
  return new GrantdError('unauthorized', 'The API key has expired.');
}

abstract class SessionFlight extends Flight {
  readonly session: FlightSession;
  #binding: Binding | undefined;
  /** This try asks the owner whether the tenant is still suspended. */
  #confirming = false;

  constructor(control: FlightControl, context: RequestContext, session: FlightSession) {
    super(control, context);
    this.session = session;
  }

  /** Sends the request and returns the id of the link. */
  protected abstract send(link: ShardLink, handle: number): number;
  protected abstract take(reply: Reply__Output): void;

  /** A suspended tenant may still ask this. */
  protected get allowedWhileSuspended(): boolean {
    return false;
  }

  override attempt(): void {
    if (this.settled) return;
    const { session } = this;
    if (session.expired) {
      this.refuse(expiredError());
      return;
    }
    const binding = session.handles.current();
    if (binding === undefined) {
      session.handles.acquireFor(this);
      this.load = this.control.routing.route(session.handles.slot)?.link.load ?? this.load;
      return;
    }
    this.#binding = binding;
    // What this front remembers may be out of date: only the owner can say that the tenant is still suspended.
    this.#confirming = session.refused && !this.allowedWhileSuspended;
    const { link } = binding.route;
    this.load = link.load;
    const id = this.#confirming
      ? link.call(this, binding.handle, CONFIRM, undefined, this.beginTry(link, CONFIRM))
      : this.send(link, binding.handle);
    if (id === 0) return;
    this.link = link;
    this.id = id;
  }

  override onReply(reply: Reply__Output): void {
    served(this);
    if (!this.#confirming) this.take(reply);
    else if (this.session.refused) this.refuse(new GrantdError('tenant-suspended', 'The tenant is suspended.'));
    else this.attempt();
  }

  protected override recover(failure: Exclude<TryFailure, GrantdError>): Route | undefined {
    const route = this.#binding?.route;
    if (failure.kind === 'handle-gone') this.session.handles.invalidate(this.#binding);
    else if (route !== undefined) this.control.redirect(route.link, failure);
    return route;
  }
}

export interface CheckAnswer {
  readonly authorized: boolean;
  readonly checkedAtMs: number;
}

/** One check: the hot path. */
export class CheckFlight extends SessionFlight {
  readonly #subject: string;
  readonly #relation: number;
  readonly #object: string;
  readonly #resolve: (answer: CheckAnswer) => void;
  readonly #reject: (error: GrantdError) => void;

  constructor(
    control: FlightControl,
    context: RequestContext,
    session: FlightSession,
    check: { readonly subject: string; readonly relation: number; readonly object: string },
    resolve: (answer: CheckAnswer) => void,
    reject: (error: GrantdError) => void,
  ) {
    super(control, context, session);
    this.#subject = check.subject;
    this.#relation = check.relation;
    this.#object = check.object;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  protected override send(link: ShardLink, handle: number): number {
    return link.check(this, handle, this.#subject, this.#relation, this.#object, this.beginTry(link));
  }

  override onCheck(authorized: boolean, checkedAtMs: number): void {
    if (this.settled) return;
    served(this);
    this.load?.answered(this.context, 1);
    // The link has let this id go already.
    this.link = undefined;
    this.land();
    this.#resolve({ authorized, checkedAtMs });
  }

  protected override take(): void {
    this.refuse(new GrantdError('internal', 'The shard answered another question than was asked.'));
  }

  protected override reject(error: GrantdError): void {
    this.#reject(error);
  }
}

/** Any other call under a handle. `write`: carries the request id, the same over all tries. `checks`: in a bulk. */
export class CallFlight extends SessionFlight {
  readonly #body: CallBody;
  /** Of a write. */
  readonly #guard: RepeatGuard | undefined;
  readonly #creates: boolean;
  readonly #checks: number;
  readonly #resolve: (reply: Reply__Output) => void;
  readonly #reject: (error: GrantdError) => void;

  constructor(
    control: FlightControl,
    context: RequestContext,
    session: FlightSession,
    call: { readonly body: CallBody; readonly write: Write; readonly checks?: number },
    resolve: (reply: Reply__Output) => void,
    reject: (error: GrantdError) => void,
  ) {
    super(control, context, session);
    this.#body = call.body;
    this.#guard = call.write === 'no' ? undefined : new RepeatGuard(control.clock);
    this.#creates = call.write === 'creates';
    this.#checks = call.checks ?? 0;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  protected override get changes(): boolean {
    return this.#guard !== undefined;
  }

  protected override get createsAnew(): boolean {
    return this.#creates;
  }

  protected override get allowedWhileSuspended(): boolean {
    return this.#body === CONFIRM;
  }

  protected override send(link: ShardLink, handle: number): number {
    const guard = this.#guard;
    if (guard !== undefined && !this.maySend(guard)) return 0;
    const write = guard === undefined ? undefined : this.context;
    return link.call(this, handle, this.#body, write, this.beginTry(link, this.#body));
  }

  protected override take(reply: Reply__Output): void {
    if (this.settled) return;
    if (this.#checks > 0) this.load?.answered(this.context, this.#checks);
    this.land();
    this.#resolve(reply);
  }

  protected override reject(error: GrantdError): void {
    this.#reject(error);
  }
}

/** Lands as soon as the session has a handle: what a first authentication waits for. */
export class AuthenticationFlight extends SessionFlight {
  readonly #resolve: () => void;
  readonly #reject: (error: GrantdError) => void;

  constructor(
    control: FlightControl,
    context: RequestContext,
    session: FlightSession,
    resolve: () => void,
    reject: (error: GrantdError) => void,
  ) {
    super(control, context, session);
    this.#resolve = resolve;
    this.#reject = reject;
  }

  protected override get allowedWhileSuspended(): boolean {
    return true;
  }

  protected override send(): number {
    this.land();
    this.#resolve();
    return 0;
  }

  protected override take(): void {
    this.refuse(new GrantdError('internal', 'The shard answered another question than was asked.'));
  }

  protected override reject(error: GrantdError): void {
    this.#reject(error);
  }
}
