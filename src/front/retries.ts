// When the next try comes after one that came to nothing: at once where something has changed since, with the others
// that wait where the owner must become ready first, else after a pause.

import { delay } from '../core/clock.ts';
import { GrantdError } from '../core/errors.ts';
import type { FlightControl } from './flights.ts';
import type { RequestContext } from './front.ts';
import { retryDelayMs, type Waiter } from './retry-gate.ts';
import type { Route } from './routing-table.ts';
import type { TryFailure } from './shard-link.ts';

/** Owners that take a slot for each other's are not asked in a circle without a pause. */
const AT_ONCE_TRIES = 2;

/** `route`: what the try went over; `tries`: how many came before it. Redirections have been taken in already. */
export function retry(
  control: Pick<FlightControl, 'clock' | 'random' | 'routing' | 'retries'>,
  waiter: Waiter,
  failed: {
    readonly route: Route | undefined;
    readonly kind: Exclude<TryFailure, GrantdError>['kind'];
    readonly tries: number;
  },
): void {
  const { clock, random, routing, retries } = control;
  const { route, kind, tries } = failed;
  const refused = kind === 'not-serving' || kind === 'wrong-owner';
  if (refused && route !== undefined && routing.route(route.slot) === route) {
    retries.wait(route, waiter);
    return;
  }
  served(waiter);
  if (tries < AT_ONCE_TRIES && (refused || kind === 'handle-gone')) waiter.attempt();
  else clock.setTimer(() => waiter.attempt(), retryDelayMs(random, tries + 1));
}

/** The waiter has heard from an owner: those who wait for its word go on. */
export function served(waiter: Waiter): void {
  const open = waiter.probing;
  if (open === undefined) return;
  waiter.probing = undefined;
  open();
}

/** For a question of several flights. Throws where the deadline leaves no time for another try. */
export async function pauseBetweenTries(
  { clock, random }: Pick<FlightControl, 'clock' | 'random'>,
  context: RequestContext,
  tries: number,
): Promise<void> {
  const delayMs = retryDelayMs(random, tries);
  if (clock.monotonicMs() + delayMs >= context.deadlineMs) {
    throw new GrantdError('unavailable', 'Not every shard could answer in time. Repeating the call is safe.');
  }
  await delay(clock, delayMs);
}
