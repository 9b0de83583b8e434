// Trimming the log and keeping the uses of keys: what goes, what stays, and how an interruption is made good.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KEY_USE_WRITE_MS, type MaintenancePorts, trimLog, writeKeyUses } from '../../../src/shard/maintenance.ts';
import type { MemoryStore } from '../../support/memory-store.ts';
import { createMemoryStore, ids, OpenSlot, SEGMENT_SIZE, SLOT, soon, tuple } from './tools.ts';

const HOUR_MS = 3_600_000;

const portsOf = (slot: OpenSlot): MaintenancePorts => ({
  store: slot.store,
  clock: slot.clock,
  segmentSize: SEGMENT_SIZE,
  logRetentionMs: HOUR_MS,
  createRequestId: () => ids.create('req'),
});

/** A slot with `entries` grants behind it, at a wall clock that can be moved. */
async function openSlot(entries: number) {
  const wall = { ms: Date.now() };
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory, { wallMs: () => wall.ms });
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  for (let index = 0; index < entries; index += 1) await slot.grant(handle, tuple('user:a', `doc:${index}`));
  return { wall, memory, slot, tenantId, handle };
}

async function segmentsOf(memory: MemoryStore): Promise<number[]> {
  const segments: number[] = [];
  for (let segment = 0; segment < 20; segment += 1) {
    const from = Math.max(1, segment * SEGMENT_SIZE);
    if ((await memory.readRecords(SLOT, from, SEGMENT_SIZE, soon())).length > 0) segments.push(segment);
  }
  return segments;
}

test('whole segments go once state holds them and they are old enough, never the last one', async () => {
  const { wall, memory, slot, tenantId, handle } = await openSlot(30);
  await slot.tenure.checkpointed();
  assert.deepEqual(await segmentsOf(memory), [0, 1, 2, 3, 4]);
  assert.equal(await trimLog(portsOf(slot), slot.tenure), 0, 'too young');
  wall.ms += HOUR_MS + 1000;
  assert.equal(await trimLog(portsOf(slot), slot.tenure), 4);
  assert.deepEqual(await segmentsOf(memory), [4]);
  assert.equal((await memory.readSlot(SLOT, soon()))?.first, 4 * SEGMENT_SIZE);
  assert.equal(await trimLog(portsOf(slot), slot.tenure), 0);
  await slot.grant(handle, tuple('user:a', 'doc:new'));
  const heir = await slot.restart({ wallMs: () => wall.ms });
  const again = await heir.handle(tenantId);
  for (const object of ['doc:0', 'doc:29', 'doc:new']) {
    assert.equal(await heir.check(again, tuple('user:a', object)), true);
  }
  await heir.grant(again, tuple('user:a', 'doc:newer'));
  heir.kill();
});

test('nothing beyond the checkpoint goes', async () => {
  const { wall, memory, slot, tenantId, handle } = await openSlot(0);
  slot.faults.turn('fail-before', ['writeCheckpoint']);
  for (let index = 0; index < 30; index += 1) await slot.grant(handle, tuple('user:a', `doc:${index}`));
  await slot.applied();
  wall.ms += HOUR_MS + 1000;
  assert.equal(await trimLog(portsOf(slot), slot.tenure), 0);
  const heir = await slot.restart();
  assert.equal(await heir.check(await heir.handle(tenantId), tuple('user:a', 'doc:29')), true);
  assert.equal((await segmentsOf(memory)).length, 5);
  heir.kill();
});

test('a young segment stays though older ones before it go', async () => {
  const { wall, memory, slot, handle } = await openSlot(14);
  wall.ms += HOUR_MS + 1000;
  for (let index = 0; index < 14; index += 1) await slot.grant(handle, tuple('user:b', `doc:${index}`));
  await slot.tenure.checkpointed();
  await trimLog(portsOf(slot), slot.tenure);
  assert.deepEqual(await segmentsOf(memory), [2, 3]);
  slot.kill();
});

test('what was revoked in a segment is really removed before it goes; what was granted again stays', async () => {
  const { wall, memory, slot, tenantId, handle } = await openSlot(3);
  const removed: { object: string; first: number | undefined }[] = [];
  await slot.revoke(handle, tuple('user:a', 'doc:0'));
  await slot.revoke(handle, tuple('user:a', 'doc:1'));
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  for (let index = 0; index < 20; index += 1) await slot.grant(handle, tuple('user:b', `doc:${index}`));
  await slot.tenure.checkpointed();
  wall.ms += HOUR_MS + 1000;
  const removeGone = memory.removeGone.bind(memory);
  memory.removeGone = async (rows, deadline) => {
    const row = await memory.readSlot(SLOT, soon());
    for (const each of rows) if (each.kind === 'grant') removed.push({ object: each.object, first: row?.first });
    return removeGone(rows, deadline);
  };
  await trimLog(portsOf(slot), slot.tenure);
  assert.deepEqual(
    removed.map(({ object }) => object),
    ['doc:0', 'doc:1'],
  );
  // `listGrants` looks at gone rows, too: of three one is no more.
  const looked = async (limit: number) =>
    (await memory.listGrants({ tenantId, subject: 'user:a', limit }, soon())).next !== undefined;
  assert.deepEqual([await looked(2), await looked(3)], [true, false]);
  assert.equal(await slot.check(handle, tuple('user:a', 'doc:1')), true);
  assert.equal(await slot.check(handle, tuple('user:a', 'doc:0')), false);
  const heir = await slot.restart();
  const again = await heir.handle(tenantId);
  assert.equal(await heir.check(again, tuple('user:a', 'doc:1')), true);
  assert.equal(await heir.check(again, tuple('user:a', 'doc:0')), false);
  heir.kill();
});

