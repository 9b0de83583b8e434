// The memory of writes: what operations hold from the queue until no client can repeat them. It is part of the
// process's memory budget but cannot be read again, so it is never evicted; pages are evicted for it. Each kind has its
// own bound. Invariant: beyond the bound of the queue a write is refused, beyond the other two the next writes wait,
// and nothing held is forgotten early.
//
//   queue        operations that wait for an append, or are in one
//   backlog      entries that the state tables lack, with their overlay
//   operations   operation ids with their results, within the idempotency window, including those being read back

import { RebuildQueue } from './rebuild-queue.ts';

export const WRITE_KINDS = ['queue', 'backlog', 'operations'] as const;
export type WriteKind = (typeof WRITE_KINDS)[number];

/** Shares of the budget, in sixteenths. With 256 MiB: 32, 48 and 48 MiB; gates and pages share the other half. */
const SIXTEENTHS: { readonly [Kind in WriteKind]: number } = { queue: 2, backlog: 3, operations: 3 };
/** Minimum of each kind, however small the budget: what a few batches take. */
const BYTES_MIN = 4 * 1024 * 1024;
/** One slot may hold half of the operation ids, so that no tenant keeps other slots from writing. */
const SLOTS_PER_BOUND = 2;

/** All holders of one kind, over all slots of the process. */
class Kind {
  readonly bytesMax: number;
  readonly #onChange: (bytes: number) => void;
  #bytes = 0;
  #waiters: (() => void)[] = [];

  constructor(bytesMax: number, onChange: (bytes: number) => void) {
    this.bytesMax = bytesMax;
    this.#onChange = onChange;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get waiting(): number {
    return this.#waiters.length;
  }

  add(bytes: number): void {
    if (bytes === 0) return;
    this.#bytes += bytes;
    this.#onChange(bytes);
    if (bytes < 0) this.wake();
  }

  /** Wakes all waiting callers; each checks its condition again. */
  wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }

  /** Resolves when bytes were returned, or `wake` was called. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
    });
  }
}

/** What one tenure holds of one kind. */
export class HeldBytes {
  readonly #kind: Kind;
  readonly #ownMax: number;
  #bytes = 0;
  #closed = false;

  constructor(kind: Kind, ownMax: number) {
    this.#kind = kind;
    this.#ownMax = ownMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Negative: returns bytes. A commit is always counted, however much is already held. */
  add(bytes: number): void {
    if (this.#closed) return;
    this.#bytes += bytes;
    this.#kind.add(bytes);
  }

  /** Whether another write may begin. */
  get hasCapacity(): boolean {
    return this.#closed || (this.#bytes < this.#ownMax && this.processHasCapacity);
  }

  /** The same for all slots together. */
  get processHasCapacity(): boolean {
    return this.#closed || this.#kind.bytes < this.#kind.bytesMax;
  }

  /** Resolves when there is capacity, or the holder is closed; immediately if there is. */
  async waitForCapacity(): Promise<void> {
    while (!this.hasCapacity) await this.#kind.changed();
  }

  /** Resolves when bytes were returned, or `wake` was called. */
  changed(): Promise<void> {
    return this.#kind.changed();
  }

  /** Wakes all waiting callers; each checks its condition again. */
  wake(): void {
    this.#kind.wake();
  }

  /** Returns everything, for good. */
  close(): void {
    this.add(-this.#bytes);
    this.#closed = true;
    this.#kind.wake();
  }
}

export class WriteMemory {
  readonly rebuilds: RebuildQueue;
  readonly #kinds: { readonly [Each in WriteKind]: Kind };

  constructor(budgetBytes: number, onChange: (bytes: number) => void) {
    const kind = (name: WriteKind): Kind =>
      new Kind(Math.max((budgetBytes * SIXTEENTHS[name]) / 16, BYTES_MIN), onChange);
    this.#kinds = { queue: kind('queue'), backlog: kind('backlog'), operations: kind('operations') };
    this.rebuilds = new RebuildQueue(this.#kinds.operations.bytesMax);
  }

  /** The holder of one tenure. */
  hold(name: WriteKind): HeldBytes {
    const kind = this.#kinds[name];
    return new HeldBytes(kind, name === 'operations' ? kind.bytesMax / SLOTS_PER_BOUND : kind.bytesMax);
  }

  /** The bytes held, their bound, and how many slots wait for capacity. */
  state(name: WriteKind): Pick<Kind, 'bytes' | 'bytesMax' | 'waiting'> {
    return this.#kinds[name];
  }
}
