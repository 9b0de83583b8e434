// How the tries of a flight reach a shard: under the handle of a session, at the owner of a tenant or slot, or at one
// shard.

import { GrantdError } from '../../core/errors.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import type { ReceivedReply } from '../../rpc/messages.ts';
import type { AnswerOf, CallName, RequestOf } from '../../shard/shard.ts';
import type { RequestContext } from '../front.ts';
import type { Binding } from '../links/routing-table.ts';
import type { ShardLink } from '../links/shard-link.ts';
import { makeCall } from './flight-requests.ts';
import type { Flight, FlightControl, FlightPath, RetryableFailure } from './flights.ts';
import type { HandleKeeper } from './handle-keeper.ts';
import type { ReaderHandles } from './reader-handles.ts';

const CONFIRM = Object.freeze(CALLS.confirm.toWire(undefined));

/**
 * The path of requests that need a handle at the owner of their tenant: the part of a session that every flight uses. A
 * try uses the current handle, or waits for one. If the owner does not know the handle, or has changed, the flight
 * acquires another and goes on. What each check reads is here, in the session's own object: of many tenants, nothing is
 * in a cache of the processor.
 */
export abstract class SessionPath implements FlightPath {
  abstract readonly handles: HandleKeeper;
  abstract readonly readers: ReaderHandles;
  /** The tenant is suspended as far as this front knows, and this session is not the operator's. */
  abstract readonly refused: boolean;
  readonly #control: FlightControl;
  /** The last handle. */
  #binding: Binding | undefined;
  /** Whether the tenant has readers that this session may ask. */
  #reads = false;

  constructor(control: FlightControl) {
    this.#control = control;
  }

  /** The owner has issued a handle. */
  protected bind(binding: Binding, readers: number): void {
    this.#binding = binding;
    this.readers.expect(readers);
    this.#reads = this.readers.any;
  }

  /** The owner says how many readers the tenant has now; undefined: it does not. Returns whether that is a change. */
  protected followReaders(readers: number | undefined): boolean {
    if (!this.readers.follow(readers)) return false;
    this.#reads = this.readers.any;
    return true;
  }

  /** The handle, if the route over which it was acquired still leads to the owner. */
  #current(): Binding | undefined {
    const binding = this.#binding;
    return binding !== undefined && this.#control.routing.route(binding.route.slot) === binding.route
      ? binding
      : undefined;
  }

  attempt(flight: Flight): void {
    const { state } = flight;
    let position = typeof state === 'object' ? state : undefined;
    if (position !== undefined) {
      flight.state = 'anywhere';
      this.followReaders(position.readers);
    } else if (state === 'confirming') flight.state = 'owner-only';
    const binding = this.#current();
    if (binding === undefined) {
      this.handles.acquireFor(flight);
      flight.load = flight.control.routing.route(this.handles.slot)?.link.load ?? flight.load;
      return;
    }
    const { refused } = this;
    const { readAt } = flight.request;
    const mayRead = this.#reads && readAt !== undefined && !refused && flight.state === 'anywhere';
    const atReader = mayRead ? this.readers.bindingFor(binding.route, readAt) : undefined;
    if (atReader !== undefined) {
      const { localReader, positions, reads } = flight.control;
      // A reader in this thread shares memory with the owner, and mostly need not ask.
      if (position === undefined && localReader === undefined) {
        position = positions.take(binding.route, this.readers.tenantId, flight, atReader.reader?.keyEndsMs);
        if (position === undefined) return;
        if (this.followReaders(position.readers)) {
          flight.attempt();
          return;
        }
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
    else if (this.refused) flight.refuse(new GrantdError('tenant-suspended', 'The tenant is suspended.'));
    else flight.attempt();
  }

  fail(flight: Flight, failure: RetryableFailure): void {
    const route = flight.binding?.route;
    if (failure.kind === 'handle-unknown') {
      // The owner no longer knows this handle.
      if (this.#binding === flight.binding) this.#binding = undefined;
    } else if (route !== undefined) flight.control.redirect(route.link, failure);
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
      routing.wait(slot, () => flight.attempt());
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
