// A small table in memory: read once, kept current by commits, bounded by the budget.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { systemClock } from '../../../../src/roles/process/system.ts';
import { LazyTable } from '../../../../src/shard/memory/lazy-table.ts';
import { Evictable, MemoryBudget } from '../../../../src/shard/memory/memory-budget.ts';
import { settled, turns } from '../tools.ts';

class Ballast extends Evictable {
  override evict(): void {}
}

function createTable(bytesMax = 1_000_000) {
  const budget = new MemoryBudget(bytesMax, new FairTurns(systemClock));
  const reads: { long: () => void; answer: (rows: Record<string, string>) => void; fail: () => void }[] = [];
  const table = new LazyTable<string>(
    budget,
    (onLong) =>
      new Promise((resolve, reject) => {
        reads.push({
          long: onLong,
          answer: (rows) => resolve(new Map(Object.entries(rows))),
          fail: () => reject(new Error('the store is away')),
        });
      }),
  );
  return { budget, reads, table };
}

const rowsOf = (table: LazyTable<string>) => Object.fromEntries(table.rows);

test('its rows are counted by their own size, whether they were read, replaced or deleted', async () => {
  const budget = new MemoryBudget(1_000_000, new FairTurns(systemClock));
  const read = async () => new Map([['a', 'x'.repeat(100)]]);
  const table = new LazyTable<string>(budget, read, (row) => row.length);
  using _pin = await table.pin();
  assert.equal(budget.pageBytes, 100);
  table.commit('b', 'x'.repeat(50), 1);
  assert.equal(budget.pageBytes, 150);
  table.commit('a', 'x', 2);
  assert.equal(budget.pageBytes, 51);
  table.commit('b', null, 3);
  table.commit('c', null, 4);
  assert.equal(budget.pageBytes, 1);
  table.drop();
  assert.equal(budget.pageBytes, 0);
});

test('it is read once for any number of waiting calls, each of which pins it', async () => {
  const { table, reads } = createTable();
  const pins = [table.pin(), table.pin(), table.pin()];
  assert.equal(reads.length, 1);
  reads[0]?.answer({ a: '1' });
  await Promise.all(pins);
  assert.equal(table.pins, 3);
  const last = await table.pin();
  assert.equal(reads.length, 1);
  assert.equal(table.pins, 4);
  for (const pin of await Promise.all(pins)) pin[Symbol.dispose]();
  last[Symbol.dispose]();
  last[Symbol.dispose]();
  assert.equal(table.pins, 0, 'a pin disposed of twice counts once');
});

test('commits made while it is read, or before and not confirmed, override what was read', async () => {
  const { table, reads } = createTable();
  table.commit('before', 'new', 1);
  table.commit('tombstone', null, 2);
  const pin = table.pin();
  table.commit('during', 'new', 3);
  table.commit('again', null, 4);
  table.commit('again', 'new', 5);
  // Confirmed while the read is in flight: the read may still be older.
  table.confirm(3);
  reads[0]?.answer({ before: 'old', tombstone: 'old', during: 'old', again: 'old', other: 'kept' });
  await pin;
  assert.deepEqual(rowsOf(table), { before: 'new', during: 'new', again: 'new', other: 'kept' });
});

test('an older confirmation leaves a newer change in the overlay', async () => {
  const { table, reads } = createTable();
  table.commit('a', 'first', 1);
  table.commit('a', null, 2);
  table.confirm(1);
  const pin = table.pin();
  reads[0]?.answer({ a: 'first' });
  await pin;
  assert.deepEqual(rowsOf(table), {});
});

test('a failed read rejects all waiting calls, leaves no pin and is not kept', async () => {
  const { table, reads } = createTable();
  const pins = [table.pin(), table.pin()];
  reads[0]?.fail();
  for (const pin of pins) await assert.rejects(pin, /away/);
  assert.equal(table.pins, 0);
  const again = table.pin();
  reads[1]?.answer({ a: '1' });
  await again;
  assert.deepEqual(rowsOf(table), { a: '1' });
});

