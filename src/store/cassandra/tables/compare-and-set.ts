// A conditional write for conditions beyond "these columns are as expected"; it also returns the exact stored row. The
// condition is the whole row as last seen. If the row has changed, the database returns the current one, and the code
// looks at it again. The last seen row is cached to save a read, but never trusted by itself.

import { GrantdError } from '../../../core/errors.ts';
import type { ConditionalOutcome } from '../../store.ts';

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
 * saves a read if the cached row does not help; if the hint is wrong, the write finds out.
 */
export async function compareAndSet<Key, Row>(
  rows: ConditionalRows<Key, Row>,
  remembered: RememberedRows<Key, Row>,
  key: Key,
  change: (row: Row) => Row | undefined,
  hint?: Row,
): Promise<ConditionalOutcome<Row>> {
  let before = remembered.get(key);
  // Whatever the result of this call, the cached row may be outdated; the end of the call caches the row again.
  remembered.set(key, undefined);
  const isOfUse = (row: Row | undefined): row is Row => row !== undefined && change(row) !== undefined;
  if (!isOfUse(before)) before = isOfUse(hint) ? hint : await rows.read(key);
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
