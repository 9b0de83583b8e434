// A small table of a tenant (its namespaces, its API keys), bounded by its plan, read whole at its first use and kept
// current by every commit. The same overlay and delta rule as for pages holds: what was committed wins over what was
// read.

import { assert } from '../../core/assert.ts';
import { ShardFailure } from '../shard.ts';
import { Evictable, type MemoryBudget } from './memory-budget.ts';

const ROW_BYTES = 400;

const ended = (): ShardFailure => new ShardFailure('not-serving', 'The tenure has ended.');

interface Loading<Row> {
  /** The overlay at the start of the read and every commit since. */
  readonly delta: Map<string, Row | null>;
  readonly done: Promise<void>;
  /** Resolves, too, once it is known that the read takes long. */
  readonly doneOrLong: Promise<void>;
  pins: number;
}

/** One row that is being read by itself. */
interface Lookup<Row> {
  readonly id: string;
  /** As it was committed last, until state holds it or after the read began. `undefined`: nothing was. */
  committed: Row | null | undefined;
}

/** Tells by `onLong` that it takes long. */
export type ReadTable<Row> = (onLong: () => void) => Promise<ReadonlyMap<string, Row>>;

export class LazyTable<Row> extends Evictable {
  readonly #read: ReadTable<Row>;
  readonly #budget: MemoryBudget;
  #rows: Map<string, Row> | undefined;
  /** Committed and not yet confirmed in state. `null`: gone. */
  readonly #overlay = new Map<string, { readonly row: Row | null; readonly seq: number }>();
  #dropped = false;
  #loading: Loading<Row> | undefined;
  readonly #lookups = new Set<Lookup<Row>>();

  constructor(budget: MemoryBudget, read: ReadTable<Row>) {
    super();
    this.#budget = budget;
    this.#read = read;
  }

  /** The rows stay in memory, current, until the pin is disposed of. One read however many wait. */
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
   * Gives `take` one row, current at that moment; it must not wait for anything. The row comes from memory, where the
   * table is read at its first use. Only while that takes long the row is read by itself.
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

  /** The rows, where they are in memory. */
  get loaded(): ReadonlyMap<string, Row> | undefined {
    this.referenced = true;
    return this.#rows;
  }

  /** How many rows there are, where they are in memory. Asking is no use of them. */
  get size(): number | undefined {
    return this.#rows?.size;
  }

  /** The rows; only while a pin is held. */
  get rows(): ReadonlyMap<string, Row> {
    assert(this.#rows !== undefined, 'a pinned table is loaded');
    return this.#rows;
  }

  commit(id: string, row: Row | null, seq: number): void {
    // Behind the older ones: a confirmation looks no further than it reaches.
    this.#overlay.delete(id);
    this.#overlay.set(id, { row, seq });
    this.#loading?.delta.set(id, row);
    for (const lookup of this.#lookups) if (lookup.id === id) lookup.committed = row;
    if (this.#rows === undefined) return;
    if (row === null) this.#rows.delete(id);
    else this.#rows.set(id, row);
    this.#budget.resize(this, this.#rows.size * ROW_BYTES);
  }

  /** State now holds every commit up to `seq`. */
  confirm(seq: number): void {
    for (const [id, entry] of this.#overlay) {
      if (entry.seq > seq) return;
      this.#overlay.delete(id);
    }
  }

  override evict(): void {
    this.#rows = undefined;
  }

  /** The tenure has ended: nothing is kept, and nothing that is still being read lands. */
  drop(): void {
    this.#dropped = true;
    this.#budget.remove(this);
  }

  #startLoading(): Loading<Row> {
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
        this.#budget.add(this, rows.size * ROW_BYTES);
      },
      (error: unknown) => {
        this.#loading = undefined;
        throw error;
      },
    );
    const doneOrLong = Promise.race([done, long]);
    // Whoever waits for one of them hears of a failure; perhaps nobody does.
    done.catch(() => {});
    doneOrLong.catch(() => {});
    return { delta, done, doneOrLong, pins: 0 };
  }
}
