// The flights of the operator that need no handle: calls to the owner of a tenant's slot, and questions to one shard.

import { GrantdError } from '../../core/errors.ts';
import type { Write } from '../../rpc/calls/define-call.ts';
import type { Reply__Output } from '../../rpc/gen/grantd/v1/Reply.ts';
import type { RequestContext } from '../front.ts';
import type { CallBody } from '../links/outbox.ts';
import type { Route } from '../links/route.ts';
import type { ShardLink, TryFailure } from '../links/shard-link.ts';
import { Flight, type FlightControl } from '../requests/flights.ts';
import { RepeatGuard } from '../requests/repeat-guard.ts';
import { served } from '../requests/retries.ts';

/** A call to whoever owns the slot of a tenant, over as many tries as the deadline allows. */
export class TenantFlight extends Flight {
  readonly #tenantId: string;
  readonly #body: CallBody;
  /** Of a write. */
  readonly #guard: RepeatGuard | undefined;
  readonly #creates: boolean;
  readonly #resolve: (reply: Reply__Output) => void;
  readonly #reject: (error: GrantdError) => void;
  #route: Route | undefined;

  constructor(
    control: FlightControl,
    context: RequestContext,
    call: { readonly tenantId: string; readonly body: CallBody; readonly write: Write },
    resolve: (reply: Reply__Output) => void,
    reject: (error: GrantdError) => void,
  ) {
    super(control, context);
    this.#tenantId = call.tenantId;
    this.#body = call.body;
    this.#guard = call.write === 'no' ? undefined : new RepeatGuard(control.clock);
    this.#creates = call.write === 'creates';
    this.#resolve = resolve;
    this.#reject = reject;
  }

  protected override get changes(): boolean {
    return this.#guard !== undefined;
  }

  protected override get createsAnew(): boolean {
    return this.#creates;
  }

  override attempt(): void {
    if (this.settled) return;
    const { routing } = this.control;
    const route = routing.route(routing.slotOf(this.#tenantId) ?? -1);
    if (route === undefined) {
      routing.wait(() => this.attempt());
      return;
    }
    this.#route = route;
    const { link } = route;
    const guard = this.#guard;
    if (guard !== undefined && !this.maySend(guard)) return;
    const write = guard === undefined ? undefined : this.context;
    const id = link.call(this, 0, this.#body, write, this.beginTry(link, this.#body));
    if (id === 0) return;
    this.link = link;
    this.id = id;
  }

  override onReply(reply: Reply__Output): void {
    if (this.settled) return;
    served(this);
    this.land();
    this.#resolve(reply);
  }

  protected override recover(failure: Exclude<TryFailure, GrantdError>): Route | undefined {
    if (this.#route !== undefined) this.control.redirect(this.#route.link, failure);
    return this.#route;
  }

  protected override reject(error: GrantdError): void {
    this.#reject(error);
  }
}

/** One question to one shard: a single try. Resolves undefined where that shard cannot answer now. */
export class LinkFlight extends Flight {
  readonly #to: ShardLink;
  readonly #body: CallBody;
  readonly #resolve: (reply: Reply__Output | undefined) => void;
  readonly #reject: (error: GrantdError) => void;

  constructor(
    control: FlightControl,
    context: RequestContext,
    question: { readonly link: ShardLink; readonly body: CallBody },
    resolve: (reply: Reply__Output | undefined) => void,
    reject: (error: GrantdError) => void,
  ) {
    super(control, context);
    this.#to = question.link;
    this.#body = question.body;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  override attempt(): void {
    if (this.settled) return;
    const id = this.#to.call(this, 0, this.#body, undefined, this.beginTry(this.#to, this.#body));
    if (id === 0) return;
    this.link = this.#to;
    this.id = id;
  }

  override onReply(reply: Reply__Output): void {
    if (this.settled) return;
    this.land();
    this.#resolve(reply);
  }

  override onFailure(failure: TryFailure): void {
    if (this.settled) return;
    if (failure instanceof GrantdError) {
      this.refuse(failure);
      return;
    }
    this.endTry(failure);
    this.land();
    this.#resolve(undefined);
  }

  protected override recover(): undefined {
    return undefined;
  }

  protected override reject(error: GrantdError): void {
    this.#reject(error);
  }
}
