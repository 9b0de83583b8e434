// Subjects with very many grants, and with very many revoked ones, on a real node: what is asked of them costs what it
// answers, not what the subject has.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import cassandra from 'cassandra-driver';
import { delay } from '../../../src/core/async/clock.ts';
import type { TenantId } from '../../../src/core/ids.ts';
import { systemClock } from '../../../src/roles/process/system.ts';
import type { GrantWrite, RemovableRow, Store } from '../../../src/store/store.ts';
import { type CassandraCluster, missingCassandra, startCassandra } from '../../../tools/engines/cassandra.ts';
import { migrate, openStore } from '../../kit/store/cassandra-keyspace.ts';
import { createGrantWrite, createKeyRecord, newTenantId, readAllGrants, soon } from '../../kit/store/store-fixtures.ts';

const missing = await missingCassandra('large subjects on Cassandra');
const TRACE_MS_MAX = 60_000;
const TRACE_POLL_MS = 200;
const SUBJECT = 'user:ann';
const ROWS_PER_CALL = 4000;
/** More tombstones than Cassandra reads past (`tombstone_failure_threshold`). */
const GONE = 110_000;
const LIVE = 10_000;
const PAGE = 1000;
const STAMP = 1_780_000_000_000_000;

const objectOf = (index: number): string => `doc:${String(index).padStart(7, '0')}`;

function shuffled<Item>(items: readonly Item[]): Item[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = randomInt(last + 1);
    const [left, right] = [result[last], result[other]];
    if (left !== undefined && right !== undefined) [result[last], result[other]] = [right, left];
  }
  return result;
}

