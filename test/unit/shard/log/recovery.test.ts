// What a new owner finds in the log and the state tables is what was acknowledged; a log that cannot be trusted is
// refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TenantId } from '../../../../src/core/ids.ts';
import { decodeEntry, encodeEntry, encodeOperation, LogUnreadableError } from '../../../../src/shard/log/entries.ts';
import { readSlotState } from '../../../../src/shard/log/recovery.ts';
import { ShardFailure } from '../../../../src/shard/shard.ts';
import type { LogRecord } from '../../../../src/store/store.ts';
import { WRITE_BEHIND } from '../../../kit/store/faulty-store.ts';
import type { MemoryStore } from '../../../kit/store/memory-store.ts';
import { readAll } from '../../../kit/store/read-all.ts';
import {
  createMemoryStore,
  ids,
  OpenSlot,
  openSlot,
  SEGMENT_SIZE,
  SLOT,
  soon,
  tuple,
  turns,
  waitFor,
} from '../tools.ts';

const TUPLE = tuple('user:a', 'doc:1');

/** The log as if some of its entries had been lost. */
function loseEntries(memory: MemoryStore, lost: (record: LogRecord) => boolean): void {
  const readRecords = memory.readRecords.bind(memory);
  const readRecord = memory.readRecord.bind(memory);
  memory.readRecords = async (slot, fromSeq, limit, deadline) =>
    (await readRecords(slot, fromSeq, SEGMENT_SIZE, deadline)).filter((record) => !lost(record)).slice(0, limit);
  memory.readRecord = async (slot, seq, deadline) => {
    const record = await readRecord(slot, seq, deadline);
    return record === undefined || lost(record) ? undefined : record;
  };
}

/** A slot with some entries, none of which the state tables hold. */
async function writeUnapplied(grants: number) {
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory);
  slot.faults.turn('fail-before', WRITE_BEHIND);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  for (let index = 1; index <= grants; index += 1) await slot.grant(handle, tuple('user:a', `doc:${index}`));
  return { memory, slot, tenantId, handle };
}

async function assertRefuses(memory: MemoryStore, message: RegExp): Promise<void> {
  const slot = await OpenSlot.claim(memory);
  await assert.rejects(slot.tenure.open(), (error: unknown) => {
    assert.ok(error instanceof LogUnreadableError);
    assert.match(error.message, message);
    return true;
  });
  assert.equal(slot.tenure.state, 'ended');
  slot.kill();
}

for (const fault of ['fail-before', 'fail-after', 'hold'] as const) {
  test(`everything acknowledged is there after a kill with write-behind at ${fault}`, async () => {
    const { slot, tenantId, handle } = await openSlot();
    await slot.grant(handle, TUPLE);
    await slot.tenure.checkpointed();
    slot.faults.turn(fault, WRITE_BEHIND);
    await slot.revoke(handle, TUPLE);
    for (let index = 2; index < 30; index += 1) await slot.grant(handle, tuple('user:a', `doc:${index}`));
    await slot.connection.createNamespace(handle, { requestId: 'req_ns', expiresAtMs: soon() }, 'team');
    const key = await slot.createKey(handle, tenantId);
    const heir = await slot.restart();
    const again = await heir.handle(tenantId);
    assert.equal(await heir.check(again, TUPLE), false);
    for (let index = 2; index < 30; index += 1) {
      assert.equal(await heir.check(again, tuple('user:a', `doc:${index}`)), true);
    }
    assert.deepEqual(
      (await heir.connection.listNamespaces(again)).map(({ name }) => name),
      ['doc', 'team', 'user'],
    );
    assert.equal((await heir.front.authenticate(key)).keyId, key.keyId);
  });
}

for (const [where, lost] of [
  ['within a segment', 5],
  ['at the end of a segment', SEGMENT_SIZE - 1],
] as const) {
  test(`a gap in the log is refused: ${where}`, async () => {
    const { memory, slot } = await writeUnapplied(12);
    slot.kill();
    loseEntries(memory, ({ seq }) => seq === lost);
    await assertRefuses(memory, new RegExp(`gap: seq ${lost} is missing`));
  });
}

test('a gap behind the checkpoint ends the tenure before it has decided a write', async () => {
  const { memory, slot } = await writeUnapplied(12);
  slot.faults.restore(WRITE_BEHIND);
  await slot.tenure.checkpointed();
  slot.kill();
  loseEntries(memory, ({ seq }) => seq === 4);
  const heir = await OpenSlot.open(memory);
  const end = heir.tenure.lastSeq;
  await assert.rejects(heir.createTenant(), ShardFailure);
  await waitFor(() => heir.lost.length > 0);
  assert.match(heir.lost[0] ?? '', /lacks entries between seq \d+ and \d+/);
  assert.equal(heir.tenure.state, 'ended');
  assert.equal(await memory.readRecord(SLOT, end + 1, soon()), undefined);
});

