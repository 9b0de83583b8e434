// The audit log under a filter: what fits and nothing else, in every order and page length, within a bound on what one
// call reads, and without keeping others waiting.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditFilter } from '../../../../src/core/audit-log.ts';
import { purgeTenants } from '../../../../src/shard/log/maintenance.ts';
import { READING_MS_MAX, READS_MAX } from '../../../../src/shard/peers/audit-log.ts';
import {
  attempt,
  auditLogPage,
  ids,
  type OpenSlot,
  openSlot,
  portsOf,
  settled,
  tuple,
  turns,
  wholeAuditLog,
} from '../tools.ts';

/** Every read is full of rows that fit nothing, and the months never end. */
function fillWith(slot: OpenSlot, atMs: number): { reads: number } {
  const counted = { reads: 0 };
  slot.store.listAuditLog = async ({ limit, after }) => {
    counted.reads += 1;
    const first = (after?.seq ?? 10_000_000) - 1;
    return Array.from({ length: limit }, (_, index) => ({
      seq: first - index,
      index: 0,
      atMs,
      actor: 'operator:test',
      requestId: 'req_0',
      change: '{"action":"grant.created","subject":"user:other","relation":"viewer","object":"doc:1"}',
    }));
  };
  return counted;
}

test('a filter gives what fits, in every order and page length', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const key = await slot.createKey(handle, tenantId);
  const by = attempt();
  await slot.grant(handle, tuple('user:a', 'doc:1'), by);
  await slot.grant(handle, tuple('user:ab', 'doc:1'));
  await slot.revoke(handle, tuple('user:a', 'doc:1'));
  const granted = await slot.front.authenticate(key);
  await slot.front.writeGrants(granted.handle, attempt(), [{ ...tuple('doc:1', 'user:a'), revoke: false }]);
  const all = await wholeAuditLog(slot, tenantId);
  const filters: readonly (readonly [AuditFilter, number])[] = [
    [{ action: 'grant.created' }, 3],
    [{ actor: granted.keyId }, 1],
    [{ subject: 'user:a' }, 2],
    [{ object: 'user:a' }, 1],
    // The grant, and the namespaces that it made.
    [{ requestId: by.requestId }, 3],
    [{ requestId: by.requestId, action: 'namespace.created' }, 2],
    [{ subject: 'user:a', action: 'grant.revoked', object: 'doc:1', actor: 'operator:test' }, 1],
    [{ subject: 'user:a', object: 'doc:2' }, 0],
  ];
  for (const [filter, count] of filters) {
    const rows = await wholeAuditLog(slot, tenantId, filter);
    assert.equal(rows.length, count, JSON.stringify(filter));
    for (const limit of [1, 2, 100]) {
      assert.deepEqual(await wholeAuditLog(slot, tenantId, { ...filter, limit }), rows);
      assert.deepEqual(await wholeAuditLog(slot, tenantId, { ...filter, limit, newestFirst: true }), rows.toReversed());
    }
    assert.deepEqual(
      rows,
      all.filter((row) => rows.some(({ seq, index }) => row.seq === seq && row.index === index)),
    );
  }
});

test('a filter and a range of time both have to fit', async () => {
  let wall = Date.UTC(2026, 10, 30);
  const { slot, tenantId, handle } = await openSlot({ wallMs: () => wall });
  for (const object of ['doc:1', 'doc:2', 'doc:3']) {
    await slot.grant(handle, tuple('user:a', object));
    await slot.grant(handle, tuple('user:b', object));
    wall += 40 * 86_400_000;
  }
  const query = { subject: 'user:b', sinceMs: Date.UTC(2026, 11, 1), untilMs: Date.UTC(2027, 1, 1) };
  const rows = await wholeAuditLog(slot, tenantId, query);
  assert.deepEqual(
    rows.map(({ change }) => JSON.parse(change).object),
    ['doc:2'],
  );
});

test('what comes later is found from the end on, and a cursor belongs to its filter', async () => {
  // A cursor has the time at which it was issued.
  const { slot, tenantId, handle } = await openSlot({ wallMs: () => Date.UTC(2026, 10, 30) });
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  const filter = { subject: 'user:a' };
  const { resumeCursor } = await auditLogPage(slot, tenantId, filter);
  assert.ok(resumeCursor !== undefined);
  assert.equal((await auditLogPage(slot, tenantId, { ...filter, newestFirst: true })).resumeCursor, resumeCursor);
  await slot.grant(handle, tuple('user:b', 'doc:2'));
  await slot.grant(handle, tuple('user:a', 'doc:3'));
  const news = await auditLogPage(slot, tenantId, { ...filter, cursor: resumeCursor });
  assert.deepEqual(
    news.items.map(({ change }) => JSON.parse(change).object),
    ['doc:3'],
  );
  for (const other of [{}, { subject: 'user:b' }, { object: 'user:a' }, { ...filter, action: 'grant.created' }]) {
    await assert.rejects(auditLogPage(slot, tenantId, { ...other, cursor: resumeCursor }), { code: 'invalid-cursor' });
  }
  const { resumeCursor: unfiltered } = await auditLogPage(slot, tenantId);
  await assert.rejects(auditLogPage(slot, tenantId, { ...filter, cursor: unfiltered }), { code: 'invalid-cursor' });
});

