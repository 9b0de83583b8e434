// What was read ahead of the log by a plain read saves the serial ones, and decides nothing: what such a read has
// missed is found, and a log that cannot be trusted is refused as without it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { readSlotState } from '../../../../src/shard/log/recovery.ts';
import { disposeState } from '../../../../src/shard/ownership/state-reads-ahead.ts';
import type { LogRecord } from '../../../../src/store/store.ts';
import { WRITE_BEHIND } from '../../../kit/store/faulty-store.ts';
import type { MemoryStore } from '../../../kit/store/memory-store.ts';
import { createMemoryStore, OpenSlot, SEGMENT_SIZE, SLOT, tuple } from '../tools.ts';

const GRANTS = 4;
const objects = (count: number): string[] => Array.from({ length: count }, (_, index) => `doc:${index + 1}`);

/** A slot whose state tables hold the tenant, and none of its grants. */
async function writeUnapplied(grants = GRANTS) {
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  await slot.tenure.checkpointed();
  slot.faults.turn('fail-before', WRITE_BEHIND);
  for (const object of objects(grants)) await slot.grant(handle, tuple('user:a', object));
  return { memory, slot, tenantId, handle };
}

/** What plain reads of the log show. */
function showTail(memory: MemoryStore, shown: (records: readonly LogRecord[]) => readonly LogRecord[]): void {
  const readTail = memory.readTail.bind(memory);
  memory.readTail = async (...query) => shown(await readTail(...query));
}

async function openWithTail(memory: MemoryStore): Promise<OpenSlot> {
  const heir = await OpenSlot.claim(memory);
  await heir.tenure.open(readSlotState(heir, SLOT, heir.budget));
  return heir;
}

test('a slot whose log was read ahead is opened without a serial read', async () => {
  const { memory, slot, tenantId } = await writeUnapplied();
  slot.kill();
  const heir = await openWithTail(memory);
  assert.equal(heir.faults.calls('readRecords') + heir.faults.calls('readRecord'), 0);
  assert.deepEqual(await heir.list(await heir.handle(tenantId), 'user:a'), objects(GRANTS));
});

test('a log that ends with a large entry is opened without a serial read, and its bytes are counted', async () => {
  const { memory, slot, tenantId } = await writeUnapplied();
  slot.kill();
  const bytes = 500_000;
  // White space belongs to no value.
  showTail(memory, (records) => [...records.slice(0, -1), ...records.slice(-1).map(padded)]);
  function padded(record: LogRecord): LogRecord {
    return { ...record, body: record.body + ' '.repeat(bytes) };
  }
  const heir = await OpenSlot.claim(memory);
  const before = heir.budget.bytes;
  const state = await readSlotState(heir, SLOT, heir.budget);
  assert.ok(heir.budget.bytes >= before + bytes);
  await heir.tenure.open(Promise.resolve(state));
  assert.equal(heir.faults.calls('readRecords') + heir.faults.calls('readRecord'), 0);
  const handle = await heir.handle(tenantId);
  assert.deepEqual(await heir.list(handle, 'user:a'), objects(GRANTS));
  // Writes wait for the ids of operations in it.
  await heir.grant(handle, tuple('user:b', 'doc:1'));
  assert.ok(heir.budget.bytes < before + bytes);
});

test('what is read of a log is returned if the state of its slot cannot be read, or is not used', async () => {
  const { memory, slot } = await writeUnapplied();
  slot.kill();
  const heir = await OpenSlot.claim(memory);
  const before = heir.budget.bytes;
  const reading = readSlotState(heir, SLOT, heir.budget);
  await reading;
  assert.ok(heir.budget.bytes > before);
  disposeState(reading);
  await setImmediate();
  assert.equal(heir.budget.bytes, before);
  heir.faults.turn('fail-before', ['listTenants']);
  await assert.rejects(readSlotState(heir, SLOT, heir.budget));
  await setImmediate();
  assert.equal(heir.budget.bytes, before);
});

test('of a log that is larger than a mebibyte, or if memory is short, nothing is kept', async () => {
  const { memory, slot } = await writeUnapplied();
  slot.kill();
  const heir = await OpenSlot.claim(memory);
  heir.budget.hold(heir.budget.bytesMax);
  assert.equal((await readSlotState(heir, SLOT, heir.budget)).tail, undefined);
  heir.budget.hold(-heir.budget.bytesMax);
  showTail(memory, (records) => records.map((record) => ({ ...record, body: record.body + ' '.repeat(300_000) })));
  assert.equal((await readSlotState(heir, SLOT, heir.budget)).tail, undefined);
});

for (const [what, shown] of [
  ['nothing', () => []],
  ['not the last records', (records) => records.slice(0, -2)],
  ['not the first record', (records) => records.slice(1)],
  ['a record in the middle missing', (records) => records.filter((_, index) => index !== records.length - 2)],
  ['only records before the checkpoint', (records) => records.slice(0, 1)],
] as const satisfies readonly [string, (records: readonly LogRecord[]) => readonly LogRecord[]][]) {
  test(`every acknowledged write is there although the plain read showed ${what}`, async () => {
    const { memory, slot, tenantId } = await writeUnapplied();
    slot.kill();
    showTail(memory, shown);
    const heir = await openWithTail(memory);
    assert.deepEqual(await heir.list(await heir.handle(tenantId), 'user:a'), objects(GRANTS));
  });
}

test('a log that went on after it was read ahead is recovered to its end', async () => {
  const { memory, slot, tenantId, handle } = await writeUnapplied();
  const state = await readSlotState(slot, SLOT, slot.budget);
  for (const object of ['doc:5', 'doc:6']) await slot.grant(handle, tuple('user:a', object));
  slot.kill();
  const heir = await OpenSlot.claim(memory);
  await heir.tenure.open(Promise.resolve(state));
  assert.deepEqual(await heir.list(await heir.handle(tenantId), 'user:a'), objects(6));
});

test('a log that is longer than what is read ahead is recovered to its end', async () => {
  const grants = 3 * SEGMENT_SIZE;
  const { memory, slot, tenantId } = await writeUnapplied(grants);
  slot.kill();
  const heir = await openWithTail(memory);
  assert.equal((await heir.list(await heir.handle(tenantId), 'user:a')).length, grants);
});

test('a log that cannot be read ahead is read serially', async () => {
  const { memory, slot, tenantId } = await writeUnapplied();
  slot.kill();
  memory.readTail = () => Promise.reject(new Error('The test lets no plain read through.'));
  const heir = await openWithTail(memory);
  assert.deepEqual(await heir.list(await heir.handle(tenantId), 'user:a'), objects(GRANTS));
});

for (const [where, grants] of [
  ['within a segment', GRANTS],
  ['at the end of a segment', SEGMENT_SIZE],
] as const) {
  test(`a gap in the log is refused, although it was read ahead: ${where}`, async () => {
    const { memory, slot } = await writeUnapplied(grants);
    const lost = where === 'within a segment' ? slot.tenure.lastSeq - 1 : SEGMENT_SIZE - 1;
    slot.kill();
    const isKept = ({ seq }: LogRecord): boolean => seq !== lost;
    showTail(memory, (records) => records.filter(isKept));
    const readRecords = memory.readRecords.bind(memory);
    const readRecord = memory.readRecord.bind(memory);
    memory.readRecords = async (...query) => (await readRecords(...query)).filter(isKept);
    memory.readRecord = async (of, seq, deadline) => (seq === lost ? undefined : readRecord(of, seq, deadline));
    await assert.rejects(openWithTail(memory), new RegExp(`gap: seq ${lost} is missing`));
  });
}
