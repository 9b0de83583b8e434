// The row that stands after a conditional write, exactly, over a table in which rows change under one's hands.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GrantdError } from '../../../../../src/core/errors.ts';
import { compareAndSet, RememberedRows } from '../../../../../src/store/cassandra/tables/compare-and-set.ts';

interface Row {
  readonly owner: string;
  readonly epoch: number;
}

function createTable(row: Row | undefined) {
  let standing = row;
  let reads = 0;
  const remembered = new RememberedRows<string, Row>();
  const before: (() => void)[] = [];
  return {
    set: (next: Row | undefined) => {
      standing = next;
    },
    reads: () => reads,
    remembered,
    /** Happens right before the next conditional write. */
    meanwhile: (run: () => void) => before.push(run),
    claim: (owner: string, epoch: number, next: string, hint?: Row) =>
      compareAndSet(
        {
          read: async () => {
            reads += 1;
            return standing;
          },
          replace: async (expected, after) => {
            before.shift()?.();
            if (standing === undefined) return 'none' as const;
            if (standing.owner !== expected.owner || standing.epoch !== expected.epoch) return standing;
            standing = after;
            return undefined;
          },
        },
        remembered,
        'key',
        (found) => (found.owner === owner && found.epoch === epoch ? { owner: next, epoch: epoch + 1 } : undefined),
        hint,
      ),
  };
}

describe('a conditional write that answers with the whole row', () => {
  it('answers with the row that it has written, and reads nothing that it remembers', async () => {
    const table = createTable({ owner: 'a', epoch: 1 });
    assert.deepEqual(await table.claim('a', 1, 'b'), { applied: true, row: { owner: 'b', epoch: 2 } });
    assert.deepEqual(await table.claim('b', 2, 'c'), { applied: true, row: { owner: 'c', epoch: 3 } });
    assert.equal(table.reads(), 1);
  });

  it('never answers from memory that a condition does not hold', async () => {
    const table = createTable({ owner: 'a', epoch: 1 });
    table.remembered.set('key', { owner: 'z', epoch: 9 });
    assert.deepEqual(await table.claim('a', 1, 'b'), { applied: true, row: { owner: 'b', epoch: 2 } });
  });

  it('reads nothing where a hint shows the row as it is, and does not believe one that is wrong', async () => {
    const table = createTable({ owner: '', epoch: 2 });
    // What it remembers is older, as with a slot that another owner had meanwhile.
    table.remembered.set('key', { owner: 'a', epoch: 1 });
    const applied = await table.claim('', 2, 'b', { owner: '', epoch: 2 });
    assert.deepEqual(applied, { applied: true, row: { owner: 'b', epoch: 3 } });
    table.set({ owner: 'c', epoch: 4 });
    const refused = await table.claim('', 3, 'a', { owner: '', epoch: 3 });
    assert.deepEqual(refused, { applied: false, row: { owner: 'c', epoch: 4 } });
    assert.equal(table.reads(), 0);
  });

  it('never answers from a hint that a condition does not hold', async () => {
    const table = createTable({ owner: 'a', epoch: 1 });
    assert.deepEqual((await table.claim('a', 1, 'b', { owner: 'z', epoch: 9 })).applied, true);
    assert.equal(table.reads(), 1);
  });

  it('looks again where the row is not the one remembered', async () => {
    const table = createTable({ owner: 'c', epoch: 3 });
    table.remembered.set('key', { owner: 'a', epoch: 1 });
    assert.deepEqual(await table.claim('a', 1, 'b'), { applied: false, row: { owner: 'c', epoch: 3 } });
    table.remembered.set('key', { owner: 'a', epoch: 1 });
    table.set(undefined);
    assert.deepEqual(await table.claim('a', 1, 'b'), { applied: false, row: undefined });
  });

  it('answers with the row that was there when it was not applied', async () => {
    const table = createTable({ owner: 'a', epoch: 1 });
    table.meanwhile(() => table.set({ owner: 'x', epoch: 2 }));
    assert.deepEqual(await table.claim('a', 1, 'b'), { applied: false, row: { owner: 'x', epoch: 2 } });
    assert.deepEqual(await table.claim('x', 2, 'b'), { applied: true, row: { owner: 'b', epoch: 3 } });
  });

  it('believes nothing that it remembered once an outcome is not known', async () => {
    const table = createTable({ owner: 'a', epoch: 1 });
    table.meanwhile(() => {
      table.set({ owner: 'b', epoch: 2 });
      throw new GrantdError('unavailable', 'timeout');
    });
    await assert.rejects(table.claim('a', 1, 'b'));
    assert.equal(table.remembered.get('key'), undefined);
    assert.deepEqual(await table.claim('a', 1, 'b'), { applied: false, row: { owner: 'b', epoch: 2 } });
  });
});
