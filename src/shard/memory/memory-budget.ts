// The memory budget of the shards of a process: everything that can be read again from the store is held under one
// bound in bytes, and so is what reads and calls take for a while (they enter by a gate), what writes take until nobody
// can repeat them (write-memory.ts), and what is held of each tenant: pages are evicted for them. When the bound is
// exceeded the least recently used goes, by second chance (CLOCK; Corbató, 1968): a use costs one assignment.

import type { Clock } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { yieldTurn } from '../store-calls.ts';
import { LoadGate } from './load-gate.ts';
import { WRITE_KINDS, WriteMemory } from './write-memory.ts';

export abstract class Evictable {
  /** Estimated bytes held. Changed through the budget only. */
  bytes = 0;
  /** Set at every use; cleared when the hand passes. */
  referenced = true;
  /** Greater than zero while somebody relies on it: it stays. */
  pins = 0;
  /** Its place in the budget, −1 outside. The budget's own. */
  place = -1;

  /** Lets go of the content. Called by the budget after it has taken the item out. */
  abstract evict(): void;
}

/** Places that the hand passes in one call: what it does not free, the next call goes on with. */
const HAND_STEPS_MAX = 4096;
/** Items that are let go of in one turn of the event loop: well within a millisecond. */
const REMOVALS_PER_TURN = 1000;

/**
 * An eighth of the budget is for what is being read, another one for tuples that calls hold, all tenants together; one
 * tenant has a quarter of that. With 256 MiB: 32 MiB and 8, which are 128 and 32 subjects that are read at once.
 */
const GATE_SHARE = 8;
const TENANTS_PER_GATE = 4;
/** Of the budget, for pages, whatever else is held: without any, every check would be a read of the store. */
const PAGES_SHARE_MIN = 4;
/** Reads of one tenant on their way at once: many more than keep a store busy would only keep it from the others. */
const TENANT_READS_MAX = 32;

/** The budget of a process, seen in its metrics. */
export function createMemoryBudget(metrics: Metrics, turns: Turns, bytesMax: number): MemoryBudget {
  const budget = new MemoryBudget(bytesMax, turns);
  let reported = 0;
  const refused = { read: 0, call: 0 };
  metrics.onRender(() => {
    metrics.pageCacheBytes.inc(budget.bytes);
    metrics.pageCacheLimitBytes.inc(bytesMax);
    metrics.pageCacheEvictions.inc(budget.evictions - reported);
    reported = budget.evictions;
    for (const [work, gate] of [
      ['read', budget.loads],
      ['call', budget.calls],
    ] as const) {
      metrics.loadGateBytes.inc({ work }, gate.bytes);
      metrics.loadGateWaiting.inc({ work }, gate.waiting);
      metrics.loadGateRefused.inc({ work }, gate.refused - refused[work]);
      refused[work] = gate.refused;
    }
    for (const kind of WRITE_KINDS) {
      const { bytes, bytesMax: limit, waiting } = budget.writes.state(kind);
      metrics.writeMemoryBytes.inc({ kind }, bytes);
      metrics.writeMemoryLimitBytes.inc({ kind }, limit);
      metrics.writeMemoryWaiting.inc({ kind }, waiting);
    }
  });
  return budget;
}

export class MemoryBudget {
  readonly bytesMax: number;
  /** What may be evicted. */
  #pageBytes = 0;
  /** What may not. */
  #heldBytes = 0;
  #evictions = 0;
  #hand = 0;
  readonly #items: Evictable[] = [];
  /** Before reads of the store. */
  readonly loads: LoadGate;
  /** Before calls that hold many tuples, and that go through the other one meanwhile; never the other way round. */
  readonly calls: LoadGate;
  /** What cannot be read again. */
  readonly writes: WriteMemory;
  /** Of the process: reads are begun, and what they bring is taken in, when the turn of their tenant comes. */
  readonly turns: Turns;
  readonly #leaving: Iterator<Evictable>[] = [];

  constructor(bytesMax: number, turns: Turns) {
    this.bytesMax = bytesMax;
    this.turns = turns;
    const onChange = (bytes: number): void => this.hold(bytes);
    const gate = {
      bytesMax: bytesMax / GATE_SHARE,
      tenantBytesMax: bytesMax / GATE_SHARE / TENANTS_PER_GATE,
      onChange,
    };
    this.loads = new LoadGate({ ...gate, tenantCountMax: TENANT_READS_MAX });
    this.calls = new LoadGate({ ...gate, tenantCountMax: Number.POSITIVE_INFINITY });
    this.writes = new WriteMemory(bytesMax, onChange);
  }

  get bytes(): number {
    return this.#pageBytes + this.#heldBytes;
  }

  /** Of what may be evicted. */
  get pageBytes(): number {
    return this.#pageBytes;
  }

  /** Counts what is not evicted: pages are evicted for it. Less than zero gives back. */
  hold(bytes: number): void {
    this.#heldBytes += bytes;
    if (bytes > 0) this.#shrink();
  }

  get evictions(): number {
    return this.#evictions;
  }

  add(item: Evictable, bytes: number): void {
    item.place = this.#items.length;
    item.bytes = bytes;
    item.referenced = true;
    this.#items.push(item);
    this.#pageBytes += bytes;
    this.#shrink();
  }

  /** Takes an item out without evicting it. */
  remove(item: Evictable): void {
    if (item.place < 0) return;
    this.#pageBytes -= item.bytes;
    const last = this.#items.pop();
    if (last !== undefined && last !== item) {
      last.place = item.place;
      this.#items[item.place] = last;
    }
    item.place = -1;
  }

  /**
   * Takes many out, without evicting them, a bounded number in one step. Until its turn an item may be evicted as
   * before.
   */
  async removeAll(items: Iterable<Evictable>, clock: Clock): Promise<void> {
    this.#leaving.push(items[Symbol.iterator]());
    if (this.#leaving.length > 1) return;
    for (let [first] = this.#leaving; first !== undefined; [first] = this.#leaving) {
      for (let count = 0; count < REMOVALS_PER_TURN; count += 1) {
        const { done, value } = first.next();
        if (done === true) {
          this.#leaving.shift();
          break;
        }
        this.remove(value);
      }
      if (this.#leaving.length > 0) await yieldTurn(clock);
    }
  }

  /** An item has grown or shrunk. */
  resize(item: Evictable, bytes: number): void {
    if (item.place >= 0) this.#pageBytes += bytes - item.bytes;
    item.bytes = bytes;
    this.#shrink();
  }

  #shrink(): void {
    const pageBytesMax = Math.max(this.bytesMax - this.#heldBytes, this.bytesMax / PAGES_SHARE_MIN);
    let steps = Math.min(HAND_STEPS_MAX, this.#items.length * 2);
    while (this.#pageBytes > pageBytesMax && steps > 0) {
      steps -= 1;
      if (this.#hand >= this.#items.length) this.#hand = 0;
      const item = this.#items[this.#hand];
      if (item === undefined) return;
      if (item.pins > 0 || item.referenced) {
        item.referenced = false;
        this.#hand += 1;
        continue;
      }
      // The last item takes the place: the hand looks at it next.
      this.remove(item);
      this.#evictions += 1;
      item.evict();
    }
  }
}
