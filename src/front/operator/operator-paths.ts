// The paths of the operator's requests, which need no handle: to the owner of a tenant's slot, and to one shard.

import type { Reply__Output } from '../../rpc/gen/grantd/v1/Reply.ts';
import type { RequestContext } from '../front.ts';
import type { CallBody } from '../links/outbox.ts';
import type { ShardLink } from '../links/shard-link.ts';
import { CallRequest } from '../requests/flight-requests.ts';
import { Flight, type FlightControl, type FlightPath, type RetryableFailure } from '../requests/flights.ts';

/** To the current owner of a slot, over as many tries as the deadline allows. */
export class OwnerPath implements FlightPath {
  readonly #of: { readonly tenantId: string } | { readonly slot: number };

  /** Of a tenant, or by its number. */
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

  takeReply(flight: Flight, reply: Reply__Output): void {
    flight.takeReply(reply);
  }

  fail(flight: Flight, failure: RetryableFailure): void {
    const route = flight.binding?.route;
    if (route !== undefined) flight.control.redirect(route.link, failure);
    flight.retry(failure, route);
  }
}

/** One call to one shard, in a single try. Resolves to undefined if that shard cannot reply now. */
export function askShard(
  control: FlightControl,
  context: RequestContext,
  { link, body }: { readonly link: ShardLink; readonly body: CallBody },
): Promise<Reply__Output | undefined> {
  return new Promise((resolve, reject) => {
    const request = new CallRequest(control.clock, { body, write: 'no' }, resolve, reject);
    const path = new LinkPath(link, () => resolve(undefined));
    control.flights.start(new Flight(control, context, path, request));
  });
}

/** To one shard, in a single try. */
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

  takeReply(flight: Flight, reply: Reply__Output): void {
    flight.takeReply(reply);
  }

  fail(flight: Flight): void {
    flight.land();
    this.#onUnavailable();
  }
}
