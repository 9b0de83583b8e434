// An append whose outcome is unknown is resolved, never passed on: the write is neither lost nor doubled, and its
// answer is the right one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeEntry } from '../../../../src/shard/log/entries.ts';
import type { LogRecord } from '../../../../src/store/store.ts';
import type { Fault, StoreHooks } from '../../../kit/store/faulty-store.ts';
import type { MemoryStore } from '../../../kit/store/memory-store.ts';
import { createMemoryStore, OpenSlot, SEGMENT_SIZE, SLOT, settled, soon, tuple, waitFor } from '../tools.ts';

const TUPLE = tuple('user:a', 'doc:1');

async function readLog(memory: MemoryStore): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for (let segment = 0; segment < 20; segment += 1) {
    const from = Math.max(1, segment * SEGMENT_SIZE);
    records.push(...(await memory.readRecords(SLOT, from, SEGMENT_SIZE, soon())));
  }
  return records;
}

/** Opens a slot whose appends, from the third on (the tenant's creation is the second), fail as specified. */
async function openFaulty(faultOf: (append: number) => Fault | undefined, more: StoreHooks['fault'] = () => undefined) {
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory, {
    hooks: {
      fault: (operation, call) => (operation === 'append' ? faultOf(call - 2) : more(operation, call)),
    },
  });
  const tenantId = await slot.createTenant();
  return { memory, slot, tenantId, handle: await slot.handle(tenantId) };
}

async function assertGrantedOnce(memory: MemoryStore): Promise<void> {
  const granted = (await readLog(memory)).filter((record) =>
    decodeEntry(record).operations.some(({ changes }) => changes.some(({ kind }) => kind === 'grant-created')),
  );
  assert.equal(granted.length, 1);
}

for (const { name, fault } of [
  { name: 'fails before it is applied', fault: { kind: 'fail-before' } },
  { name: 'fails after it was applied', fault: { kind: 'fail-after' } },
  { name: 'fails and is applied a moment later', fault: { kind: 'apply-late', until: () => Promise.resolve() } },
] satisfies { name: string; fault: Fault }[]) {
  test(`a write whose append ${name} is created, once`, async () => {
    const { memory, slot, handle, tenantId } = await openFaulty((append) =>
      append >= 1 && append <= 3 ? fault : undefined,
    );
    assert.equal((await slot.grant(handle, TUPLE)).kind, 'created');
    assert.equal(await slot.check(handle, TUPLE), true);
    await assertGrantedOnce(memory);
    const heir = await slot.restart();
    assert.equal(await heir.check(await heir.handle(tenantId), TUPLE), true);
  });
}

test('a failing read-back decides nothing: the same record is repeated until it is known to be stored', async () => {
  const seen: string[] = [];
  const { memory, slot, handle } = await openFaulty(
    (append) => (append >= 1 && append <= 3 ? { kind: 'fail-after' } : undefined),
    (operation, call) => (operation === 'readRecord' && call <= 3 ? { kind: 'fail-before' } : undefined),
  );
  const append = slot.memory.append.bind(slot.memory);
  slot.memory.append = (record, deadline) => {
    seen.push(`${record.seq} ${record.entryId} ${record.body}`);
    return append(record, deadline);
  };
  assert.equal((await slot.grant(handle, TUPLE)).kind, 'created');
  assert.equal(seen.length, 4);
  assert.equal(new Set(seen).size, 1, 'it is the very same record');
  await assertGrantedOnce(memory);
});

test('a write that is applied long after its repeat was stored collides with itself', async () => {
  const { promise: late, resolve: apply } = Promise.withResolvers<void>();
  const { memory, slot, handle } = await openFaulty((append) =>
    append === 1 ? { kind: 'apply-late', until: () => late } : undefined,
  );
  assert.equal((await slot.grant(handle, TUPLE)).kind, 'created');
  assert.equal((await slot.revoke(handle, TUPLE)).kind, 'revoked');
  apply();
  await slot.grant(handle, tuple('user:a', 'doc:2'));
  assert.equal(await slot.check(handle, TUPLE), false);
  const seqs = (await readLog(memory)).map(({ seq }) => seq);
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => index + 1),
  );
});

test('a write is answered only when its append is decided; until then no reader sees it', async () => {
  const { slot, handle } = await openFaulty(() => undefined);
  slot.faults.turn('fail-before', ['append', 'readRecord']);
  const write = slot.grant(handle, TUPLE);
  assert.equal(await settled(write), false);
  assert.equal(await slot.check(handle, TUPLE), false);
  slot.faults.restore(['append', 'readRecord']);
  assert.equal((await write).kind, 'created');
  assert.equal(await slot.check(handle, TUPLE), true);
});

test('a record that was applied for a killed owner without a response is visible to its successor or absent', async () => {
  for (const fault of ['fail-before', 'fail-after'] as const) {
    const { memory, slot, handle, tenantId } = await openFaulty(() => undefined);
    slot.faults.turn(fault, ['append']);
    slot.faults.turn('fail-before', ['readRecord']);
    const requests = slot.faults.calls('append');
    void slot.connection
      .writeGrants(handle, { requestId: 'req_1', expiresAtMs: soon() }, [
        { ...TUPLE, revoke: false },
        { ...tuple('user:b', 'doc:2'), revoke: false },
      ])
      .catch(() => {});
    await waitFor(() => slot.faults.calls('append') > requests);
    const heir = await slot.restart();
    const again = await heir.handle(tenantId);
    const both = [await heir.check(again, TUPLE), await heir.check(again, tuple('user:b', 'doc:2'))];
    assert.deepEqual(both, fault === 'fail-after' ? [true, true] : [false, false]);
    const repeated = await heir.grant(again, TUPLE, { requestId: 'req_1', expiresAtMs: soon() });
    assert.equal(repeated.kind, 'created');
    await assertGrantedOnce(memory);
    heir.kill();
  }
});
