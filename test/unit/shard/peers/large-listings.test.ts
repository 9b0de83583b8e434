// Listings of subjects with very many rows, and of tenants with very many subjects that hold nothing: what one page
// reads is bounded, it leads on to the rest, and nobody reads for whoever is gone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GrantWrite, StateWrite } from '../../../../src/store/store.ts';
import type { MemoryStore } from '../../../kit/store/memory-store.ts';
import { readAll } from '../../../kit/store/read-all.ts';
import { createGrantWrite } from '../../../kit/store/store-fixtures.ts';
import { createMemoryStore, OpenSlot, type SlotOptions, soon, tuple, WITHOUT_FILTER } from '../tools.ts';

/** Rows that one page may read. */
const ROWS_MAX = 10_000;

const numbered = (index: number, prefix = 'doc:'): string => `${prefix}${String(index).padStart(6, '0')}`;

/** A subject with `count` rows in the store, gone but for those that `isLive`. */
async function openLarge(count: number, isLive: (index: number) => boolean, options: SlotOptions = {}) {
  const memory = await createMemoryStore();
  // No page is read whole behind the calls: that would count as well.
  const slot = await OpenSlot.open(memory, { pageLimits: { rowsMax: 256, ...WITHOUT_FILTER }, ...options });
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  await slot.applied();
  const writes = Array.from(
    { length: count },
    (_, index): GrantWrite =>
      createGrantWrite(tenantId, {
        subject: 'user:a',
        object: numbered(index),
        tombstone: !isLive(index),
        stamp: 1000,
      }),
  );
  await memory.writeState([...writes, { kind: 'subject', tenantId, subject: 'user:a', stamp: 1000 }], soon());
  return { memory, slot, tenantId, handle };
}

/** Counts what is asked of the store from now on. */
function countReads(memory: MemoryStore) {
  const counted = { reads: 0, rows: 0 };
  const listGrants = memory.listGrants.bind(memory);
  memory.listGrants = (query, deadline) => {
    counted.reads += 1;
    counted.rows += query.limit;
    return listGrants(query, deadline);
  };
  return counted;
}

const query = (more: { limit?: number; cursor?: string | undefined; namespace?: string } = {}) => ({
  subject: 'user:a',
  relation: 'viewer' as const,
  namespace: more.namespace,
  limit: more.limit ?? 100,
  cursor: more.cursor,
});

/** The pages of a listing, and how many rows each has read at most. */
async function pagesOf<Item>(
  memory: MemoryStore,
  list: (cursor: string | undefined) => Promise<{ items: readonly Item[]; nextCursor: string | undefined }>,
): Promise<{ items: Item[]; lengths: number[]; mostRows: number }> {
  const counted = countReads(memory);
  const items: Item[] = [];
  const lengths: number[] = [];
  let mostRows = 0;
  let cursor: string | undefined;
  do {
    counted.rows = 0;
    const page = await list(cursor);
    items.push(...page.items);
    lengths.push(page.items.length);
    mostRows = Math.max(mostRows, counted.rows);
    cursor = page.nextCursor;
    assert.ok(lengths.length < 100, 'the listing comes to an end');
  } while (cursor !== undefined);
  return { items, lengths, mostRows };
}

test('a page of a listing reads a bounded number of rows, and may be empty although others follow', async () => {
  const count = 2 * ROWS_MAX + 3000;
  const live = new Set([5, 300, ROWS_MAX - 300, count - 2, count - 1]);
  const { memory, slot, handle } = await openLarge(count, (index) => live.has(index));
  const objects = await pagesOf(memory, (cursor) => slot.connection.listObjects(handle, query({ cursor })));
  assert.deepEqual(
    objects.items,
    [...live].map((index) => numbered(index)),
  );
  assert.deepEqual(objects.lengths, [3, 0, 2]);
  assert.ok(objects.mostRows <= ROWS_MAX + 256, `${objects.mostRows} rows`);
  const grants = await pagesOf(memory, (cursor) =>
    slot.connection.listGrants(handle, { of: { subject: 'user:a' }, relation: undefined, limit: 2, cursor }),
  );
  assert.deepEqual(
    grants.items.map(({ object }) => object),
    objects.items,
  );
  assert.ok(grants.mostRows <= ROWS_MAX + 256, `${grants.mostRows} rows`);
});

test('a listing of one namespace reads nothing behind it', async () => {
  const { memory, slot, tenantId, handle } = await openLarge(3000, () => false);
  await memory.writeState([createGrantWrite(tenantId, { subject: 'user:a', object: 'a:1', stamp: 1000 })], soon());
  await slot.check(handle, tuple('user:a', 'a:1'));
  const counted = countReads(memory);
  const page = await slot.connection.listObjects(handle, query({ namespace: 'a' }));
  assert.deepEqual(page, { items: ['a:1'], nextCursor: undefined });
  assert.equal(counted.reads, 1);
});

