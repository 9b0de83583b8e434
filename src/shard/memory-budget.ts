// The memory budget of the shards of a process: everything that can be read again from the store is held under one bound in bytes,
// and so is what reads and calls take for a while: they enter by a gate, and pages make room for them. When the bound
// is exceeded the least recently used goes, by second chance (CLOCK; Corbató, 1968): a use costs one assignment.

import type { Clock } from '../core/clock.ts';
import type { Turns } from '../core/turns.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { LoadGate } from './load-gate.ts';
import { yieldTurn } from './store-calls.ts';

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
 * An eighth of the budget is for what is being read, another one for tuples that calls hold, all tenants together; one tenant
 * has a quarter of that. With 256 MiB: 32 MiB and 8, which are 128 and 32 subjects that are read at once.
 */
const GATE_SHARE = 8;
const TENANTS_PER_GATE = 4;
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
  });
  return budget;
}

export class MemoryBudget {
  readonly bytesMax: number;
  #bytes = 0;
  #evictions = 0;
  #hand = 0;
  readonly #items: Evictable[] = [];
  /** Before reads of the store. */
  readonly loads: LoadGate;
  /** Before calls that hold many tuples, and that go through the other one meanwhile; never the other way round. */
  readonly calls: LoadGate;
  /** Of the process: reads are begun, and what they bring is taken in, when the turn of their tenant comes. */
  readonly turns: Turns;
  readonly #leaving: Iterator<Evictable>[] = [];

  constructor(bytesMax: number, turns: Turns) {
    this.bytesMax = bytesMax;
    this.turns = turns;
    const gate = {
      bytesMax: bytesMax / GATE_SHARE,
      tenantBytesMax: bytesMax / GATE_SHARE / TENANTS_PER_GATE,
      onChange: (bytes: number) => {
        this.#bytes += bytes;
        this.#shrink();
      },
    };
    this.loads = new LoadGate({ ...gate, tenantCountMax: TENANT_READS_MAX });
    this.calls = new LoadGate({ ...gate, tenantCountMax: Number.POSITIVE_INFINITY });
  }

  get bytes(): number {
    return this.#bytes;
  }

  get evictions(): number {
    return this.#evictions;
  }

  add(item: Evictable, bytes: number): void {
    item.place = this.#items.length;
    item.bytes = bytes;
    item.referenced = true;
    this.#items.push(item);
    this.#bytes += bytes;
    this.#shrink();
  }

  /** Takes an item out without evicting it. */
  remove(item: Evictable): void {
    if (item.place < 0) return;
    this.#bytes -= item.bytes;
    const last = this.#items.pop();
    if (last !== undefined && last !== item) {
      last.place = item.place;
      this.#items[item.place] = last;
    }
    item.place = -1;
  }

  /** Takes many out, without evicting them, a bounded number in one step. Until its turn an item may be evicted as before. */
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
    if (item.place >= 0) this.#bytes += bytes - item.bytes;
    item.bytes = bytes;
    this.#shrink();
  }

  #shrink(): void {
    let steps = Math.min(HAND_STEPS_MAX, this.#items.length * 2);
    while (this.#bytes > this.bytesMax && steps > 0) {
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