describe('large subjects on Cassandra', { skip: missing ?? false }, () => {
  let cluster: CassandraCluster;
  let store: Store;
  let driver: cassandra.Client;
  before(async () => {
    cluster = await startCassandra({ nodes: 1 });
    await migrate(cluster);
    store = await openStore(cluster);
    driver = new cassandra.Client({
      contactPoints: [...cluster.contactPoints],
      localDataCenter: cluster.localDatacenter,
      keyspace: 'grantd',
    });
  });
  after(async () => {
    await driver.shutdown();
    await store.close();
    await cluster.stop();
  });

  async function write(count: number, toWrite: (index: number) => GrantWrite): Promise<GrantWrite[]> {
    const all: GrantWrite[] = [];
    for (let start = 0; start < count; start += ROWS_PER_CALL) {
      const writes = Array.from({ length: Math.min(ROWS_PER_CALL, count - start) }, (_, index) =>
        toWrite(start + index),
      );
      await store.writeState(writes, systemClock.monotonicMs() + 60_000);
      all.push(...writes);
    }
    return all;
  }

  async function tombstoneCounts(traceId: cassandra.types.Uuid): Promise<readonly number[]> {
    try {
      const { events } = await driver.metadata.getTrace(traceId, cassandra.types.consistencies.one);
      return events.flatMap(({ activity }) => /and (\d+) tombstone/.exec(activity)?.[1] ?? []).map(Number);
    } catch {
      return [];
    }
  }

  /** What a node comes across while it reads the subject's rows, at most `limit` live ones. */
  function tombstonesRead(tenantId: TenantId, limit: number): Promise<number> {
    const query = 'SELECT object FROM grants WHERE tenant = ? AND subject = ? LIMIT ?';
    return tombstonesOf(query, [tenantId, SUBJECT, limit]);
  }

  async function tombstonesOf(query: string, params: readonly (string | number)[]): Promise<number> {
    const result = await driver.execute(query, [...params], { prepare: true, traceQuery: true });
    // A node writes the trace when it gets to it, which a busy one does late.
    const endMs = systemClock.monotonicMs() + TRACE_MS_MAX;
    while (systemClock.monotonicMs() < endMs) {
      const counts = await tombstoneCounts(result.info.traceId);
      if (counts.length > 0) return Math.max(...counts);
      await delay(systemClock, TRACE_POLL_MS);
    }
    throw new Error('The trace was never written.');
  }

  it('checks and lists a subject with more revoked grants than Cassandra would read past as tombstones', async (test) => {
    const tenantId = newTenantId();
    const every = (GONE + LIVE) / LIVE;
    const startMs = systemClock.monotonicMs();
    await write(GONE + LIVE, (index) =>
      createGrantWrite(tenantId, { object: objectOf(index), tombstone: index % every !== 0, stamp: STAMP + index }),
    );
    const filledMs = systemClock.monotonicMs();
    test.diagnostic(`${GONE + LIVE} rows written in ${Math.round(filledMs - startMs)} ms`);
    for (const index of [0, 1, GONE, GONE + LIVE - 1]) {
      const grant = await store.readGrant(tenantId, SUBJECT, 'viewer', objectOf(index), soon());
      assert.equal(grant !== undefined, index % every === 0);
    }
    const first = await store.listGrants({ tenantId, subject: SUBJECT, limit: PAGE }, soon());
    assert.equal(first.grants.length, Math.ceil(PAGE / every));
    assert.equal(first.next?.object, objectOf(PAGE - 1));
    const all = await readAllGrants(store, { tenantId, subject: SUBJECT, limit: 10_000 });
    assert.equal(all.grants.length, LIVE);
    assert.equal(all.pages, (GONE + LIVE) / 10_000 + 1);
    test.diagnostic(`listed in ${all.pages} pages, ${Math.round(systemClock.monotonicMs() - filledMs)} ms`);
  });

  it('removes revoked grants bit by bit, in any order, and leaves hardly a tombstone to read past', async (test) => {
    const tenantId = newTenantId();
    const count = 3000;
    // Revoked in any order, and removed in that order, which is the log's: the later, the greater the stamp.
    const objects = shuffled(Array.from({ length: count }, (_, index) => index));
    const writes = await write(count, (position) => {
      const index = objects[position] ?? 0;
      return createGrantWrite(tenantId, {
        object: objectOf(index),
        tombstone: index % 1000 !== 500,
        stamp: STAMP + position,
      });
    });
    const order = writes.filter(({ tombstone }) => tombstone);
    for (let start = 0; start < order.length; start += 250) {
      await store.removeTombstones(order.slice(start, start + 250), systemClock.monotonicMs() + 60_000);
    }
    const { grants } = await readAllGrants(store, { tenantId, subject: SUBJECT, limit: 1000 });
    assert.deepEqual(
      grants,
      [500, 1500, 2500].map((index) => `viewer ${objectOf(index)}`),
    );
    const { rowLength } = await driver.execute('SELECT object FROM grants WHERE tenant = ? AND subject = ?', [
      tenantId,
      SUBJECT,
    ]);
    assert.equal(rowLength, 3);
    // Of each of four stretches a few boundaries, however many removals there were.
    const tombstones = await tombstonesRead(tenantId, 10);
    test.diagnostic(`${tombstones} tombstones for ${order.length} removals`);
    assert.ok(tombstones < 100, `${tombstones} tombstones`);
    // Whatever comes later stands again.
    await store.writeState([createGrantWrite(tenantId, { object: objectOf(1), stamp: STAMP + 2 * count })], soon());
    assert.ok((await store.readGrant(tenantId, SUBJECT, 'viewer', objectOf(1), soon())) !== undefined);
  });

  for (const [what, stampOf, order] of [
    // As they were revoked, in any order: the later, the greater the stamp.
    ['as the log is trimmed', (position: number) => STAMP + position, shuffled],
    // As they lie, all at one stamp.
    ['in one walk', () => STAMP, <Item>(items: readonly Item[]) => items],
  ] as const) {
    it(`removes revoked keys ${what}, and a listing of the others hardly comes across a tombstone`, async (test) => {
      const tenantId = newTenantId();
      const keys = Array.from({ length: 3000 }, () => createKeyRecord()).sort((left, right) =>
        left.keyId < right.keyId ? -1 : 1,
      );
      const live = [keys[500], keys[1500], keys[2500]];
      const writes = order(keys).map(
        (key, position) =>
          ({ kind: 'key', tenantId, key, tombstone: !live.includes(key), stamp: stampOf(position) }) as const,
      );
      await store.writeState(writes, systemClock.monotonicMs() + 60_000);
      const targets = writes
        .filter(({ tombstone }) => tombstone)
        .map(({ key: { keyId }, stamp }): RemovableRow => ({ kind: 'key', tenantId, keyId, stamp }));
      for (let start = 0; start < targets.length; start += 250) {
        await store.removeTombstones(targets.slice(start, start + 250), systemClock.monotonicMs() + 60_000);
      }
      const page = await store.listKeys({ tenantId, limit: 1000 }, soon());
      assert.deepEqual(page, { keys: live, revoked: [], next: undefined });
      const tombstones = await tombstonesOf('SELECT key_id FROM keys WHERE tenant = ?', [tenantId]);
      test.diagnostic(`${tombstones} tombstones for ${targets.length} removals`);
      assert.ok(tombstones < 100, `${tombstones} tombstones`);
    });
  }

  it('removes what was asked for and no more: rows that live, that are newer, and those between', async () => {
    const tenantId = newTenantId();
    const states = shuffled(Array.from({ length: 400 }, (_, index) => index));
    const rows = states.map((state, index) =>
      createGrantWrite(tenantId, {
        object: objectOf(index),
        tombstone: state % 2 === 0,
        stamp: STAMP + (state % 3 === 0 ? 1000 : 0),
      }),
    );
    // Some are there, some are not.
    const written = rows.filter((_, index) => index % 5 !== 4);
    await store.writeState(written, soon());
    const targets = shuffled(rows)
      .slice(0, 300)
      .map((row) => ({ ...row, stamp: STAMP }));
    await store.removeTombstones(targets, soon());
    const targeted = new Set(targets.map(({ object }) => object));
    const expected = written.filter(
      ({ object, tombstone, stamp }) => !(tombstone && stamp <= STAMP && targeted.has(object)),
    );
    const { rows: left } = await driver.execute('SELECT object FROM grants WHERE tenant = ? AND subject = ?', [
      tenantId,
      SUBJECT,
    ]);
    assert.deepEqual(
      left.map((row) => String(row.object)),
      expected.map(({ object }) => object).sort(),
    );
  });

  it('purges a tenant of many subjects in bounded parts', async () => {
    const tenantId = newTenantId();
    const count = 3000;
    await write(count, (index) => createGrantWrite(tenantId, { subject: `user:${index}`, stamp: STAMP }));
    const subjects = Array.from(
      { length: count },
      (_, index) => ({ kind: 'subject', tenantId, subject: `user:${index}`, stamp: STAMP }) as const,
    );
    await store.writeState(subjects, soon());
    let calls = 1;
    while (!(await store.purgeTenant({ slot: 0, tenantId }, STAMP, soon()))) calls += 1;
    assert.ok(calls > count / 200);
    for (const index of [0, 1, count - 1]) {
      assert.equal(await store.readGrant(tenantId, `user:${index}`, 'viewer', 'doc:1', soon()), undefined);
    }
    const { rowLength } = await driver.execute('SELECT tenant FROM grants WHERE tenant = ? ALLOW FILTERING', [
      tenantId,
    ]);
    assert.equal(rowLength, 0);
  });
});
