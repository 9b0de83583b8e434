// The embedded store keeps the audit log as long as Cassandra does, and no longer: what goes, in which steps, and when.

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { TenantId } from '../../../../src/core/ids.ts';
import { systemClock } from '../../../../src/roles/process/system.ts';
import { MIGRATIONS as CASSANDRA_MIGRATIONS } from '../../../../src/store/cassandra/schema/migrations.ts';
import type { Reply } from '../../../../src/store/sqlite/messages.ts';
import { toStateBatch } from '../../../../src/store/sqlite/messages.ts';
import { migrate } from '../../../../src/store/sqlite/migrate.ts';
import { MIGRATIONS } from '../../../../src/store/sqlite/migrations.ts';
import { Damage } from '../../../../src/store/sqlite/sqlite-errors.ts';
import { AuditLogExpiry } from '../../../../src/store/sqlite/sqlite-store.ts';
import { Writer } from '../../../../src/store/sqlite/worker/writer.ts';
import type { StateWrite } from '../../../../src/store/store.ts';
import { useDirectory } from '../../../kit/directory.ts';
import { openStore } from '../../../kit/store/store-directory.ts';
import { createRecord, META, newTenantId, soon } from '../../../kit/store/store-fixtures.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { waitFor } from '../../../kit/wait-for.ts';

const DAY_MS = 24 * 3_600_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

const audited = (tenantId: TenantId, month: string, seq: number): StateWrite => ({
  kind: 'audit-log',
  tenantId,
  month,
  row: { seq, index: 0, atMs: 1, actor: 'operator:ann', requestId: 'req_1', change: '{}' },
  stamp: seq,
});

function createWriter() {
  const database = new DatabaseSync(':memory:');
  migrate(database, MIGRATIONS, 1);
  const replies: Reply[] = [];
  const witness = { beforeCommit() {}, afterCommit() {} };
  const writer = new Writer(database, (batch) => replies.push(...batch), { witness, damage: new Damage() });
  const rows = () => Number(database.prepare('SELECT count(*) AS n FROM changes').get()?.n);
  const months = () => database.prepare('SELECT DISTINCT month FROM changes ORDER BY month').all();
  return { writer, replies, rows, months };
}

test('whole months of every tenant go, a bounded part per call, and nothing younger', () => {
  const { writer, replies, rows, months } = createWriter();
  const tenants = Array.from({ length: 50 }, newTenantId);
  const writes = tenants.flatMap((tenantId, index) =>
    // One has much.
    Array.from({ length: index === 20 ? 5000 : 10 }, (_, seq) =>
      audited(tenantId, ['2025-09', '2025-10', '2025-11'][seq % 3] ?? '', seq + 1),
    ),
  );
  writer.accept([{ id: 1, name: 'writeState', args: [toStateBatch(writes)] }]);
  while (writer.runRound());
  replies.length = 0;
  const young = writes.filter((write) => write.kind === 'audit-log' && write.month >= '2025-11').length;
  let after: unknown = '';
  let calls = 0;
  while (after !== undefined) {
    const before = rows();
    writer.accept([{ id: 2, name: 'expireAuditLog', args: ['2025-11', after] }]);
    while (writer.runRound());
    const [reply] = replies.splice(0);
    assert.ok(reply !== undefined && 'result' in reply);
    after = reply.result;
    calls += 1;
    assert.ok(before - rows() <= 32 * 64, 'a call removes a bounded part');
    assert.ok(calls < 100);
  }
  assert.ok(calls > 2, `${calls} calls`);
  assert.equal(rows(), young);
  assert.equal(months().length, 1);
});

