// Decides when the next try follows a failed one: at once if something has changed since; together with the other
// waiters if the owner must become ready first; otherwise after a pause.

import { type Clock, delay, type Random } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { RequestContext } from '../front.ts';
import { type RetryGate, retryDelayMs, type Waiter } from '../links/retry-gate.ts';
import type { Route } from '../links/route.ts';
import type { RoutingTable } from '../links/routing-table.ts';
import type { TryFailure } from '../links/shard-link.ts';

/** Tries without a pause. More would busy owners that redirect to each other in a circle. */
const AT_ONCE_TRIES = 2;

export interface RetryControl {
  readonly clock: Clock;
  readonly random: Random;
  readonly routing: RoutingTable;
  readonly retries: RetryGate;
}

/** `route`: of the failed try, whose redirection has already been applied. `tries`: how many came before it. */
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

/** The waiter has heard from an owner: those that wait for the same owner go on. */
export function served(waiter: Waiter): void {
  const open = waiter.probing;
  if (open === undefined) return;
  waiter.probing = undefined;
  open();
}

/** For a call that takes several flights. Throws if the deadline leaves no time for another try. */
export async function pauseBetweenTries(
  { clock, random }: Pick<RetryControl, 'clock' | 'random'>,
  context: RequestContext,
  tries: number,
): Promise<void> {
  const delayMs = retryDelayMs(random, tries);
  if (clock.monotonicMs() + delayMs >= context.deadlineMs) {
    throw new GrantdError('unavailable', 'Not every shard replied in time. Repeating the call is safe.');
  }
  await delay(clock, delayMs);
}