test('a log that ends before its recorded open entry is refused', async () => {
  const { memory, slot } = await writeUnapplied(3);
  const heir = await slot.restart();
  // Otherwise the checkpoint would name the entry too.
  heir.faults.turn('fail-before', ['writeCheckpoint']);
  const opened = heir.tenure.lastSeq;
  await waitFor(async () => (await memory.readSlot(SLOT, soon()))?.opened === opened);
  heir.kill();
  loseEntries(memory, ({ seq }) => seq >= opened);
  await assertRefuses(
    memory,
    new RegExp(`ends at seq ${opened - 1}, but an owner has recorded an entry at seq ${opened}`),
  );
});

test('a state that was read before its entry of the log was trimmed is read again', async () => {
  const { memory, slot, tenantId, handle } = await openSlot();
  let grants = 0;
  const grantOne = async (): Promise<void> => {
    grants += 1;
    await slot.grant(handle, tuple('user:a', `doc:${grants}`));
    await slot.tenure.checkpointed();
  };
  // Its checkpoint is the last entry of a segment, which is then trimmed: the log goes on behind it without a gap.
  do await grantOne();
  while ((slot.tenure.checkpointSeq + 1) % SEGMENT_SIZE !== 0);
  const earlier = await readSlotState({ store: memory, clock: slot.clock }, SLOT);
  await grantOne();
  const { owner, epoch } = slot.tenure;
  const first = earlier.checkpoint.seq + 1;
  await memory.recordFirst({ slot: SLOT, owner, epoch, first }, soon());
  for (let segment = 0; segment < first / SEGMENT_SIZE; segment += 1) await memory.removeSegment(SLOT, segment, soon());
  slot.kill();
  const heir = await OpenSlot.claim(memory);
  await heir.tenure.open(Promise.resolve(earlier));
  assert.equal(await heir.check(await heir.handle(tenantId), tuple('user:a', `doc:${grants}`)), true);
});

test('a log that was trimmed beyond the checkpoint is refused', async () => {
  const { memory, slot } = await writeUnapplied(12);
  const { owner, epoch } = slot.tenure;
  await memory.recordFirst({ slot: SLOT, owner, epoch, first: SEGMENT_SIZE }, soon());
  slot.kill();
  await assertRefuses(memory, /begins at seq 8, but the state tables contain it only up to seq 0/);
});

for (const { name, body, message } of [
  {
    name: 'of an unknown format',
    body: '{"format":2,"base":1,"elapsedMs":0,"operations":[]}',
    message: /has format 2/,
  },
  { name: 'that is not JSON', body: '{"format":1,', message: /is not JSON/ },
  { name: 'of another shape', body: '{"format":1,"base":1}', message: /is not well-formed/ },
]) {
  test(`an entry ${name} is refused, never skipped`, async () => {
    const { memory, slot } = await writeUnapplied(1);
    const { epoch, lastSeq } = slot.tenure;
    await memory.append({ slot: SLOT, seq: lastSeq + 1, epoch, entryId: ids.create('ent'), body }, soon());
    slot.kill();
    await assertRefuses(memory, message);
  });
}

test('a store that fails while a slot is opened ends the tenure, and the next claim opens it', async () => {
  const { memory, slot, tenantId } = await writeUnapplied(10);
  slot.kill();
  for (const operation of ['readCheckpoint', 'listTenants', 'readRecords'] as const) {
    const failing = await OpenSlot.claim(memory);
    failing.faults.turn('fail-before', [operation]);
    await assert.rejects(failing.tenure.open());
    assert.equal(failing.tenure.state, 'ended');
    failing.kill();
  }
  const heir = await OpenSlot.open(memory);
  assert.equal(await heir.check(await heir.handle(tenantId), tuple('user:a', 'doc:10')), true);
});

test('a slot is served once its open entry is stored, and its row records that while no checkpoint does', async () => {
  const { memory, slot, tenantId } = await writeUnapplied(2);
  slot.kill();
  const before = (await memory.readSlot(SLOT, soon()))?.opened;
  const heir = await OpenSlot.claim(memory);
  heir.faults.turn('fail-before', ['recordOpened', 'writeCheckpoint']);
  await heir.tenure.open();
  assert.equal(await heir.check(await heir.handle(tenantId), tuple('user:a', 'doc:2')), true);
  const opened = heir.tenure.lastSeq;
  assert.equal((await memory.readSlot(SLOT, soon()))?.opened, before);
  await waitFor(() => heir.faults.calls('recordOpened') > 1);
  assert.equal((await memory.readSlot(SLOT, soon()))?.opened, before);
  heir.faults.restore(['recordOpened']);
  await waitFor(async () => (await memory.readSlot(SLOT, soon()))?.opened === opened);
});

