// Which link leads to the owner of a slot. Shards advertise the slots that they serve; for each slot the highest
// advertised epoch wins. Invariant: a route leads over a ready link, and is a new object whenever owner, epoch or
// stream changes, so "same route" means "same tenure on the same connection".

import { backoffMs, type Clock, jitteredMs, type Random, type Timer } from '../../core/async/clock.ts';
import { slotOfTenant } from '../../core/slots.ts';
import type { LinkRoutes } from '../../rpc/announced-routes.ts';
import type { TryFailure } from '../../rpc/links/stream-link.ts';
import type { SlotOwner } from '../../shard/shard.ts';
import type { AwaitedSlots } from './awaited-slots.ts';
import type { ShardLink } from './shard-link.ts';

/** Waiters are woken this often even without a change, so that those that have given up are dropped. */
const WAKE_MS = 250;

/** What a shard says that it serves, epochs by slot. */
interface Advertised {
  readonly epochs: ReadonlyMap<number, number>;
  /** What replies of shards have shown since; undefined: it does not serve the slot. Its next message replaces this. */
  readonly learned: Map<number, number | undefined>;
}

const epochIn = ({ epochs, learned }: Advertised, slot: number): number | undefined =>
  learned.has(slot) ? learned.get(slot) : epochs.get(slot);

const slotsOf = ({ epochs, learned }: Advertised): ReadonlySet<number> =>
  new Set([...epochs.keys(), ...learned.keys()]);

export class RoutingTable {
  readonly #clock: Clock;
  readonly #retries: RetryGate;
  readonly #awaited: Pick<AwaitedSlots, 'note'>;
  readonly #advertised = new Map<ShardLink, Advertised>();
  #routes: (Route | undefined)[] = [];
  #missing = 0;
  #generation = 0;
  #waiters = new Set<() => void>();
  #timer: Timer | undefined;

  /**
   * `retries`: opened whenever a route changes or its shard announces its slots. `awaited`: hears of slots that are
   * waited for.
   */
  constructor(clock: Clock, retries: RetryGate, awaited: Pick<AwaitedSlots, 'note'>) {
    this.#clock = clock;
    this.#retries = retries;
    this.#awaited = awaited;
  }

  /** Number of slots in the cluster; 0: no shard has said yet. */
  get slots(): number {
    return this.#routes.length;
  }

  /** Raised whenever a shard comes or goes, or an owner may have changed. */
  get generation(): number {
    return this.#generation;
  }

  /** Whether every slot has a reachable owner. */
  get complete(): boolean {
    return this.slots > 0 && this.#missing === 0;
  }

  /** To be called once: the number of slots never changes. */
  setSlots(slots: number): void {
    this.#routes = new Array<Route | undefined>(slots).fill(undefined);
    this.#missing = slots;
  }

  route(slot: number): Route | undefined {
    return this.#routes[slot];
  }

  /** Undefined while the number of slots is not known. */
  slotOf(tenantId: string): number | undefined {
    return this.slots === 0 ? undefined : slotOfTenant(tenantId, this.slots);
  }

  /** Whether the tenant belongs to the shard of this link, as far as this front knows. */
  leadsTo(tenantId: string, link: ShardLink): boolean {
    return this.route(this.slotOf(tenantId) ?? -1)?.link === link;
  }

  /** All routes, by slot; undefined if any slot has none. */
  snapshot(): readonly Route[] | undefined {
    if (!this.complete) return undefined;
    return this.#routes.filter((route) => route !== undefined);
  }

