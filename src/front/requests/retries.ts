// When the next try comes after one that came to nothing: at once where something has changed since, with the others
// that wait where the owner must become ready first, else after a pause.

import { type Clock, delay, type Random } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { RequestContext } from '../front.ts';
import { type RetryGate, retryDelayMs, type Waiter } from '../links/retry-gate.ts';
import type { Route } from '../links/route.ts';
import type { RoutingTable } from '../links/routing-table.ts';
import type { TryFailure } from '../links/shard-link.ts';

/** Owners that take a slot for each other's are not asked in a circle without a pause. */
const AT_ONCE_TRIES = 2;

export interface RetryControl {
  readonly clock: Clock;
  readonly random: Random;
  readonly routing: RoutingTable;
  readonly retries: RetryGate;
}

/** `route`: what the try went over; `tries`: how many came before it. Redirections have been taken in already. */
export function retry(
  control: RetryControl,
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
  if (tries < AT_ONCE_TRIES && (refused || kind === 'handle-unknown')) waiter.attempt();
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
  { clock, random }: Pick<RetryControl, 'clock' | 'random'>,
  context: RequestContext,
  tries: number,
): Promise<void> {
  const delayMs = retryDelayMs(random, tries);
  if (clock.monotonicMs() + delayMs >= context.deadlineMs) {
    throw new GrantdError('unavailable', 'Not every shard could answer in time. Repeating the call is safe.');
  }
  await delay(clock, delayMs);
}
