// The memory budget of a process, for all its shards. One bound in bytes covers four kinds of memory: content that can
// be read again from the store; memory of reads and calls, which a gate admits; memory of writes, until no client can
// repeat them (write-memory.ts); and data held per tenant. Only the first kind is evicted, to make way for the others.
// Above the bound the least recently used content goes, by second chance (CLOCK; Corbató, 1968): a use costs one
// assignment.

import type { Clock } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { yieldTurn } from '../store-calls.ts';
import { LoadGate } from './load-gate.ts';
import { WRITE_KINDS, WriteMemory } from './write-memory.ts';

export abstract class Evictable {
  /** Estimated bytes. Only the budget changes them. */
  bytes = 0;
  /** Set at every use; cleared when the clock hand passes. */
  referenced = true;
  /** Above zero while a caller relies on the item, so that it stays. */
  pins = 0;
  /** Index in the budget, −1 outside. Only the budget uses it. */
  place = -1;

  /** Drops the content. The budget calls this after it has removed the item. */
  abstract evict(): void;
}

/** Steps of the clock hand in one call; the next call continues. */
const HAND_STEPS_MAX = 4096;
/** Items dropped in one turn of the event loop: well within a millisecond. */
const REMOVALS_PER_TURN = 1000;

/**
 * Reads of the store may take an eighth of the budget, and tuples held by calls another eighth; one tenant gets a
 * quarter of each. With 256 MiB: 32 MiB and 8 MiB, which allow 128 and 32 subjects to be read at once.
 */
const GATE_SHARE = 8;
const TENANTS_PER_GATE = 4;
/**
 * Divisor of the budget: pages keep at least this share, whatever else is held. Without pages every check would read
 * the store.
 */
const PAGES_SHARE_MIN = 4;
/**
 * Reserved by a check or listing under rules that goes through large entities, or through very many. They may take a
 * quarter of the budget; one tenant has one at a time.
 */
export const LARGE_EVALUATION_BYTES = 32 * 1024 * 1024;
const EVALUATIONS_SHARE = 4;

/** Share of the budget beyond which no page is loaded ahead of calls: it would soon evict one that calls use. */
const NEARLY_FULL = 0.9;

/** Concurrent reads of one tenant. More would not use the store better, but would only delay other tenants. */
const TENANT_READS_MAX = 32;

