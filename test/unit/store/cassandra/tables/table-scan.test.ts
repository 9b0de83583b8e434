// A table read as a range, or row by row while a node is silent.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RangeTrust, TableScan } from '../../../../../src/store/cassandra/tables/table-scan.ts';
import { createSession } from '../fake-driver.ts';

function createScan() {
  const fake = createSession();
  let silent = false;
  const trust = new RangeTrust();
  const scan = new TableScan(
    { executor: fake.executor, clock: fake.clock, trust, isNodeSilent: () => silent },
    { all: 'SELECT range', some: 'SELECT some' },
  );
  const list = (keys: readonly number[] | 'none' = [1, 2]) => {
    const listed = scan.list(() => (keys === 'none' ? undefined : keys), fake.soon());
    listed.catch(() => {});
    return listed;
  };
  return {
    ...fake,
    list,
    setSilent: (value: boolean) => {
      silent = value;
    },
  };
}

describe('the reading of a whole table', () => {
  it('is one range where all is well', async () => {
    const { list, calls, clock } = createScan();
    const listed = list();
    await clock.advance(0);
    assert.deepEqual(
      calls.map(({ query }) => query),
      ['SELECT range'],
    );
    calls[0]?.answer({ slot: 1 });
    assert.deepEqual(await listed, [{ slot: 1 }]);
  });

  it('goes by the known keys when the range takes longer than a second, and for a while after that', async () => {
    const { list, calls, clock } = createScan();
    const listed = list(Array.from({ length: 100 }, (_, index) => index));
    await clock.advance(1000);
    assert.deepEqual(
      calls.map(({ query }) => query),
      ['SELECT range', 'SELECT some', 'SELECT some'],
    );
    assert.deepEqual(
      calls.slice(1).map(({ params }) => (params[0] as unknown[]).length),
      [64, 36],
    );
    calls[1]?.answer({ slot: 1 });
    calls[2]?.answer({ slot: 70 });
    assert.deepEqual(await listed, [{ slot: 1 }, { slot: 70 }]);
    void list();
    await clock.advance(0);
    assert.equal(calls.at(-1)?.query, 'SELECT some');
    await clock.advance(5000);
    void list();
    await clock.advance(0);
    assert.equal(calls.at(-1)?.query, 'SELECT range');
  });

  it('goes by the known keys at once while a node is silent, if any are known', async () => {
    const { list, calls, clock, setSilent } = createScan();
    setSilent(true);
    void list();
    await clock.advance(0);
    assert.deepEqual(
      calls.map(({ query }) => query),
      ['SELECT some'],
    );
    const listed = list('none');
    await clock.advance(0);
    assert.equal(calls.at(-1)?.query, 'SELECT range');
    calls.at(-1)?.answer();
    assert.deepEqual(await listed, []);
  });
});