  /** The ready links that serve a slot. */
  links(): ShardLink[] {
    return [...this.#advertised.keys()];
  }

  /** A shard has said what it serves. Slots that the cluster does not have are ignored. */
  update(link: ShardLink, { epochs, changed }: Pick<LinkRoutes, 'epochs' | 'changed'>): void {
    const before = this.#advertised.get(link);
    this.#advertised.set(link, { epochs, learned: new Map() });
    this.#generation += 1;
    for (const slot of new Set([...changed, ...(before?.learned.keys() ?? [])])) this.#decide(slot);
    // If nothing has changed, the shard repeats its slots because it can answer again, or no longer can.
    this.#retries.openWhere((route) => route.link === link);
    this.wake();
  }

  /** The stream of a shard has ended: nothing that it advertised counts any more. */
  drop(link: ShardLink): void {
    const advertised = this.#advertised.get(link);
    if (advertised === undefined) return;
    this.#advertised.delete(link);
    this.#generation += 1;
    for (const slot of slotsOf(advertised)) this.#decide(slot);
    this.wake();
  }

  /** `link` has said that `owner` serves the slot. `ownerLink`: the link to that owner, if it is ready. */
  learn(link: ShardLink, owner: SlotOwner, ownerLink: ShardLink | undefined): void {
    const { slot, epoch } = owner;
    if (slot >= this.slots) return;
    // A higher advertised epoch is newer than this reply.
    const advertised = this.#advertised.get(link);
    const advertisedEpoch = advertised && epochIn(advertised, slot);
    if (ownerLink !== link && advertisedEpoch !== undefined && advertisedEpoch <= epoch) {
      advertised?.learned.set(slot, undefined);
    }
    // A shard announces in its routes what it serves itself.
    const ownerAdvertised = ownerLink === undefined || ownerLink === link ? undefined : this.#advertised.get(ownerLink);
    if (ownerAdvertised !== undefined && (epochIn(ownerAdvertised, slot) ?? -1) < epoch) {
      ownerAdvertised.learned.set(slot, epoch);
    }
    this.#decide(slot);
    this.wake();
  }

  /** Waits for a route of the slot. Calls back once: at the next change of any, or a little later without one. */
  wait(slot: number, waiter: () => void): void {
    if (slot >= 0 && slot < this.slots) this.#awaited.note(slot);
    this.#waiters.add(waiter);
    this.#timer ??= this.#clock.setTimer(() => this.wake(), WAKE_MS);
  }

  wake(): void {
    this.#retries.openWhere((route) => this.#routes[route.slot] !== route);
    this.#timer?.cancel();
    this.#timer = undefined;
    const waiters = this.#waiters;
    if (waiters.size === 0) return;
    this.#waiters = new Set();
    for (const waiter of waiters) waiter();
  }

  #decide(slot: number): void {
    if (slot >= this.slots) return;
    let best: ShardLink | undefined;
    let bestEpoch = -1;
    for (const [link, advertised] of this.#advertised) {
      const epoch = epochIn(advertised, slot);
      if (epoch !== undefined && epoch > bestEpoch) {
        best = link;
        bestEpoch = epoch;
      }
    }
    const current = this.#routes[slot];
    if (current?.link === best && current?.epoch === bestEpoch) return;
    const route = best === undefined ? undefined : { slot, epoch: bestEpoch, link: best };
    this.#missing += (route === undefined ? 1 : 0) - (current === undefined ? 1 : 0);
    this.#routes[slot] = route;
    this.#generation += 1;
  }
}

export interface Route {
  readonly slot: number;
  readonly epoch: number;
  readonly link: ShardLink;
}

/** A shard that answers reads beside the owner, as a flight sees it. */
export interface AskedReader {
  /** It has failed a read, which the owner is asked instead. */
  failed(failure: TryFailure): void;
  /** When the key of the handle ends, ms; undefined: it does not. */
  readonly keyEndsMs: number | undefined;
}

/** A handle, and the route over which it was acquired; 0 if none is needed. */
export interface Binding {
  readonly route: Route;
  readonly handle: number;
  /** The handle is at this reader, so the route is not to the owner. */
  readonly reader?: AskedReader;
}

// ---- the gate of repeats ----
//
// Requests that wait because the owner of a slot has said that it does not serve the slot now. If thousands of them
// retried every few milliseconds, both ends would be busy for nothing, so one of them probes for all. Invariants: each
// route has one try at a time, at a bounded pace; all waiters go on once that try was served, or once the shard
// announces its slots again.

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