test('it stays in memory while pinned; afterwards it is evicted and read again', async () => {
  const { table, reads, budget } = createTable(1000);
  const pin = table.pin();
  reads[0]?.answer({ a: '1', b: '2' });
  const held = await pin;
  for (let index = 0; index < 3; index += 1) budget.add(new Ballast(), 900);
  assert.deepEqual(rowsOf(table), { a: '1', b: '2' });
  held[Symbol.dispose]();
  for (let index = 0; index < 3; index += 1) budget.add(new Ballast(), 900);
  assert.equal(table.loaded, undefined);
  table.commit('b', null, 7);
  const again = table.pin();
  reads[1]?.answer({ a: '1', b: '2' });
  await again;
  assert.deepEqual(rowsOf(table), { a: '1' });
});

test('once its tenure has ended, pending results are discarded and nothing is read', async () => {
  const { table, reads, budget } = createTable();
  const pin = table.pin();
  table.drop();
  reads[0]?.answer({ a: '1' });
  await assert.rejects(pin, { kind: 'not-serving' });
  await assert.rejects(table.pin(), { kind: 'not-serving' });
  assert.equal(await settled(turns(1)), true);
  assert.equal(budget.bytes, 0);
});

/** A read of one row, which the test lets end. */
function createRowReads() {
  const reads: ((row: string | undefined) => void)[] = [];
  return {
    reads,
    read: () => new Promise<string | undefined>((resolve) => reads.push(resolve)),
  };
}

const given = (row: string | undefined) => row;

test('one row comes from the table, and is read separately only if the read of the table takes long', async () => {
  const { table, reads } = createTable();
  const { reads: rowReads, read } = createRowReads();
  const early = table.withRow('a', read, given);
  await turns(2);
  assert.equal(rowReads.length, 0, 'the table may be there at once');
  reads[0]?.long();
  await turns(2);
  assert.equal(rowReads.length, 1);
  const later = table.withRow('b', read, given);
  const pin = table.pin();
  await turns(2);
  assert.equal(rowReads.length, 2);
  rowReads[0]?.('1');
  rowReads[1]?.(undefined);
  assert.equal(await early, '1');
  assert.equal(await later, undefined);
  reads[0]?.answer({ a: '1', b: '2' });
  await pin;
  assert.equal(await table.withRow('b', read, given), '2');
  assert.equal(rowReads.length, 2);
  assert.equal(reads.length, 1);
});

test('a commit before or during the read of one row wins over it, confirmed or not', async () => {
  const { table, reads } = createTable();
  const { reads: rowReads, read } = createRowReads();
  table.commit('made', 'new', 1);
  table.commit('tombstone', null, 2);
  const answers = ['made', 'tombstone', 'revoked', 'other'].map((id) => table.withRow(id, read, given));
  reads[0]?.long();
  await turns(2);
  table.commit('revoked', null, 3);
  table.confirm(3);
  for (const answer of rowReads) answer('old');
  assert.deepEqual(await Promise.all(answers), ['new', undefined, undefined, 'old']);
});

test('one row of a table that cannot be read, or of a tenure that has ended, is an error', async () => {
  const { table, reads } = createTable();
  const { reads: rowReads, read } = createRowReads();
  const failing = table.withRow('a', read, given);
  reads[0]?.fail();
  await assert.rejects(failing, /away/);
  const waiting = table.withRow('a', read, given);
  reads[1]?.long();
  await turns(2);
  table.drop();
  rowReads[0]?.('1');
  await assert.rejects(waiting, { kind: 'not-serving' });
  await assert.rejects(table.withRow('a', read, given), { kind: 'not-serving' });
  // The read of the table fails when no caller waits for it any more.
  reads[1]?.fail();
  await turns(2);
});
