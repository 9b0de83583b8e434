// A conditional write to a row of which more is asked than "these columns are as expected": the answer is the whole row
// that stands after it, exactly as it stood then. So the condition is the whole row as last seen. Where that was
// another row than stands, the database answers with the one that stands, and it is looked at again. What was last seen
// is remembered, to save reading it; it is never believed on its own.

import { GrantdError } from '../../../core/errors.ts';
import type { ConditionalOutcome } from '../../store.ts';

/** A row changes a few times a second at most: more rounds than this, and others are in a fight over it. */
const ROUNDS_MAX = 8;
/** Rows remembered: every slot there may be, and members. */
const REMEMBERED_MAX = 8192;

export interface ConditionalRows<Key, Row> {
  /** Serial. */
  readonly read: (key: Key) => Promise<Row | undefined>;
  /**
   * Writes `after` if the row is `before` in every column. Resolves to undefined if it did, else to the row that stands
   * (`none`: there is none).
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
 * `change` gives the row that is to stand in place of `row`, or undefined where the condition of the call does not
 * hold. A `hint` of the row saves reading it where what is remembered does not do: if it is wrong, the write finds out.
 */
export async function compareAndSet<Key, Row>(
  rows: ConditionalRows<Key, Row>,
  remembered: RememberedRows<Key, Row>,
  key: Key,
  change: (row: Row) => Row | undefined,
  hint?: Row,
): Promise<ConditionalOutcome<Row>> {
  let before = remembered.get(key);
  // Whatever becomes of this call, what was remembered may be gone; its end remembers again.
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
