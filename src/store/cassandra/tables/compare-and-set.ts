// Tables that only lightweight transactions change. A conditional write for conditions beyond "these columns are as
// expected" also returns the exact stored row: its condition is the whole row as last seen. If the row has changed, the
// database returns the current one, and the condition is evaluated again. The last seen row is cached to save a read,
// but never trusted by itself.

import { assert } from '../../../core/assert.ts';
import { GrantdError } from '../../../core/errors.ts';
import type { ConditionalOutcome, DeadlineMs } from '../../store.ts';
import { isNullAt, type StoredRow } from '../../stored-rows.ts';
import type { Executor, Value } from '../driver/executor.ts';

/** A row changes a few times a second at most; more rounds than this mean that several writers are competing for it. */
const ROUNDS_MAX = 8;
/** Cached rows: every possible slot, and members. */
const REMEMBERED_MAX = 8192;

export interface ConditionalRows<Key, Row> {
  /** A serial read. */
  readonly read: (key: Key) => Promise<Row | undefined>;
  /**
   * Writes `after` if the row equals `before` in every column. Resolves to undefined if it did, otherwise to the stored
   * row (`none`: there is none).
   */
  readonly replace: (before: Row, after: Row) => Promise<Row | 'none' | undefined>;
}

export class RememberedRows<Key, Row> {
  readonly #rows = new Map<Key, Row>();

  get(key: Key): Row | undefined {
    return this.#rows.get(key);
  }

  keys(): Iterable<Key> {
    return this.#rows.keys();
  }

  set(key: Key, row: Row | undefined): void {
    this.#rows.delete(key);
    if (row === undefined) return;
    this.#rows.set(key, row);
    for (const oldest of this.#rows.keys()) {
      if (this.#rows.size <= REMEMBERED_MAX) break;
      this.#rows.delete(oldest);
    }
  }
}

/**
 * `change` returns the new row for `row`, or undefined if the condition of the call does not hold. A `hint` of the row
 * saves a read if the cached row does not help; the write detects a wrong hint.
 */
export async function compareAndSet<Key, Row>(
  rows: ConditionalRows<Key, Row>,
  remembered: RememberedRows<Key, Row>,
  key: Key,
  change: (row: Row) => Row | undefined,
  hint?: Row,
): Promise<ConditionalOutcome<Row>> {
  let before = remembered.get(key);
  // The cached row may be outdated, whatever the result of this call; the end of the call caches the row again.
  remembered.set(key, undefined);
  const helps = (row: Row | undefined): row is Row => row !== undefined && change(row) !== undefined;
  if (!helps(before)) before = helps(hint) ? hint : await rows.read(key);
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    const after = before === undefined ? undefined : change(before);
    if (before === undefined || after === undefined) {
      remembered.set(key, before);
      return { applied: false, row: before };
    }
    const standing = await rows.replace(before, after);
    if (standing === undefined) {
      remembered.set(key, after);
      return { applied: true, row: after };
    }
    before = standing === 'none' ? undefined : standing;
  }
  throw new GrantdError('unavailable', 'The row changes faster than it can be written.');
}

type Cells = Readonly<Record<string, Value>>;

/** A table whose rows are read and written as records. */
export interface ConditionalShape<Stored> {
  readonly table: string;
  readonly key: string;
  readonly columns: string;
  readonly recordOf: (row: StoredRow) => Stored;
  /** The cells of a record, by column. */
  readonly cellsOf: (record: Stored) => Cells;
  /** The columns that a change writes, and those that it tests: all that ever change on their own. */
  readonly written: readonly string[];
  readonly tested: readonly string[];
}

export class ConditionalTable<Key extends string | number, Stored> {
  readonly remembered = new RememberedRows<Key, Stored>();
  readonly #executor: Executor;
  readonly #shape: ConditionalShape<Stored>;
  readonly #select: string;
  readonly #insert: string;
  readonly #update: string;

  constructor(executor: Executor, shape: ConditionalShape<Stored>) {
    const { table, key, columns, written, tested } = shape;
    const each = (names: readonly string[], glue: string): string => names.map((name) => `${name} = ?`).join(glue);
    this.#executor = executor;
    this.#shape = shape;
    this.#select = `SELECT ${columns} FROM ${table} WHERE ${key} = ?`;
    this.#insert = `INSERT INTO ${table} (${columns}) VALUES (${columns.replaceAll(/\w+/g, '?')}) IF NOT EXISTS`;
    this.#update = `UPDATE ${table} SET ${each(written, ', ')} WHERE ${key} = ? IF ${each(tested, ' AND ')}`;
  }

  async read(key: Key, deadline: DeadlineMs): Promise<Stored | undefined> {
    const { rows } = await this.#executor.readSerial(this.#select, [key], deadline);
    const record = rows.map((row) => this.#shape.recordOf(row))[0];
    this.remembered.set(key, record);
    return record;
  }

  async insert(key: Key, record: Stored, deadline: DeadlineMs): Promise<ConditionalOutcome<Stored>> {
    this.remembered.set(key, undefined);
    const { columns, cellsOf } = this.#shape;
    const params = pick(cellsOf(record), columns.split(', '));
    const { applied, row } = await this.#executor.conditional(this.#insert, params, deadline);
    const standing = applied ? record : this.#shape.recordOf(row);
    this.remembered.set(key, standing);
    return { applied, row: standing };
  }

  /** `next` returns the new record, or undefined if the condition of the call does not hold. */
  change(
    key: Key,
    deadline: DeadlineMs,
    next: (record: Stored) => Stored | undefined,
    hint?: Stored,
  ): Promise<ConditionalOutcome<Stored>> {
    const rows: ConditionalRows<Key, Stored> = {
      read: () => this.read(key, deadline),
      replace: (before, after) => this.#replace(key, before, after, deadline),
    };
    return compareAndSet(rows, this.remembered, key, next, hint);
  }

  async #replace(key: Key, before: Stored, after: Stored, deadline: DeadlineMs): Promise<Stored | 'none' | undefined> {
    const { columns, cellsOf, recordOf, written, tested } = this.#shape;
    const params = [...pick(cellsOf(after), written), key, ...pick(cellsOf(before), tested)];
    const { applied, row } = await this.#executor.conditional(this.#update, params, deadline);
    if (applied) return undefined;
    // The result has only the columns of the condition.
    if (columns.split(', ').length > tested.length + 1) return (await this.read(key, deadline)) ?? 'none';
    return isNullAt(row, tested[0] ?? '') ? 'none' : recordOf({ ...row, [this.#shape.key]: key });
  }
}

function pick(cells: Cells, columns: readonly string[]): Value[] {
  return columns.map((column) => {
    const value = cells[column];
    assert(value !== undefined, `a record has the column ${column}`);
    return value;
  });
}
