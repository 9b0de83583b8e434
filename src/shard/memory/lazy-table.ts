// A small table of a tenant (its namespaces, its API keys, its rules), bounded by the plan or in bytes. It is read
// completely at its first use and kept current by every commit. As for pages, overlay and delta apply: a commit wins
// over what was read.

import { assert } from '../../core/assert.ts';
import { ShardFailure } from '../shard.ts';
import { Evictable, type MemoryBudget } from './memory-budget.ts';

const ROW_BYTES = 400;
const rowBytes = (): number => ROW_BYTES;

const ended = (): ShardFailure => new ShardFailure('not-serving', 'The tenure has ended.');

interface TableLoad<Row> {
  /** The overlay at the start of the read, and every commit since. */
  readonly delta: Map<string, Row | null>;
  readonly done: Promise<void>;
  /** Also resolves once the read turns out to take long. */
  readonly doneOrLong: Promise<void>;
  pins: number;
}

/** A single row that is being read. */
interface Lookup<Row> {
  readonly id: string;
  /** The last commit that state may lack, or that came after the read began. `undefined`: there was none. */
  committed: Row | null | undefined;
}

/** Calls `onLong` if the read takes long. */
export type ReadTable<Row> = (onLong: () => void) => Promise<ReadonlyMap<string, Row>>;

export class LazyTable<Row> extends Evictable {
  readonly #read: ReadTable<Row>;
  readonly #budget: MemoryBudget;
  readonly #bytesOf: (row: Row) => number;
  #rows: Map<string, Row> | undefined;
  /** Committed and not yet confirmed in state. `null`: deleted. */
  readonly #overlay = new Map<string, { readonly row: Row | null; readonly seq: number }>();
  #dropped = false;
  #loading: TableLoad<Row> | undefined;
  readonly #lookups = new Set<Lookup<Row>>();

  constructor(budget: MemoryBudget, read: ReadTable<Row>, bytesOf: (row: Row) => number = rowBytes) {
    super();
    this.#bytesOf = bytesOf;
    this.#budget = budget;
    this.#read = read;
  }

  /** Keeps the rows in memory and current until the pin is disposed of. All waiting callers share one read. */
  async pin(): Promise<Disposable> {
    this.referenced = true;
    if (this.#dropped) throw ended();
    if (this.#rows !== undefined) {
      this.pins += 1;
    } else {
      this.#loading ??= this.#startLoading();
      this.#loading.pins += 1;
      await this.#loading.done;
    }
    const pin = new DisposableStack();
    pin.defer(() => {
      this.pins -= 1;
    });
    return pin;
  }

  /**
   * Calls `take` with one row, current at that moment; `take` must be synchronous. The row comes from the table, which
   * is loaded at its first use. Only if loading takes long, the row is read on its own.
   */
  async withRow<Result>(
    id: string,
    readRow: () => Promise<Row | undefined>,
    take: (row: Row | undefined) => Result,
  ): Promise<Result> {
    this.referenced = true;
    if (this.#dropped) throw ended();
    if (this.#rows === undefined) {
      this.#loading ??= this.#startLoading();
      await this.#loading.doneOrLong;
    }
    if (this.#rows !== undefined) return take(this.#rows.get(id));
    const lookup: Lookup<Row> = { id, committed: this.#overlay.get(id)?.row };
    this.#lookups.add(lookup);
    try {
      const row = await readRow();
      if (this.#dropped) throw ended();
      return take(lookup.committed === undefined ? row : (lookup.committed ?? undefined));
    } finally {
      this.#lookups.delete(lookup);
    }
  }

  /** The rows, if they are in memory. */
  get loaded(): ReadonlyMap<string, Row> | undefined {
    this.referenced = true;
    return this.#rows;
  }

  /** The number of rows, if they are in memory. Does not count as a use. */
  get size(): number | undefined {
    return this.#rows?.size;
  }

  /** The rows; only valid while a pin is held. */
  get rows(): ReadonlyMap<string, Row> {
    assert(this.#rows !== undefined, 'a pinned table is loaded');
    return this.#rows;
  }

  commit(id: string, row: Row | null, seq: number): void {
    // Moves the entry to the end, so that `confirm` can stop at the first newer one.
    this.#overlay.delete(id);
    this.#overlay.set(id, { row, seq });
    this.#loading?.delta.set(id, row);
    for (const lookup of this.#lookups) if (lookup.id === id) lookup.committed = row;
    if (this.#rows === undefined) return;
    const before = this.#rows.get(id);
    if (row === null) this.#rows.delete(id);
    else this.#rows.set(id, row);
    const grown = (row === null ? 0 : this.#bytesOf(row)) - (before === undefined ? 0 : this.#bytesOf(before));
    this.#budget.resize(this, this.bytes + grown);
  }

  /** State now contains every commit up to `seq`. */
  confirm(seq: number): void {
    for (const [id, entry] of this.#overlay) {
      if (entry.seq > seq) return;
      this.#overlay.delete(id);
    }
  }

  override evict(): void {
    this.#rows = undefined;
  }

  /** The tenure has ended: the table keeps no rows, and results of pending reads are discarded. */
  drop(): void {
    this.#dropped = true;
    this.#budget.remove(this);
  }

  #startLoading(): TableLoad<Row> {
    const delta = new Map<string, Row | null>();
    for (const [id, { row }] of this.#overlay) delta.set(id, row);
    const { promise: long, resolve: onLong } = Promise.withResolvers<void>();
    const done = this.#read(onLong).then(
      (read) => {
        const rows = new Map(read);
        for (const [id, row] of delta) {
          if (row === null) rows.delete(id);
          else rows.set(id, row);
        }
        this.pins += this.#loading?.pins ?? 0;
        this.#loading = undefined;
        if (this.#dropped) throw ended();
        this.#rows = rows;
        let bytes = 0;
        for (const row of rows.values()) bytes += this.#bytesOf(row);
        this.#budget.add(this, bytes);
      },
      (error: unknown) => {
        this.#loading = undefined;
        throw error;
      },
    );
    const doneOrLong = Promise.race([done, long]);
    // Callers that await these see a failure; if there are none, it must not count as unhandled.
    done.catch(() => {});
    doneOrLong.catch(() => {});
    return { delta, done, doneOrLong, pins: 0 };
  }
}
