// Which link leads to the owner of a slot. Shards advertise the slots that they serve; for each slot the highest
// advertised epoch wins. Invariant: a route leads over a ready link, and is a new object whenever owner, epoch or
// stream changes, so "same route" means "same tenure on the same connection".

import type { Clock, Timer } from '../../core/async/clock.ts';
import { slotOfTenant } from '../../core/slots.ts';
import type { SlotOwner } from '../../shard/shard.ts';
import type { RetryGate } from './retry-gate.ts';
import type { Route } from './route.ts';
import type { ShardLink } from './shard-link.ts';

/** Waiters are woken this often even without a change, so that those that have given up are dropped. */
const WAKE_MS = 250;

export class RoutingTable {
  readonly #clock: Clock;
  readonly #retries: RetryGate;
  readonly #advertised = new Map<ShardLink, Map<number, number>>();
  #routes: (Route | undefined)[] = [];
  #missing = 0;
  #generation = 0;
  #waiters = new Set<() => void>();
  #timer: Timer | undefined;

  /** `retries`: opened whenever a route changes or its shard announces its slots. */
  constructor(clock: Clock, retries: RetryGate) {
    this.#clock = clock;
    this.#retries = retries;
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

  /** All routes, by slot; undefined if any slot has none. */
  snapshot(): readonly Route[] | undefined {
    if (!this.complete) return undefined;
    return this.#routes.filter((route) => route !== undefined);
  }

  /** The ready links that serve a slot. */
  links(): ShardLink[] {
    return [...this.#advertised.keys()];
  }

  /** Replaces what a shard says it serves. Slots that the cluster does not have are ignored. */
  replace(link: ShardLink, epochs: ReadonlyMap<number, number>): void {
    const advertised = new Map([...epochs].filter(([slot]) => slot < this.slots));
    const before = this.#advertised.get(link);
    this.#advertised.set(link, advertised);
    this.#generation += 1;
    for (const slot of new Set([...(before?.keys() ?? []), ...advertised.keys()])) this.#decide(slot);
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
    for (const slot of advertised.keys()) this.#decide(slot);
    this.wake();
  }

  /** `link` has said that `owner` serves the slot. `ownerLink`: the link to that owner, if it is ready. */
  learn(link: ShardLink, owner: SlotOwner, ownerLink: ShardLink | undefined): void {
    const { slot, epoch } = owner;
    if (slot >= this.slots) return;
    // A higher advertised epoch is newer than this reply.
    const advertised = this.#advertised.get(link);
    const advertisedEpoch = advertised?.get(slot);
    if (ownerLink !== link && advertisedEpoch !== undefined && advertisedEpoch <= epoch) advertised?.delete(slot);
    // A shard announces in its routes what it serves itself.
    const ownerAdvertised = ownerLink === undefined || ownerLink === link ? undefined : this.#advertised.get(ownerLink);
    if (ownerAdvertised !== undefined && (ownerAdvertised.get(slot) ?? -1) < epoch) ownerAdvertised.set(slot, epoch);
    this.#decide(slot);
    this.wake();
  }

  /** Calls back once: at the next change, or a little later without one. */
  wait(waiter: () => void): void {
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
    let best: ShardLink | undefined;
    let bestEpoch = -1;
    for (const [link, advertised] of this.#advertised) {
      const epoch = advertised.get(slot);
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
