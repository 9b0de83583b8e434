// The path of requests that need a handle at the owner of their tenant: one per session. A try uses the current handle,
// or waits for one. If the owner does not know the handle, or has changed, the flight acquires another handle and goes
// on.

import { GrantdError } from '../../core/errors.ts';
import type { Reply__Output } from '../../rpc/gen/grantd/v1/Reply.ts';
import { CONFIRM } from './flight-requests.ts';
import type { Flight, FlightPath, RetryableFailure } from './flights.ts';
import type { HandleKeeper } from './handle-keeper.ts';

/** What a flight needs to know of its session. */
export interface FlightSession {
  readonly handles: HandleKeeper;
  readonly expired: boolean;
  /** The tenant is suspended as far as this front knows, and this session is not the operator's. */
  readonly refused: boolean;
}

export function expiredError(): GrantdError {
  return new GrantdError('unauthorized', 'The API key has expired.');
}

export class SessionPath implements FlightPath {
  readonly #session: FlightSession;

  constructor(session: FlightSession) {
    this.#session = session;
  }

  attempt(flight: Flight): void {
    const { handles, expired, refused } = this.#session;
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
    const { link } = binding.route;
    flight.binding = binding;
    flight.load = link.load;
    // This front may be out of date: only the owner can say that the tenant is still suspended.
    flight.confirming = refused && !flight.request.allowedWhileSuspended;
    if (flight.confirming) flight.sendCall(link, binding.handle, CONFIRM);
    else flight.request.send(flight, link, binding.handle);
  }

  takeReply(flight: Flight, reply: Reply__Output): void {
    if (!flight.confirming) flight.takeReply(reply);
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
