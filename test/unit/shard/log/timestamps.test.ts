// Stamps come from the log alone: strictly increasing, whatever the wall clock does, across owners.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkpointStamp, countChanges, decodeEntry } from '../../../../src/shard/log/entries.ts';
import type { MemoryStore } from '../../../kit/store/memory-store.ts';
import { createMemoryStore, OpenSlot, openSlot, SLOT, soon, tuple } from '../tools.ts';

async function assertIncreasing(memory: MemoryStore, lastSeq: number): Promise<void> {
  let last = 0;
  let lastCheckpoint = 0;
  for (let seq = 1; seq <= lastSeq; seq += 1) {
    const record = await memory.readRecord(SLOT, seq, soon());
    assert.ok(record !== undefined);
    const entry = decodeEntry(record);
    assert.ok(entry.base > last, `seq ${seq}`);
    assert.ok(checkpointStamp(entry) > lastCheckpoint);
    assert.ok(Number.isSafeInteger(entry.base + countChanges(entry)));
    last = entry.base + Math.max(1, countChanges(entry)) - 1;
    lastCheckpoint = checkpointStamp(entry);
  }
}

test('bases increase strictly although the wall clock is set back an hour, across restarts and checkpoints', async () => {
  let wall = Date.now();
  const wallMs = () => wall;
  const memory = await createMemoryStore();
  let slot = await OpenSlot.open(memory, { wallMs });
  const tenantId = await slot.createTenant();
  for (let round = 0; round < 6; round += 1) {
    const handle = await slot.handle(tenantId);
    for (let index = 0; index < 4; index += 1) {
      await slot.grant(handle, tuple('user:a', `doc:${round}`));
      wall += [1, -3_600_000, 0, 500][index] ?? 0;
      assert.equal((await slot.revoke(handle, tuple('user:a', `doc:${round}`))).kind, 'revoked');
    }
    if (round % 2 === 0) await slot.tenure.checkpointed();
    slot = await slot.restart({ wallMs });
    const again = await slot.handle(tenantId);
    assert.equal(await slot.check(again, tuple('user:a', `doc:${round}`)), false, 'the revocation is the newer');
  }
  await slot.tenure.checkpointed();
  await assertIncreasing(memory, slot.tenure.lastSeq);
  assert.equal((await memory.readCheckpoint(SLOT, soon()))?.seq, slot.tenure.lastSeq);
  for (let round = 0; round < 6; round += 1) {
    assert.equal(await memory.readGrant(tenantId, 'user:a', 'viewer', `doc:${round}`, soon()), undefined);
  }
});

test("bases also increase if all entries but the checkpoint's are trimmed from the tail", async () => {
  let wall = Date.now();
  const { memory, slot, tenantId, handle } = await openSlot({ wallMs: () => wall });
  await slot.connection.writeGrants(
    handle,
    { requestId: 'req_1', expiresAtMs: soon() },
    Array.from({ length: 1000 }, (_, index) => ({ ...tuple('user:a', `doc:${index}`), revoke: false })),
  );
  await slot.tenure.checkpointed();
  wall -= 3_600_000;
  const heir = await slot.restart({ wallMs: () => wall });
  await heir.revoke(await heir.handle(tenantId), tuple('user:a', 'doc:999'));
  await heir.tenure.checkpointed();
  await assertIncreasing(memory, heir.tenure.lastSeq);
  assert.equal(await memory.readGrant(tenantId, 'user:a', 'viewer', 'doc:999', soon()), undefined);
});

test('a wall clock that was wrong by any time leaves a readable log, and stamps that it catches up with', async () => {
  let offMs = 0;
  const clocks = { wallMs: () => Date.now() + offMs };
  const memory = await createMemoryStore();
  let slot = await OpenSlot.open(memory, clocks);
  const tenantId = await slot.createTenant();
  const grantAt = async (wallMs: number): Promise<number> => {
    offMs = wallMs - Date.now();
    await slot.grant(await slot.handle(tenantId), tuple('user:a', `doc:${slot.tenure.lastSeq}`));
    const record = await memory.readRecord(SLOT, slot.tenure.lastSeq, soon());
    assert.ok(record !== undefined);
    return decodeEntry(record).base / 1000;
  };
  const in2100 = Date.UTC(2100, 0, 1);
  assert.ok(Math.abs((await grantAt(in2100)) - in2100) < 60_000);
  // Also on the day of the epoch, and before it.
  for (const wallMs of [Date.now(), 0, -1e15]) {
    assert.ok(Math.abs((await grantAt(wallMs)) - in2100) < 60_000);
    await slot.tenure.checkpointed();
    slot = await slot.restart(clocks);
  }
  assert.ok(Math.abs((await grantAt(in2100 + 3_600_000)) - in2100 - 3_600_000) < 60_000);
  // A year whose stamps would be no safe integers.
  await grantAt(Date.UTC(2300, 0, 1));
  slot = await slot.restart(clocks);
  await grantAt(Date.now());
  await slot.tenure.checkpointed();
  slot = await slot.restart(clocks);
  await assertIncreasing(memory, slot.tenure.lastSeq);
  assert.equal(await slot.check(await slot.handle(tenantId), tuple('user:a', 'doc:2')), true);
});

test('a zombie that applies its entries once more changes nothing', async () => {
  const memory = await createMemoryStore();
  const former = await OpenSlot.open(memory);
  const tenantId = await former.createTenant();
  const handle = await former.handle(tenantId);
  former.faults.turn('hold', ['writeState', 'writeCheckpoint']);
  await former.grant(handle, tuple('user:a', 'doc:1'));
  const heir = await OpenSlot.open(memory);
  const again = await heir.handle(tenantId);
  await heir.revoke(again, tuple('user:a', 'doc:1'));
  await heir.tenure.checkpointed();
  const checkpoint = await memory.readCheckpoint(SLOT, soon());
  former.faults.restore(['writeState', 'writeCheckpoint']);
  await former.tenure.checkpointed();
  assert.deepEqual(await memory.readCheckpoint(SLOT, soon()), checkpoint);
  assert.equal(await memory.readGrant(tenantId, 'user:a', 'viewer', 'doc:1', soon()), undefined);
  assert.equal(await heir.check(again, tuple('user:a', 'doc:1')), false);
});
