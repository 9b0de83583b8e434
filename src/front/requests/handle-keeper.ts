// The handle of one key (or of the operator on one tenant) at the owner of its tenant. The keeper acquires it once
// however many flights wait for it, and again after every change of owner, stream or key; the session has it.
// Invariant: no refusal is remembered.

import { GrantdError } from '../../core/errors.ts';
import type { CallBody } from '../../rpc/calls/define-call.ts';
import { handleGrantOf } from '../../rpc/calls/handles.ts';
import type { TryFailure } from '../../rpc/links/stream-link.ts';
import type { ReceivedReply } from '../../rpc/messages.ts';
import type { IssuedHandle } from '../../shard/shard.ts';
import type { Binding, Route, Waiter } from '../links/routing-table.ts';
import { type Flight, type FlightControl, retry, served } from './flights.ts';
import { ShardQuestion } from './shard-question.ts';

export interface HandleEvents {
  onGranted(grant: IssuedHandle, binding: Binding): void;
  /** The owner rejects this key: every flight that waits is refused. */
  onRefused(error: GrantdError): void;
  /** No flight waits any more, and there is no handle. */
  onAbandoned(): void;
}

export class HandleKeeper implements Waiter {
  probing: (() => void) | undefined;
  readonly #control: FlightControl;
  readonly #tenantId: string;
  readonly #authentication: CallBody;
  readonly #events: HandleEvents;
  #slot = -1;
  #waiting: Flight[] = [];
  #acquiring = false;
  #tries = 0;

  constructor(control: FlightControl, tenantId: string, authentication: CallBody, events: HandleEvents) {
    this.#control = control;
    this.#tenantId = tenantId;
    this.#authentication = authentication;
    this.#events = events;
  }

  /** Slot of the tenant; negative: not known yet. */
  get slot(): number {
    return this.#slot;
  }

  /** Calls the flight's `attempt` once there is a handle, or refuses it. */
  acquireFor(flight: Flight): void {
    this.#waiting.push(flight);
    if (this.#acquiring) return;
    this.#acquiring = true;
    this.#tries = 0;
    this.attempt();
  }

  /** No flight waits any more. */
  get settled(): boolean {
    return this.#waiting.every(({ settled }) => settled);
  }

  /** Requests the handle, or stops if no flight waits any more. */
  attempt(): void {
    this.#waiting = this.#waiting.filter((flight) => !flight.settled);
    if (this.#waiting.length === 0) {
      this.#acquiring = false;
      this.#events.onAbandoned();
      return;
    }
    const { clock, routing } = this.#control;
    if (this.#slot < 0) this.#slot = routing.slotOf(this.#tenantId) ?? -1;
    const route = routing.route(this.#slot);
    if (route === undefined) {
      routing.wait(this.#slot, () => this.attempt());
      return;
    }
    const question = new ShardQuestion(
      (reply) => this.#take(route, reply),
      (failure) => this.#fail(route, failure),
    );
    // One call serves all of them; only one of their traces shows it.
    const span = this.#waiting.find(({ context }) => context.span !== undefined)?.context.span;
    question.ask(route.link, this.#authentication, clock, span);
  }

  #take(route: Route, reply: ReceivedReply): void {
    served(this);
    const grant = this.#grantOf(reply);
    if (grant instanceof GrantdError) {
      this.#refuse(grant);
      return;
    }
    this.#events.onGranted(grant, { route, handle: grant.handle });
    this.#acquiring = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const flight of waiting) flight.attempt();
  }

  #grantOf(reply: ReceivedReply): IssuedHandle | GrantdError {
    try {
      const grant = handleGrantOf(reply);
      if (grant.tenantId === this.#tenantId) return grant;
      return new GrantdError('internal', 'The shard replied to a different request.');
    } catch (error) {
      return GrantdError.from(error);
    }
  }

  #fail(route: Route, failure: TryFailure): void {
    if (failure instanceof GrantdError) {
      served(this);
      this.#refuse(failure);
      return;
    }
    this.#control.redirect(route.link, failure);
    const tries = this.#tries;
    this.#tries += 1;
    retry(this.#control, this, { route, kind: failure.kind, tries });
  }

  #refuse(error: GrantdError): void {
    this.#acquiring = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#events.onRefused(error);
    for (const flight of waiting) flight.refuse(error);
  }
}