test('a commit does not wait for the end of a removal', () => {
  const { writer, replies, rows } = createWriter();
  const tenantId = newTenantId();
  const writes = Array.from({ length: 20_000 }, (_, seq) => audited(tenantId, '2025-09', seq + 1));
  writer.accept([{ id: 1, name: 'writeState', args: [toStateBatch(writes)] }]);
  while (writer.runRound());
  replies.length = 0;
  // More calls than fit into one slice.
  const calls = Array.from({ length: 20 }, (_, index) => ({
    id: 10 + index,
    name: 'expireAuditLog',
    args: ['2025-11', ''],
  }));
  writer.accept(calls);
  assert.equal(writer.runRound(), true);
  assert.ok(rows() > 0, 'the removal goes on');
  writer.accept([{ id: 2, name: 'append', args: [createRecord(1, 1), 0] }]);
  replies.length = 0;
  writer.runRound();
  assert.deepEqual(replies[0], { id: 2, result: { kind: 'appended' } });
  while (writer.runRound());
  assert.equal(rows(), 0);
});

test('it begins some minutes after the start, goes by 400 days, and looks again every hour', async () => {
  const clock = new VirtualClock();
  clock.wallOffsetMs = Date.UTC(2026, 10, 22) - 1000;
  const parts: (readonly [string, string])[] = [];
  const results = ['ten_b', 'ten_c', undefined, 'fails', 'ten_d'];
  const expiry = new AuditLogExpiry(clock, async (beforeMonth, after) => {
    parts.push([beforeMonth, after]);
    const result = results.shift();
    if (result === 'fails') throw new Error('The disk is full.');
    return result;
  });
  await clock.advance(9 * MINUTE_MS);
  assert.deepEqual(parts, [], 'a clock that is wrong at first is not acted on');
  await clock.advance(2 * MINUTE_MS);
  // 400 days before 22 November 2026 is 18 October 2025.
  assert.deepEqual(parts.splice(0), [
    ['2025-10', ''],
    ['2025-10', 'ten_b'],
    ['2025-10', 'ten_c'],
  ]);
  await clock.advance(HOUR_MS - 3 * MINUTE_MS);
  assert.deepEqual(parts, []);
  await clock.advance(3 * MINUTE_MS);
  assert.deepEqual(parts.splice(0), [['2025-10', '']]);
  // A part that failed: the next round begins again, by the time of then.
  clock.wallOffsetMs += 14 * DAY_MS;
  await clock.advance(HOUR_MS);
  assert.deepEqual(parts.splice(0, 2), [
    ['2025-11', ''],
    ['2025-11', 'ten_d'],
  ]);
  expiry.close();
  await clock.advance(3 * HOUR_MS);
  assert.deepEqual(parts, []);
  assert.equal(clock.timers, 0);
});

test('it keeps as long as Cassandra does', () => {
  const schema = CASSANDRA_MIGRATIONS.flatMap(({ statements }) => statements('grantd')).join(';\n');
  const seconds = Number(/\.changes \([^;]*default_time_to_live = (\d+)/.exec(schema)?.[1]);
  const clock = new VirtualClock();
  const cuts: string[] = [];
  new AuditLogExpiry(clock, async (beforeMonth) => {
    cuts.push(beforeMonth);
    return undefined;
  });
  return clock.advance(11 * MINUTE_MS).then(() => {
    const cut = new Date(clock.wallMs() - seconds * 1000).toISOString().slice(0, 7);
    assert.deepEqual(cuts, [cut]);
  });
});

test('a store that is open lets go of what is too old by itself', async () => {
  const directory = useDirectory();
  // The minutes and hours that it waits have passed at once.
  const clock = {
    ...systemClock,
    setTimer: (run: () => void, delayMs: number) => systemClock.setTimer(run, delayMs >= 10 * MINUTE_MS ? 1 : delayMs),
  };
  const store = await openStore(directory, { clock });
  try {
    await store.initializeMeta(META, soon());
    const tenantId = newTenantId();
    const month = new Date().toISOString().slice(0, 7);
    await store.writeState([audited(tenantId, '2024-01', 1), audited(tenantId, month, 2)], soon());
    const kept = async (of: string) => (await store.listAuditLog({ tenantId, month: of, limit: 10 }, soon())).length;
    await waitFor('the old rows to go', async () => (await kept('2024-01')) === 0);
    assert.equal(await kept(month), 1);
  } finally {
    await store.close();
  }
});
