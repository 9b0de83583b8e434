// How the tries of a flight reach a shard: under the handle of a session, at the owner of a tenant or slot, or at one
// shard.

import { GrantdError } from '../../core/errors.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import type { ReceivedReply } from '../../rpc/messages.ts';
import type { AnswerOf, CallName, RequestOf } from '../../shard/shard.ts';
import type { RequestContext } from '../front.ts';
import type { ShardLink } from '../links/shard-link.ts';
import { makeCall } from './flight-requests.ts';
import type { Flight, FlightControl, FlightPath, RetryableFailure } from './flights.ts';
import type { HandleKeeper } from './handle-keeper.ts';
import type { ReaderHandles } from './reader-handles.ts';

const CONFIRM = Object.freeze(CALLS.confirm.toWire(undefined));

/** What a flight needs to know of its session. */
export interface FlightSession {
  readonly handles: HandleKeeper;
  readonly readers: ReaderHandles;
  readonly expired: boolean;
  /** The tenant is suspended as far as this front knows, and this session is not the operator's. */
  readonly refused: boolean;
}

export function expiredError(): GrantdError {
  return new GrantdError('unauthorized', 'The API key has expired.');
}

/**
 * The path of requests that need a handle at the owner of their tenant: one per session. A try uses the current handle,
 * or waits for one. If the owner does not know the handle, or has changed, the flight acquires another and goes on.
 */
export class SessionPath implements FlightPath {
  readonly #session: FlightSession;

  constructor(session: FlightSession) {
    this.#session = session;
  }

  attempt(flight: Flight): void {
    const { handles, readers, expired, refused } = this.#session;
    const { state } = flight;
    const position = typeof state === 'object' ? state : undefined;
    if (position !== undefined) flight.state = 'anywhere';
    else if (state === 'confirming') flight.state = 'owner-only';
    readers.follow(position?.readers);
    if (expired) {
      flight.refuse(expiredError());
      return;
    }
    const binding = handles.current();
    if (binding === undefined) {
      handles.acquireFor(flight);
      flight.load = flight.control.routing.route(handles.slot)?.link.load ?? flight.load;
      return;
    }
    const { readAt } = flight.request;
    const mayRead = readAt !== undefined && !refused && flight.state === 'anywhere';
    const atReader = mayRead ? readers.bindingFor(binding.route, readAt) : undefined;
    if (atReader !== undefined) {
      const { localReader, positions, reads } = flight.control;
      // A reader in this thread shares memory with the owner, and mostly need not ask.
      if (position === undefined && localReader === undefined) {
        positions.ask(binding.route, readers.tenantId, flight);
        return;
      }
      reads.reader += 1;
      if (position !== undefined) atReader.route.link.answerAt(position);
    }
    const used = atReader ?? binding;
    const { link } = used.route;
    flight.binding = used;
    flight.load = link.load;
    // This front may be out of date: only the owner can say that the tenant is still suspended.
    if (refused && !flight.request.allowedWhileSuspended) {
      flight.state = 'confirming';
      flight.sendCall(link, used.handle, CONFIRM);
    } else flight.request.send(flight, link, used.handle);
  }

  takeReply(flight: Flight, reply: ReceivedReply): void {
    if (flight.state !== 'confirming') flight.takeReply(reply);
    else if (this.#session.refused) flight.refuse(new GrantdError('tenant-suspended', 'The tenant is suspended.'));
    else flight.attempt();
  }

  fail(flight: Flight, failure: RetryableFailure): void {
    const route = flight.binding?.route;
    if (failure.kind === 'handle-unknown') this.#session.handles.invalidate(flight.binding);
    else if (route !== undefined) flight.control.redirect(route.link, failure);
    flight.retry(failure, route);
  }
}

/** The path to the current owner of a slot, over as many tries as the deadline allows. */
export class OwnerPath implements FlightPath {
  readonly #of: { readonly tenantId: string } | { readonly slot: number };

  constructor(of: { readonly tenantId: string } | { readonly slot: number }) {
    this.#of = of;
  }

  attempt(flight: Flight): void {
    const { routing } = flight.control;
    const slot = 'slot' in this.#of ? this.#of.slot : (routing.slotOf(this.#of.tenantId) ?? -1);
    const route = routing.route(slot);
    if (route === undefined) {
      routing.wait(() => flight.attempt());
      return;
    }
    flight.binding = { route, handle: 0 };
    flight.request.send(flight, route.link, 0);
  }

  takeReply(flight: Flight, reply: ReceivedReply): void {
    flight.takeReply(reply);
  }

  fail(flight: Flight, failure: RetryableFailure): void {
    const route = flight.binding?.route;
    if (route !== undefined) flight.control.redirect(route.link, failure);
    flight.retry(failure, route);
  }
}

/** The path to one shard, in a single try. */
class LinkPath implements FlightPath {
  readonly #link: ShardLink;
  readonly #onUnavailable: () => void;

  /** `onUnavailable`: the flight has landed without a reply, because that shard cannot give one now. */
  constructor(link: ShardLink, onUnavailable: () => void) {
    this.#link = link;
    this.#onUnavailable = onUnavailable;
  }

  attempt(flight: Flight): void {
    flight.request.send(flight, this.#link, 0);
  }

  takeReply(flight: Flight, reply: ReceivedReply): void {
    flight.takeReply(reply);
  }

  fail(flight: Flight): void {
    flight.land();
    this.#onUnavailable();
  }
}

/** One call to one shard, in a single try. Resolves to undefined if that shard cannot reply now. */
export function askShard<Name extends CallName>(
  control: FlightControl,
  link: ShardLink,
  context: RequestContext,
  name: Name,
  request: RequestOf<Name>,
): Promise<AnswerOf<Name> | undefined> {
  return new Promise((resolve, reject) => {
    const path = new LinkPath(link, () => resolve(undefined));
    makeCall(control, path, context, name, request).then(resolve, reject);
  });
}