/** The budget of a process, with its metrics. */
export function createMemoryBudget(metrics: Metrics, turns: Turns, bytesMax: number): MemoryBudget {
  const budget = new MemoryBudget(bytesMax, turns);
  let reported = 0;
  const refused = { read: 0, call: 0, evaluation: 0 };
  metrics.onRender(() => {
    metrics.pageCacheBytes.inc(budget.bytes);
    metrics.pageCacheLimitBytes.inc(bytesMax);
    metrics.pageCacheEvictions.inc(budget.evictions - reported);
    reported = budget.evictions;
    for (const [work, gate] of [
      ['read', budget.loads],
      ['call', budget.calls],
      ['evaluation', budget.evaluations],
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
  /** Bytes that may be evicted. */
  #pageBytes = 0;
  /** Bytes that may not be evicted. */
  #heldBytes = 0;
  #evictions = 0;
  #hand = 0;
  readonly #items: Evictable[] = [];
  /** The gate before reads of the store. */
  readonly loads: LoadGate;
  /** The gate before calls that hold many tuples. Such calls also pass the other gate; never the other way round. */
  readonly calls: LoadGate;
  /** The gate before large evaluations. They have passed the gate of calls before, and may pass that of reads. */
  readonly evaluations: LoadGate;
  /** Memory that cannot be read again from the store. */
  readonly writes: WriteMemory;
  /** The turns of the process: a read starts, and its result is processed, when its tenant has its turn. */
  readonly turns: Turns;
  /** Pages loaded ahead of calls. */
  readonly preloads = new Preloads();
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
    this.evaluations = new LoadGate({
      bytesMax: Math.max(bytesMax / EVALUATIONS_SHARE, LARGE_EVALUATION_BYTES),
      tenantBytesMax: Number.POSITIVE_INFINITY,
      tenantCountMax: 1,
      onChange,
    });
    this.writes = new WriteMemory(bytesMax, onChange);
  }

  get bytes(): number {
    return this.#pageBytes + this.#heldBytes;
  }

  get isNearlyFull(): boolean {
    return this.bytes > NEARLY_FULL * this.bytesMax;
  }

  /** Bytes that may be evicted. */
  get pageBytes(): number {
    return this.#pageBytes;
  }

  /** Counts bytes that cannot be evicted, and evicts pages for them. Negative: returns bytes. */
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

  /** Removes an item without evicting it. */
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
   * Removes many items without evicting them, a bounded number per step. Until it is removed, an item may still be
   * evicted.
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
      // The last item moves into this place; the hand examines it next.
      this.remove(item);
      this.#evictions += 1;
      item.evict();
    }
  }
}

// ---- preloads ----

/**
 * Loads in flight: so many of one page, or fewer of many at once. More would not end sooner: each costs the process and
 * the store the same time, which checks need as well.
 */
const PRELOADS_AT_ONCE = 8;
const PRELOADS_TOGETHER = 2;

/** Loads one page, or several together. Never rejects. */
export type Preload = () => Promise<void>;

/**
 * Background loading of pages for all slots of a process: a few at a time, round-robin over the lists of the slots;
 * first what is loaded together. The owner of a list ends it once it is obsolete. Pages are loaded the same way as for
 * a call, or before the slot is served. None is loaded while slots are opened that another shard hands over: their
 * requests wait for little else.
 */
export class Preloads {
  readonly #together: Iterator<Preload>[] = [];
  readonly #singly: Iterator<Preload>[] = [];
  /** Of `PRELOADS_AT_ONCE`. */
  #running = 0;
  #holds = 0;
  readonly #heldBack: (() => void)[] = [];

  /** Resolves once no opening holds loads back; for all that wait in the same turn. */
  async released(): Promise<void> {
    while (this.#holds > 0) await new Promise<void>((resolve) => this.#heldBack.push(resolve));
  }

  /** Each load is of many pages. Resolves when all of them are done. */
  together(list: Iterable<Preload>): Promise<void> {
    return this.#add(this.#together, list);
  }

  /** Each load is of one page. Resolves when all of them are done. */
  singly(list: Iterable<Preload>): Promise<void> {
    return this.#add(this.#singly, list);
  }

  #add(lists: Iterator<Preload>[], list: Iterable<Preload>): Promise<void> {
    return new Promise((resolve) => {
      lists.push(counted(list, resolve));
      this.#advance();
    });
  }

  /** Starts no load until `work` has ended. */
  async holdDuring<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#holds += 1;
    try {
      return await work();
    } finally {
      this.#holds -= 1;
      if (this.#holds === 0) for (const resume of this.#heldBack.splice(0)) resume();
      this.#advance();
    }
  }

  #advance(): void {
    while (this.#holds === 0) {
      const isTogether = this.#together.length > 0;
      const lists = isTogether ? this.#together : this.#singly;
      const share = isTogether ? PRELOADS_AT_ONCE / PRELOADS_TOGETHER : 1;
      if (this.#running + share > PRELOADS_AT_ONCE) return;
      const list = lists.shift();
      if (list === undefined) return;
      const { done, value } = list.next();
      if (done === true) continue;
      lists.push(list);
      this.#running += share;
      void value().finally(() => {
        this.#running -= share;
        this.#advance();
      });
    }
  }
}

/** The same loads. `onDone`: called once, when all of them are done. */
function* counted(list: Iterable<Preload>, onDone: () => void): Generator<Preload> {
  // Those in flight, and the list itself.
  let unfinished = 1;
  const finish = (): void => {
    unfinished -= 1;
    if (unfinished === 0) onDone();
  };
  for (const load of list) {
    unfinished += 1;
    yield () => load().finally(finish);
  }
  finish();
}
