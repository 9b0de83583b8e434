// What the owner of a slot has promised: that for some milliseconds nobody is shown a new commit of a tenant. A front
// then uses one position of the log for every check that comes meanwhile (front/requests/read-positions.ts).
//
// Linearizability, by rates of clocks alone (docs/adr/0025-quiet-promises.md has all of it). A front counts from the
// moment at which its question left, the owner from the later one at which it answers. So a check within the window of
// the front came before the promise was over, and whatever was shown to anybody before that check was shown before the
// promise, which is what the position says. Everything that shows a commit rests on the appender's commit step, which
// therefore waits for the promises. Who else could show one waits as well:
//   - The next tenure of the slot in this process, and a successor to which the slot is given (`over`).
//   - A successor of a process that is dead for certain, which waits for no lease (`outlastMs`). Any other one waits
//     for the lease, which bounds the promise.
//
// What expires is not a commit of its tenant: each entry of the slot moves the time of the log on. So a promise is
// given only if none of the tenant's grants may expire until the slot's time then and QUIET_SLACK_MS more; fronts judge
// keys by the same bound. An entry beyond that time, which only a wall clock that has jumped can bring, waits for all
// promises of the slot. Meanwhile none is given: a write waits once, for one promise at most.

import { type Clock, delay } from '../../core/async/clock.ts';
import type { TenantId } from '../../core/ids.ts';
import type { ReaderLimits } from '../memory/limits.ts';
import { QUIET_SLACK_MS } from '../shard.ts';

/** A shorter promise is over before a front can use it. */
const PROMISE_MS_MIN = 2;

/** Longer than any promise that a process has given before it died, although clocks differ in rate. */
export const outlastMs = ({ quietMs }: Pick<ReaderLimits, 'quietMs'>): number => 1.25 * quietMs + 10;

/** The promises of one slot, of all tenures in this process. */
export class SlotPromises {
  readonly #clock: Clock;
  /** By tenant: the end of the last promise, on the monotonic clock. Those in the past go with the next one. */
  readonly #untilMs = new Map<TenantId, number>();
  /** The end of the last one to end. */
  #lastMs = Number.NEGATIVE_INFINITY;
  /** The slot's time minus the monotonic clock: the least at any promise since there was none. */
  #leadMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many tenants are kept: those that were promised something a moment ago. */
  get size(): number {
    return this.#untilMs.size;
  }

  /**
   * Promises that for `ms` from now nobody is shown a commit of the tenant, nor a time of the slot more than
   * QUIET_SLACK_MS after `nowMs + ms`. `nowMs`: the slot's time. `pendingMs`: of the entry that is being appended.
   * Returns `ms`, or 0: nothing is promised.
   */
  give(tenantId: TenantId, ms: number, nowMs: number, pendingMs: number | undefined): number {
    if (ms < PROMISE_MS_MIN) return 0;
    const atMs = this.#clock.monotonicMs();
    const leadMs = atMs < this.#lastMs ? Math.min(this.#leadMs, nowMs - atMs) : nowMs - atMs;
    if (pendingMs !== undefined && pendingMs > leadMs + atMs + QUIET_SLACK_MS) return 0;
    this.#leadMs = leadMs;
    for (const [earlier, untilMs] of this.#untilMs) {
      if (untilMs > atMs) break;
      this.#untilMs.delete(earlier);
    }
    const untilMs = Math.max(atMs + ms, this.untilMsOf(tenantId));
    this.#untilMs.delete(tenantId);
    this.#untilMs.set(tenantId, untilMs);
    this.#lastMs = Math.max(this.#lastMs, untilMs);
    return ms;
  }

  /** On the monotonic clock. In the past: nothing is promised to the tenant. */
  untilMsOf(tenantId: TenantId): number {
    return this.#untilMs.get(tenantId) ?? Number.NEGATIVE_INFINITY;
  }

  /** How long an entry must not be shown yet, by its tenants and the slot's time after it; 0: it may be. */
  holdMs(operations: readonly { readonly tenantId: TenantId }[], timeMs: number): number {
    const atMs = this.#clock.monotonicMs();
    if (atMs >= this.#lastMs) return 0;
    if (timeMs > this.#leadMs + atMs + QUIET_SLACK_MS) return this.#lastMs - atMs;
    let untilMs = atMs;
    for (const { tenantId } of operations) untilMs = Math.max(untilMs, this.untilMsOf(tenantId));
    return untilMs - atMs;
  }

  /** Whether some promise is not over. */
  get standing(): boolean {
    return this.#clock.monotonicMs() < this.#lastMs;
  }

  /** Resolves once all promises are over. No new ones may be given meanwhile. */
  async over(): Promise<void> {
    while (this.standing) await delay(this.#clock, this.#lastMs - this.#clock.monotonicMs());
  }
}

/** The promises of a process. */
export class QuietPromises {
  readonly #clock: Clock;
  readonly #slots = new Map<number, SlotPromises>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(slot: number): SlotPromises {
    let promises = this.#slots.get(slot);
    if (promises === undefined) {
      promises = new SlotPromises(this.#clock);
      this.#slots.set(slot, promises);
    }
    return promises;
  }

  /** Resolves once all promises are over. No new ones may be given meanwhile. */
  async over(): Promise<void> {
    await Promise.all([...this.#slots.values()].map((promises) => promises.over()));
  }
}

// ---- how long appends take ----

const APPENDS = 15;

/** The median of the last appends: a commit is hidden for about that long anyway. */
export class AppendTimes {
  readonly #lastMs: number[] = [];

  /** 0: nothing is known yet. */
  get medianMs(): number {
    const sorted = this.#lastMs.toSorted((left, right) => left - right);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  }

  add(tookMs: number): void {
    this.#lastMs.push(tookMs);
    if (this.#lastMs.length > APPENDS) this.#lastMs.shift();
  }
}