test('what is committed behind the place where a page had to stop comes with a later one, once', async () => {
  const count = ROWS_MAX + 2000;
  const { slot, handle } = await openLarge(count, () => false);
  await slot.check(handle, tuple('user:a', 'doc:x'));
  // Not in the store: both pages know them from memory alone.
  slot.faults.turn('fail-before', ['writeState']);
  for (const index of [7, ROWS_MAX + 1500]) await slot.grant(handle, tuple('user:a', `${numbered(index)}.new`));
  const first = await slot.connection.listObjects(handle, query());
  assert.deepEqual(first.items, [`${numbered(7)}.new`]);
  assert.ok(first.nextCursor !== undefined);
  const second = await slot.connection.listObjects(handle, query({ cursor: first.nextCursor }));
  assert.deepEqual(second, { items: [`${numbered(ROWS_MAX + 1500)}.new`], nextCursor: undefined });
});

test('a listing ends when the connection of whoever asked is closed', async () => {
  for (const list of ['listObjects', 'listGrants', 'exportGrants', 'snapshotGrants'] as const) {
    const { memory, slot, handle } = await openLarge(ROWS_MAX, () => false);
    // Not its first read, which makes the page.
    await slot.check(handle, tuple('user:a', 'doc:x'));
    const counted = countReads(memory);
    const listGrants = memory.listGrants.bind(memory);
    memory.listGrants = async (asked, deadline) => {
      const page = await listGrants(asked, deadline);
      if (counted.reads === 3) slot.connection.close();
      return page;
    };
    const listed =
      list === 'exportGrants'
        ? slot.operator.exportGrants(handle, query())
        : list === 'snapshotGrants'
          ? slot.connection.snapshotGrants(handle, { on: ['doc:viewer'], limit: 100, cursor: undefined })
          : list === 'listGrants'
            ? slot.connection.listGrants(handle, { ...query(), of: { subject: 'user:a' } })
            : slot.connection.listObjects(handle, query());
    await assert.rejects(listed, { kind: 'handle-unknown' });
    assert.equal(counted.reads, 3, list);
    slot.kill();
  }
});

test('a listing ends when its deadline has passed', async () => {
  const { memory, slot, handle } = await openLarge(ROWS_MAX, () => false, { deadlineMs: 0 });
  await slot.check(handle, tuple('user:a', 'doc:x'));
  const counted = countReads(memory);
  await assert.rejects(slot.connection.listObjects(handle, query()), { code: 'unavailable' });
  assert.equal(counted.reads, 0);
});

test('a page of an export is bounded in what it reads, within a subject and over subjects that hold nothing', async () => {
  const { memory, slot, tenantId, handle } = await openLarge(ROWS_MAX + 1000, (index) => index > ROWS_MAX);
  const empty = Array.from({ length: 5000 }, (_, index): StateWrite => {
    return { kind: 'subject', tenantId, subject: numbered(index, 'user:b'), stamp: 1000 };
  });
  await memory.writeState(empty, soon());
  await slot.grant(handle, tuple('user:c', 'doc:1'));
  const expected = Array.from({ length: 999 }, (_, index) => ['user:a', numbered(ROWS_MAX + 1 + index)]);
  for (const limit of [100, 1000]) {
    const counted = countReads(memory);
    let mostReads = 0;
    let pages = 0;
    const exported = await readAll(async (cursor) => {
      counted.reads = 0;
      pages += 1;
      const page = await slot.operator.exportGrants(handle, { limit, cursor });
      mostReads = Math.max(mostReads, counted.reads);
      return page;
    });
    assert.deepEqual(
      exported.map(({ subject, object }) => [subject, object]),
      [...expected, ['user:c', 'doc:1']],
    );
    assert.ok(mostReads <= 2200, `${mostReads} reads`);
    assert.ok(pages >= 4, `${pages} pages`);
  }
});

test('a page of a snapshot is bounded in what it reads, whatever its pairs leave out', async () => {
  const { memory, slot, tenantId, handle } = await openLarge(ROWS_MAX + 1000, () => true);
  const others = Array.from({ length: 1000 }, (_, index) => numbered(index, 'user:b')).flatMap(
    (subject, index): StateWrite[] => {
      // Every tenth has more than one read finds.
      const count = index % 10 === 0 ? 300 : 2;
      const rows = Array.from({ length: count }, (__, row) =>
        createGrantWrite(tenantId, { subject, object: numbered(row), stamp: 1000 }),
      );
      return [...rows, { kind: 'subject', tenantId, subject, stamp: 1000 }];
    },
  );
  await memory.writeState(others, soon());
  await slot.grant(handle, tuple('user:c', 'folder:1'));
  const counted = countReads(memory);
  const [mostReads, lengths]: [number[], number[]] = [[], []];
  const found = await readAll(async (cursor) => {
    counted.reads = 0;
    const page = await slot.connection.snapshotGrants(handle, { on: ['folder:viewer'], limit: 1000, cursor });
    mostReads.push(counted.reads);
    lengths.push(page.items.length);
    return page;
  });
  assert.deepEqual(
    found.map(({ subject, object }) => [subject, object]),
    [['user:c', 'folder:1']],
  );
  assert.ok(Math.max(...mostReads) <= 600, `${mostReads} reads`);
  assert.ok(lengths.length > 2 && lengths[0] === 0, 'pages without a grant lead on');
});
