// The audit log: every change once, in the order of the log, from either end, and with a place to go on from that
// misses none.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GrantdError } from '../../../../src/core/errors.ts';
import { purgeTenants } from '../../../../src/shard/log/maintenance.ts';
import { readAll } from '../../../kit/store/read-all.ts';
import { attempt, auditLogPage, ids, openSlot, portsOf, soon, tuple, waitFor, wholeAuditLog } from '../tools.ts';

const DAY_MS = 24 * 3_600_000;

/** `grant.created doc:1`: of each change its action and what tells it from others. */
const told = (rows: readonly { readonly change: string }[]): readonly string[] =>
  rows.map(({ change }) => JSON.parse(change)).map(({ action, object, name }) => `${action} ${object ?? name}`);

test('the audit log goes on over the months in the order of the log, from either end, page by page', async () => {
  let wall = Date.UTC(2026, 10, 30, 23, 59, 59);
  const { memory, slot, tenantId, handle } = await openSlot({ wallMs: () => wall });
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  wall = Date.UTC(2026, 11, 15);
  await slot.grant(handle, tuple('user:a', 'doc:2'));
  wall = Date.UTC(2027, 2, 1);
  await slot.revoke(handle, tuple('user:a', 'doc:1'));
  // Set back: the log's time stands still, it does not go back.
  wall = Date.UTC(2027, 1, 27);
  await slot.grant(handle, tuple('user:a', 'doc:3'));
  const expected = [
    'tenant.created test',
    'namespace.created user',
    'namespace.created doc',
    'grant.created doc:1',
    'grant.created doc:2',
    'grant.revoked doc:1',
    'grant.created doc:3',
  ];
  for (const limit of [1, 2, 7, 100]) {
    const auditLog = await wholeAuditLog(slot, tenantId, { limit });
    assert.deepEqual(told(auditLog), expected);
    assert.ok(auditLog.every(({ actor, requestId }) => actor === 'operator:test' && requestId.startsWith('req_')));
    assert.deepEqual(told(await wholeAuditLog(slot, tenantId, { limit, newestFirst: true })), expected.toReversed());
  }
  const months = ['2026-11', '2026-12', '2027-01', '2027-02', '2027-03'];
  const counts = await Promise.all(
    months.map(async (month) => (await memory.listAuditLog({ tenantId, month, limit: 100 }, soon())).length),
  );
  assert.deepEqual(counts, [4, 1, 0, 0, 2]);
});

test('a range of time has the changes made in it, wherever clocks were set back', async () => {
  let wall = Date.UTC(2026, 10, 30, 23, 0);
  const { slot, tenantId, handle } = await openSlot({ wallMs: () => wall });
  const times = ['2026-12-01T05', '2026-12-01T03', '2027-01-01T00', '2026-12-31T22', '2027-02-01T00'];
  for (const [index, time] of times.entries()) {
    wall = Date.parse(`${time}:00:00Z`);
    await slot.grant(handle, tuple('user:a', `doc:${index}`));
  }
  const between = async (since: string | undefined, until: string | undefined) => {
    const query = {
      sinceMs: since === undefined ? undefined : Date.parse(since),
      untilMs: until === undefined ? undefined : Date.parse(until),
    };
    const auditLogs = await Promise.all(
      [1, 100].flatMap((limit) =>
        [false, true].map((newestFirst) => wholeAuditLog(slot, tenantId, { ...query, limit, newestFirst })),
      ),
    );
    const [names = []] = auditLogs.map((rows) => told(rows).filter((name) => name.startsWith('grant')));
    for (const rows of auditLogs) {
      assert.deepEqual(
        told(rows)
          .filter((name) => name.startsWith('grant'))
          .toSorted(),
        names.toSorted(),
      );
    }
    return names.map((name) => name.slice(-1)).join('');
  };
  assert.equal(await between('2026-12-01T00:00:00Z', undefined), '01234');
  assert.equal(await between('2026-12-01T04:00:00Z', '2027-01-01T00:00:00Z'), '03');
  assert.equal(await between('2026-12-31T00:00:00Z', '2027-01-01T00:00:00Z'), '3');
  // It stands among the entries of the month that follows.
  assert.equal(await between('2026-12-31T00:00:00Z', '2026-12-31T23:00:00Z'), '3');
  assert.equal(await between(undefined, '2026-12-01T05:00:00Z'), '1');
  assert.equal(await between('2027-02-01T00:00:00Z', '2027-02-01T00:00:00.001Z'), '4');
  assert.equal(await between('2027-02-01T00:00:00.001Z', '2099-01-01T00:00:00Z'), '');
});

