// Requests that wait because the owner of a slot has said that it does not serve the slot now. If thousands of them
// retried every few milliseconds, both ends would be busy for nothing, so one of them probes for all. Invariants: each
// route has one try at a time, at a bounded pace; all waiters go on once that try was served, or once the shard
// announces its slots again.

import { backoffMs, type Clock, jitteredMs, type Random, type Timer } from '../../core/async/clock.ts';
import type { Route } from './route.ts';

/** Due tries of all routes go out together, so that they share a message. */
const TICK_MS = 10;
const RETRY = { firstMs: 10, maxMs: 100 };

/** The pause before try number `tries` + 1. */
export function retryDelayMs(random: Random, tries: number): number {
  return jitteredMs(random, backoffMs(RETRY, tries));
}

export interface Waiter {
  /** No caller waits for it any more: `attempt` only releases what it holds. */
  readonly settled: boolean;
  /** Set while it probes for all waiters of a route; to be called once it was served. */
  probing: (() => void) | undefined;
  attempt(): void;
}

interface Queue {
  readonly waiters: Set<Waiter>;
  probes: number;
  dueAtMs: number;
}

export class RetryGate {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #queues = new Map<Route, Queue>();
  #timer: Timer | undefined;

  constructor(dependencies: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = dependencies.clock;
    this.#random = dependencies.random;
  }

  /** Calls the waiter's `attempt` once its turn comes, or once the route is opened. */
  wait(route: Route, waiter: Waiter): void {
    waiter.probing = undefined;
    const queue = this.#queues.get(route);
    if (queue !== undefined) queue.waiters.add(waiter);
    else this.#queues.set(route, { waiters: new Set([waiter]), probes: 0, dueAtMs: this.#dueAtMs(0) });
    this.#timer ??= this.#clock.setTimer(() => this.#tick(), TICK_MS);
  }

  /** Lets all waiters of the route go on. */
  open(route: Route): void {
    const queue = this.#queues.get(route);
    if (queue === undefined) return;
    this.#queues.delete(route);
    for (const waiter of queue.waiters) waiter.attempt();
  }

  /** The same for every route that meets the condition. */
  openWhere(condition: (route: Route) => boolean): void {
    for (const route of [...this.#queues.keys()]) if (condition(route)) this.open(route);
  }

  #dueAtMs(probes: number): number {
    return this.#clock.monotonicMs() + retryDelayMs(this.#random, probes);
  }

  #tick(): void {
    this.#timer = undefined;
    const nowMs = this.#clock.monotonicMs();
    for (const [route, queue] of [...this.#queues]) {
      if (queue.dueAtMs <= nowMs && this.#queues.get(route) === queue) this.#probe(route, queue);
    }
    if (this.#queues.size > 0) this.#timer ??= this.#clock.setTimer(() => this.#tick(), TICK_MS);
  }

  #probe(route: Route, queue: Queue): void {
    for (const waiter of [...queue.waiters]) {
      if (!waiter.settled) continue;
      queue.waiters.delete(waiter);
      waiter.attempt();
    }
    const [next] = queue.waiters;
    if (next === undefined) {
      this.#queues.delete(route);
      return;
    }
    // The queue stays until the probe has its reply, so that a waiter that arrives in between does not probe at once.
    queue.waiters.delete(next);
    queue.probes += 1;
    queue.dueAtMs = this.#dueAtMs(queue.probes);
    next.probing = () => this.open(route);
    next.attempt();
  }
}