test('an open entry of unknown outcome is repeated until it is stored', async () => {
  const { memory, slot, tenantId } = await writeUnapplied(2);
  slot.kill();
  for (const fault of ['fail-before', 'fail-after'] as const) {
    const heir = await OpenSlot.open(memory, {
      hooks: { fault: (operation, call) => (operation === 'append' && call <= 2 ? { kind: fault } : undefined) },
    });
    assert.equal(await heir.check(await heir.handle(tenantId), tuple('user:a', 'doc:2')), true);
    heir.kill();
  }
});

test('a large log is replayed in slices between other work, before and after the checkpoint', async () => {
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory);
  const tenantId = await slot.createTenant();
  const { epoch, lastSeq } = slot.tenure;
  slot.kill();
  const base = Date.now() * 1000 + 1_000_000;
  const operationsOf = (entry: number) =>
    Array.from({ length: 500 }, (_, index) =>
      encodeOperation({
        tenantId,
        actor: 'operator:test',
        requestId: `req_${entry}_${index}`,
        index: 0,
        atMs: Date.now(),
        changes: [
          {
            kind: 'grant-created' as const,
            grant: { ...tuple(`user:${index}`, `doc:${entry}`), grantId: ids.create('grt'), createdAtMs: 1 },
            newSubject: entry === 1,
          },
        ],
      }),
    );
  for (let entry = 1; entry <= 60; entry += 1) {
    const body = encodeEntry({ base: base + entry * 1000, elapsedMs: entry }, operationsOf(entry));
    await memory.append({ slot: SLOT, seq: lastSeq + entry, epoch, entryId: ids.create('ent'), body }, soon());
  }
  // What one entry costs here, so that a slow machine is no failure; in processor time, so that a busy one is none.
  const processorMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  const record = await memory.readRecord(SLOT, lastSeq + 60, soon());
  assert.ok(record !== undefined);
  const decodingMs = processorMs();
  for (let time = 0; time < 5; time += 1) decodeEntry(record);
  const entryMs = (processorMs() - decodingMs) / 5;
  for (const part of ['replayed', 'restored']) {
    let watching = true;
    let count = 0;
    const watch = (): void => {
      count += 1;
      if (watching) setImmediate(watch);
    };
    setImmediate(watch);
    const startMs = processorMs();
    const heir = await OpenSlot.open(memory);
    while (!heir.tenure.restored) await turns(1);
    watching = false;
    const sliceMs = (processorMs() - startMs) / count;
    assert.ok(sliceMs < 3 * (10 + entryMs), `${part}: ${sliceMs} ms between turns`);
    const again = await heir.handle(tenantId);
    assert.equal(await heir.check(again, tuple('user:499', 'doc:60')), true);
    const by = { requestId: 'req_60_3', expiresAtMs: soon() };
    assert.equal((await heir.grant(again, tuple('user:3', 'doc:60'), by)).kind, 'created');
    await heir.tenure.checkpointed();
    heir.kill();
  }
});

test('state after kills at any moment equals state without one', async () => {
  const dump = async (memory: MemoryStore, slot: OpenSlot, tenantId: TenantId, handle: number) => {
    await slot.tenure.checkpointed();
    const grants = await readAll((cursor) => slot.operator.exportGrants(handle, { limit: 7, cursor }));
    const subjects = await readAll((cursor) => slot.operator.listSubjects(handle, { limit: 3, cursor }));
    const namespaces = await slot.connection.listNamespaces(handle);
    const auditLog = await readAll((cursor) => slot.operator.listAuditLog({ tenantId, limit: 5, cursor }));
    return {
      grants: grants.map(({ subject, relation, object }) => `${subject} ${relation} ${object}`),
      subjects,
      namespaces: namespaces.map(({ name }) => name),
      auditLog: auditLog.map(({ change }) => change.replace(/"grant_id":"[^"]*"/, '')),
      tenants: (await memory.listTenants({ slot: SLOT, limit: 10 }, soon())).map(
        ({ plan, state }) => `${plan} ${state}`,
      ),
    };
  };
  const run = async (killAfter: (step: number) => boolean) => {
    const memory = await createMemoryStore();
    let slot = await OpenSlot.open(memory);
    const tenantId = await slot.createTenant();
    let handle = await slot.handle(tenantId);
    for (let step = 0; step < 60; step += 1) {
      if (step % 20 === 5) slot.faults.turn('fail-before', WRITE_BEHIND);
      if (step % 20 === 15) slot.faults.restore(WRITE_BEHIND);
      const at = tuple(`user:${step % 7}`, `doc:${(step * 5) % 11}`);
      if (step % 3 === 2) await slot.revoke(handle, at);
      else await slot.grant(handle, at);
      if (!killAfter(step)) continue;
      slot = await slot.restart();
      handle = await slot.handle(tenantId);
    }
    slot.faults.restore(WRITE_BEHIND);
    const state = await dump(memory, slot, tenantId, handle);
    slot.kill();
    return state;
  };
  const expected = await run(() => false);
  assert.ok(expected.grants.length > 5);
  assert.deepEqual(await run((step) => step % 4 === 0), expected);
  assert.deepEqual(await run((step) => step % 7 === 6), expected);
});