test('every kind of change is told exactly once, whatever a failover replays and clients repeat', async () => {
  const opened = await openSlot();
  const { memory, tenantId } = opened;
  let { slot, handle } = opened;
  const by = attempt(60_000);
  const key = await slot.createKey(handle, tenantId);
  await slot.connection.createNamespace(handle, attempt(), 'team');
  await slot.grant(handle, tuple('user:a', 'doc:1'), by);
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  await slot.applied();
  // The next owner replays what state holds already, and what it does not.
  slot.faults.turn('fail-before', ['writeState', 'writeCheckpoint']);
  await slot.revoke(handle, tuple('user:a', 'doc:1'));
  await slot.revoke(handle, tuple('user:a', 'doc:1'));
  const granted = await slot.front.authenticate(key);
  await slot.front.writeGrants(granted.handle, attempt(), [{ ...tuple('user:b', 'doc:2'), revoke: false }]);
  await slot.connection.revokeKey(handle, attempt(), key.keyId);
  slot = await slot.restart();
  await waitFor(() => slot.tenure.restored);
  handle = await slot.handle(tenantId);
  assert.equal((await slot.grant(handle, tuple('user:a', 'doc:1'), by)).kind, 'created', 'the answer of the first try');
  const change = { tenantId, operator: 'ann' };
  await slot.update({ ...change, name: 'renamed', plan: 'scale' });
  await slot.update({ ...change, state: 'suspended' });
  await slot.update({ ...change, state: 'active' });
  slot = await slot.restart();
  await slot.update({ ...change, state: 'deleting' });
  await purgeTenants(portsOf(slot, 0), slot.tenure);
  slot = await slot.restart();

  const auditLog = await wholeAuditLog(slot, tenantId);
  assert.deepEqual(
    auditLog.map(({ actor, change: text }) => {
      const { action, object, name, state } = JSON.parse(text);
      return [actor, action, object ?? (state === undefined ? name : `${name} ${state}`)].join(' ');
    }),
    [
      'operator:test tenant.created test active',
      'operator:test key.created test',
      'operator:test namespace.created team',
      'operator:test namespace.created user',
      'operator:test namespace.created doc',
      'operator:test grant.created doc:1',
      'operator:test grant.revoked doc:1',
      `${key.keyId} grant.created doc:2`,
      'operator:test key.revoked test',
      'operator:ann tenant.updated renamed active',
      'operator:ann tenant.updated renamed suspended',
      'operator:ann tenant.updated renamed active',
      'operator:ann tenant.updated renamed deleting',
      'system tenant.updated renamed deleted',
    ],
  );
  assert.equal(new Set(auditLog.map(({ seq, index }) => `${seq}.${index}`)).size, auditLog.length);
  assert.ok(auditLog.every(({ requestId }) => requestId.startsWith('req_')));
  assert.ok(!JSON.stringify(auditLog).includes(key.hash), 'no secret is told');
  assert.deepEqual(
    told(await wholeAuditLog(slot, tenantId, { newestFirst: true, limit: 3 })),
    told(auditLog).toReversed(),
  );
  await assert.rejects(auditLogPage(slot, ids.create('ten')), { code: 'tenant-not-found' });
  assert.equal((await memory.listTenants({ slot: 0, limit: 1 }, soon()))[0]?.state, 'deleted');
});

test('whoever goes on from the end misses nothing, even where state is ahead of what was committed', async () => {
  // A cursor has the time at which it was issued.
  const { memory, slot, tenantId, handle } = await openSlot({ wallMs: () => Date.UTC(2026, 10, 30) });
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  const first = await auditLogPage(slot, tenantId, { limit: 2 });
  assert.equal(first.resumeCursor, undefined, 'there is more to read first');
  const newest = await auditLogPage(slot, tenantId, { limit: 2, newestFirst: true });
  const end = await auditLogPage(slot, tenantId);
  assert.equal(newest.resumeCursor, end.resumeCursor);
  const again = await auditLogPage(slot, tenantId, { cursor: end.resumeCursor });
  assert.deepEqual([again.items, again.nextCursor, again.resumeCursor], [[], undefined, end.resumeCursor]);

  // A row of an entry whose predecessor is not in state yet: rows of one write become visible in any order.
  const [row] = end.items;
  assert.ok(row !== undefined);
  const ahead = { ...row, seq: slot.tenure.lastSeq + 2, change: '{"action":"ahead","name":"of all"}' };
  const month = new Date(slot.tenure.nextBase / 1000).toISOString().slice(0, 7);
  await memory.writeState(
    [{ kind: 'audit-log', tenantId, month, row: ahead, stamp: slot.tenure.nextBase + 9 }],
    soon(),
  );
  const early = await auditLogPage(slot, tenantId, { cursor: end.resumeCursor });
  assert.deepEqual([early.items, early.resumeCursor], [[], end.resumeCursor]);
  assert.deepEqual(told((await auditLogPage(slot, tenantId, { limit: 1, newestFirst: true })).items), [
    'grant.created doc:1',
  ]);

  await slot.grant(handle, tuple('user:a', 'doc:2'));
  const late = await auditLogPage(slot, tenantId, { cursor: early.resumeCursor });
  assert.deepEqual(told(late.items), ['grant.created doc:2']);
  const heir = await slot.restart();
  await heir.grant(await heir.handle(tenantId), tuple('user:a', 'doc:3'));
  const rest = await readAll((cursor) =>
    auditLogPage(heir, tenantId, { limit: 1, cursor: cursor ?? late.resumeCursor }),
  );
  assert.deepEqual(told(rest).at(-1), 'grant.created doc:3');
});