for (const operation of ['readRecord', 'readRecords', 'removeGone', 'recordFirst', 'removeSegment'] as const) {
  for (const fault of ['fail-before', 'fail-after'] as const) {
    test(`trimming that was cut off at ${operation} (${fault}) goes on, after a restart as well`, async () => {
      for (const restart of [false, true]) {
        const { wall, memory, slot, tenantId, handle } = await openSlot(5);
        await slot.revoke(handle, tuple('user:a', 'doc:0'));
        for (let index = 5; index < 30; index += 1) await slot.grant(handle, tuple('user:a', `doc:${index}`));
        await slot.tenure.checkpointed();
        wall.ms += HOUR_MS + 1000;
        slot.faults.turn(fault, [operation]);
        await assert.rejects(trimLog(portsOf(slot), slot.tenure));
        slot.faults.restore([operation]);
        const owner = restart ? await slot.restart({ wallMs: () => wall.ms }) : slot;
        const again = await owner.handle(tenantId);
        await owner.tenure.checkpointed();
        await trimLog(portsOf(owner), owner.tenure);
        assert.equal(await owner.check(again, tuple('user:a', 'doc:29')), true);
        assert.equal(await owner.check(again, tuple('user:a', 'doc:0')), false);
        assert.deepEqual(await segmentsOf(memory), [4], 'nothing is left behind');
        owner.kill();
      }
    });
  }
}

test('a former owner trims nothing', async () => {
  const { wall, memory, slot } = await openSlot(30);
  await slot.tenure.checkpointed();
  wall.ms += HOUR_MS + 1000;
  const heir = await OpenSlot.open(memory);
  assert.equal(await trimLog(portsOf(slot), slot.tenure), 0);
  assert.deepEqual(await segmentsOf(memory), [0, 1, 2, 3, 4]);
  for (const each of [slot, heir]) each.kill();
});

test('the last use of a key is written at most every five minutes, and is never older than what was told', async () => {
  const { wall, memory, slot, tenantId, handle } = await openSlot(0);
  const key = await slot.createKey(handle, tenantId);
  const unused = await slot.createKey(handle, tenantId);
  const granted = await slot.front.authenticate(key);
  const stored = async () => (await memory.listKeyUses(tenantId, [key.keyId], soon())).get(key.keyId);
  const listed = async () => {
    const { items } = await slot.connection.listKeys(handle, { limit: 10, cursor: undefined });
    return items.find(({ keyId }) => keyId === key.keyId)?.lastUsedAtMs;
  };
  let writtenAtMs: number | undefined;
  for (let second = 0; second < 1200; second += 1) {
    wall.ms += 1000;
    // In use for a while, idle for a while.
    if (second % 450 < 200) await slot.front.confirm(granted.handle);
    const before = slot.faults.calls('writeKeyUse');
    await writeKeyUses(portsOf(slot), slot.tenure);
    if (slot.faults.calls('writeKeyUse') === before) continue;
    assert.ok(writtenAtMs === undefined || wall.ms - writtenAtMs >= KEY_USE_WRITE_MS);
    writtenAtMs = wall.ms;
  }
  assert.ok(slot.faults.calls('writeKeyUse') >= 3);
  assert.ok(((await stored()) ?? 0) <= ((await listed()) ?? 0));
  assert.equal((await memory.listKeyUses(tenantId, [unused.keyId], soon())).has(unused.keyId), false);
  const heir = await slot.restart({ wallMs: () => wall.ms });
  const { items } = await heir.connection.listKeys(await heir.handle(tenantId), { limit: 10, cursor: undefined });
  assert.equal(items.find(({ keyId }) => keyId === key.keyId)?.lastUsedAtMs, await stored());
  assert.equal(items.find(({ keyId }) => keyId === unused.keyId)?.lastUsedAtMs, undefined);
  heir.kill();
});

test('a failed write of a use is tried again', async () => {
  const { memory, slot, tenantId, handle } = await openSlot(0);
  const key = await slot.createKey(handle, tenantId);
  await slot.front.authenticate(key);
  slot.faults.turn('fail-before', ['writeKeyUse']);
  await assert.rejects(writeKeyUses(portsOf(slot), slot.tenure));
  slot.faults.restore(['writeKeyUse']);
  await writeKeyUses(portsOf(slot), slot.tenure);
  assert.equal((await memory.listKeyUses(tenantId, [key.keyId], soon())).size, 1);
  slot.kill();
});
