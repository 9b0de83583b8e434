// The memory of writes: what operations take from their queue until nobody can repeat them. It is part of the memory
// budget of the process and cannot be read again, so it is never evicted; pages are evicted for it, and each kind has a
// bound of its own. It keeps: beyond the bound of the queue a write is refused, beyond the other two the next writes
// wait, and nothing that is held is forgotten before its time.
//
//   queue        operations that wait for an append, or are in one
//   backlog      entries that the state tables do not hold yet, with their overlay
//   operations   operation ids with their results, within the idempotency window, those being read back included

import { RebuildQueue } from './rebuild-queue.ts';

export const WRITE_KINDS = ['queue', 'backlog', 'operations'] as const;
export type WriteKind = (typeof WRITE_KINDS)[number];

/** Of the budget, in sixteenths. With 256 MiB: 32, 48 and 48 MiB; gates and pages share the other half. */
const SIXTEENTHS: { readonly [Kind in WriteKind]: number } = { queue: 2, backlog: 3, operations: 3 };
/** Of each kind, however small the budget: what a few batches take. */
const BYTES_MIN = 4 * 1024 * 1024;
/** Of operation ids one slot has half, so that no tenant keeps those of other slots from writing. */
const SLOTS_PER_BOUND = 2;

/** Holders of one kind, all slots of the process together. */
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

  /** Whoever waits looks again. */
  wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }

  /** Resolves when something was given back, or somebody was woken. */
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

  /** Less than zero gives back. What was committed is counted however much is held already. */
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

  /** Resolves when there is capacity, or nothing is held any more; at once where there is. */
  async waitForCapacity(): Promise<void> {
    while (!this.hasCapacity) await this.#kind.changed();
  }

  /** Resolves when something was given back, or with `wake`. */
  changed(): Promise<void> {
    return this.#kind.changed();
  }

  /** Whoever waits looks again. */
  wake(): void {
    this.#kind.wake();
  }

  /** Gives everything back, for good. */
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

  /** For one tenure. */
  hold(name: WriteKind): HeldBytes {
    const kind = this.#kinds[name];
    return new HeldBytes(kind, name === 'operations' ? kind.bytesMax / SLOTS_PER_BOUND : kind.bytesMax);
  }

  /** What is held, its bound, and how many slots wait for capacity. */
  state(name: WriteKind): Pick<Kind, 'bytes' | 'bytesMax' | 'waiting'> {
    return this.#kinds[name];
  }
}
