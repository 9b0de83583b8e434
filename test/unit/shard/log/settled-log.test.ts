// A successor that is told where its previous owner has left the log: it serves reads from there at once, writes only
// once the log has an entry of its own, and nothing if the log says otherwise.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeEntry, LogUnreadableError } from '../../../../src/shard/log/entries.ts';
import type { SettledLog } from '../../../../src/shard/shard.ts';
import { WRITE_BEHIND } from '../../../kit/store/faulty-store.ts';
import { createMemoryStore, ids, OpenSlot, SLOT, soon, tuple, turns, waitFor } from '../tools.ts';

const RELEASE = { limitMs: 1000, flush: false };
const TUPLE = tuple('user:a', 'doc:1');

/** A slot that its owner has released, some of whose entries the state tables lack, and the successor's claim. */
async function handOver() {
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  await slot.tenure.checkpointed();
  slot.faults.turn('fail-before', WRITE_BEHIND);
  await slot.grant(handle, TUPLE);
  const settled = (await slot.tenure.release(RELEASE)) ?? assert.fail('nothing was in doubt');
  const { lastSeq, epoch } = slot.tenure;
  slot.kill();
  const heir = await OpenSlot.claim(memory);
  return { memory, tenantId, settled, lastSeq, epoch, heir };
}

/** The previous owner's entry behind that end, or that of one before it. */
const appendBehind = (memory: Awaited<ReturnType<typeof createMemoryStore>>, seq: number, epoch: number) => {
  const body = encodeEntry({ base: 1, elapsedMs: 0 }, []);
  return memory.append({ slot: SLOT, seq, epoch, entryId: ids.create('ent'), body }, soon());
};

test('reads are answered before the log has an entry of the successor, writes after it', async () => {
  const { tenantId, settled, lastSeq, heir } = await handOver();
  assert.equal(settled.lastSeq, lastSeq);
  heir.faults.turn('hold', ['append']);
  await heir.tenure.open(undefined, settled);
  const handle = await heir.handle(tenantId);
  assert.equal(await heir.check(handle, TUPLE), true);
  const written = heir.grant(handle, tuple('user:b', 'doc:1'));
  await turns(20);
  assert.equal(heir.faults.heldCalls(), 1);
  assert.equal(heir.tenure.lastSeq, lastSeq);
  heir.faults.restore(['append']);
  await written;
  assert.equal(heir.tenure.lastSeq, lastSeq + 2);
  const [fence] = await heir.memory.readRecords(SLOT, lastSeq + 1, 1, soon());
  assert.equal(fence?.epoch, heir.tenure.epoch);
});

test('nothing is said of the log while the outcome of an append is not known', async () => {
  const slot = await OpenSlot.open(await createMemoryStore());
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  slot.faults.turn('hold', ['append']);
  const written = slot.grant(handle, TUPLE).catch(() => 'not told');
  await turns(10);
  assert.equal(await slot.tenure.release({ limitMs: 20, flush: false }), undefined);
  slot.faults.restore(['append']);
  assert.equal(await written, 'not told');
});

test('a log that ends before the place where it was left is refused', async () => {
  const { settled, heir } = await handOver();
  const later: SettledLog = { ...settled, lastSeq: settled.lastSeq + 1 };
  await assert.rejects(heir.tenure.open(undefined, later), LogUnreadableError);
  assert.equal(heir.tenure.state, 'ended');
});

test('an entry of the previous owner behind that end ends the successor', async () => {
  const { memory, settled, lastSeq, epoch, heir } = await handOver();
  await appendBehind(memory, lastSeq + 1, epoch);
  await heir.tenure.open(undefined, settled);
  await waitFor(() => heir.tenure.state === 'ended');
});

test('an entry of an earlier owner behind that end is skipped, as by everybody', async () => {
  const { memory, tenantId, settled, lastSeq, epoch, heir } = await handOver();
  await appendBehind(memory, lastSeq + 1, epoch - 1);
  await heir.tenure.open(undefined, settled);
  const handle = await heir.handle(tenantId);
  await heir.grant(handle, tuple('user:b', 'doc:1'));
  assert.equal(heir.tenure.lastSeq, lastSeq + 3);
  assert.equal(await heir.check(handle, TUPLE), true);
});