test('one call reads a bounded number of rows; the next one goes on behind them', async () => {
  const { slot, tenantId } = await openSlot();
  const atMs = Date.UTC(2026, 0, 1);
  const counted = fillWith(slot, atMs);
  const filter = { subject: 'user:a', newestFirst: true };
  const page = await auditLogPage(slot, tenantId, filter);
  assert.equal(counted.reads, READS_MAX);
  assert.deepEqual([page.items, page.scannedToMs], [[], atMs]);
  assert.ok(page.nextCursor !== undefined);
  const afters: (number | undefined)[] = [];
  const { listAuditLog } = slot.store;
  slot.store.listAuditLog = (query, deadline) => {
    afters.push(query.after?.seq);
    return listAuditLog.call(slot.store, query, deadline);
  };
  await auditLogPage(slot, tenantId, { ...filter, cursor: page.nextCursor });
  assert.equal(afters[0], slot.tenure.lastSeq + 1 - READS_MAX * 1000);
});

test('where the store is slow, a call reads once at least and no longer than its time', async () => {
  let ahead = 0;
  const { slot, tenantId } = await openSlot({ aheadMs: () => ahead });
  for (const [readMs, reads] of [
    [READING_MS_MAX / 4, 4],
    [READING_MS_MAX * 2, 1],
  ] as const) {
    const counted = fillWith(slot, 0);
    const { listAuditLog } = slot.store;
    slot.store.listAuditLog = (query, deadline) => {
      ahead += readMs;
      return listAuditLog.call(slot.store, query, deadline);
    };
    const page = await auditLogPage(slot, tenantId, { subject: 'user:a', newestFirst: true });
    assert.equal(counted.reads, reads);
    assert.ok(page.nextCursor !== undefined);
  }
});

test("reads wait at their tenant's gate, and nobody else waits for them", async () => {
  const { slot, tenantId, handle } = await openSlot();
  const other = await slot.createTenant();
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  const { loads } = slot.tenure.budget;
  const leaves = await Promise.all(Array.from({ length: 32 }, () => loads.enter(tenantId, 1, slot.clock)));
  const waiting = auditLogPage(slot, tenantId, { subject: 'user:a' });
  assert.equal(await settled(waiting), false);
  assert.equal((await auditLogPage(slot, other, { action: 'tenant.created' })).items.length, 1);
  for (const leave of leaves) leave();
  assert.equal((await waiting).items.length, 1);
  assert.equal(loads.bytes, 0);
});

test("every read waits for its tenant's turn, and a tenure that ends ends the reading", async () => {
  const { slot, tenantId } = await openSlot();
  const counted = fillWith(slot, 0);
  const fairTurns = slot.tenure.budget.turns;
  const { run } = fairTurns;
  const waiting: (() => void)[] = [];
  // The turns of others come first, for as long as the test wants.
  fairTurns.run = (key, step, costMs) => {
    if (key === tenantId) waiting.push(() => run.call(fairTurns, key, step, costMs));
    else run.call(fairTurns, key, step, costMs);
  };
  const page = auditLogPage(slot, tenantId, { subject: 'user:a', newestFirst: true });
  for (let turn = 0; turn < READS_MAX; turn += 1) {
    await turns(3);
    assert.deepEqual([counted.reads, waiting.length], [turn, 1]);
    waiting.shift()?.();
  }
  fairTurns.run = run;
  assert.ok((await page).nextCursor !== undefined);
  const { listAuditLog } = slot.store;
  counted.reads = 0;
  slot.store.listAuditLog = (query, deadline) => {
    if (counted.reads === 2) slot.tenure.end('The test ends it.');
    return listAuditLog.call(slot.store, query, deadline);
  };
  await assert.rejects(auditLogPage(slot, tenantId, { subject: 'user:a', newestFirst: true }));
  assert.equal(counted.reads, 3);
});

test('a deleted tenant has its audit log under any filter, and nothing more is to come', async () => {
  const opened = await openSlot();
  const { tenantId } = opened;
  let { slot } = opened;
  await slot.update({ tenantId, state: 'deleting', operator: 'ann' });
  await purgeTenants(portsOf(slot, 0), slot.tenure);
  for (const restarted of [false, true]) {
    if (restarted) slot = await slot.restart();
    const by = await auditLogPage(slot, tenantId, { actor: 'operator:ann' });
    assert.deepEqual(
      by.items.map(({ change: text }) => JSON.parse(text).state),
      ['deleting'],
    );
    assert.equal(by.resumeCursor, undefined);
    for (const nothing of [{ subject: 'user:a' }, { sinceMs: Date.now() + 3_600_000 }]) {
      assert.deepEqual((await auditLogPage(slot, tenantId, nothing)).items, []);
    }
  }
  await assert.rejects(auditLogPage(slot, ids.create('ten'), { subject: 'user:a' }), { code: 'tenant-not-found' });
});