test('a reader that comes back after its changes were deleted is refused, with where to begin again', async () => {
  let wall = Date.UTC(2025, 0, 10);
  const { slot, handle, tenantId } = await openSlot({ wallMs: () => wall });
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  const first = await auditLogPage(slot, tenantId, { limit: 1 });
  const end = await auditLogPage(slot, tenantId);
  const newest = await auditLogPage(slot, tenantId, { limit: 1, newestFirst: true });
  wall += 300 * DAY_MS;
  await slot.grant(handle, tuple('user:a', 'doc:2'));
  // All of it is still kept.
  assert.equal((await auditLogPage(slot, tenantId, { cursor: first.nextCursor })).items.length, 4);
  const followed = await auditLogPage(slot, tenantId, { cursor: end.resumeCursor });
  assert.deepEqual(told(followed.items), ['grant.created doc:2']);
  const late = await auditLogPage(slot, tenantId, { limit: 1 });
  wall += 99.5 * DAY_MS;
  // The cursor was issued long ago, and its place is no longer kept.
  const earliest: string[] = [];
  for (const cursor of [first.nextCursor, end.resumeCursor, late.nextCursor]) {
    await assert.rejects(auditLogPage(slot, tenantId, { cursor }), (error: GrantdError) => {
      assert.equal(error.code, 'cursor-too-old');
      earliest.push(String(error.details.earliest));
      return true;
    });
  }
  for (const cursor of earliest) {
    assert.deepEqual(told((await auditLogPage(slot, tenantId, { cursor })).items).at(-1), 'grant.created doc:2');
  }
  // Whoever reads from the oldest change on goes on, and so does whoever has kept up, or goes back in time.
  const rest = await readAll((cursor) => auditLogPage(slot, tenantId, { limit: 1, cursor }));
  assert.equal(rest.length, 5);
  await auditLogPage(slot, tenantId, { cursor: followed.resumeCursor });
  await auditLogPage(slot, tenantId, { cursor: newest.nextCursor, newestFirst: true });
});

test('a place to go on from belongs to its tenant, its order and its range', async () => {
  const { slot, tenantId } = await openSlot();
  const other = await slot.createTenant();
  const { resumeCursor: cursor } = await auditLogPage(slot, tenantId);
  const calls = [
    auditLogPage(slot, other, { cursor }),
    auditLogPage(slot, tenantId, { cursor, newestFirst: true }),
    auditLogPage(slot, tenantId, { cursor, sinceMs: 1 }),
    auditLogPage(slot, tenantId, { cursor, untilMs: 1 }),
  ];
  for (const call of calls) await assert.rejects(call, { code: 'invalid-cursor' });
  const ended = await auditLogPage(slot, tenantId, { untilMs: Date.now() });
  assert.equal(ended.resumeCursor, undefined, 'nothing is to come in a range that ends');
});

test('one call reads a bounded number of months, and the pages go on', async () => {
  let wall = Date.UTC(2020, 0, 1);
  let reads = 0;
  const { slot, tenantId, handle } = await openSlot({ wallMs: () => wall });
  wall = Date.UTC(2030, 5, 1);
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  const { listAuditLog } = slot.store;
  slot.store.listAuditLog = (...args) => {
    reads += 1;
    return listAuditLog.apply(slot.store, args);
  };
  for (const newestFirst of [false, true]) {
    let cursor: string | undefined;
    const names: string[] = [];
    do {
      reads = 0;
      const page = await auditLogPage(slot, tenantId, { newestFirst, cursor });
      assert.ok(reads <= 50, `${reads} reads`);
      names.push(...told(page.items));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    assert.equal(names.length, 4);
  }
});
