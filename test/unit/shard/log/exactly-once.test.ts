// A repeat of a write with the same request id and index gets the first answer, from any owner.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeEntry } from '../../../../src/shard/log/entries.ts';
import { rebuildWindow } from '../../../../src/shard/log/recovery.ts';
import { delayedStore } from '../../../kit/store/faulty-store.ts';
import {
  attempt,
  createMemoryStore,
  ids,
  OpenSlot,
  openSlot,
  real,
  SEGMENT_SIZE,
  SLOT,
  settled,
  soon,
  tuple,
  turns,
  waitFor,
} from '../tools.ts';

const TUPLE = tuple('user:a', 'doc:1');

test('while operation ids are being restored checks are answered, and a repeat waits for its first answer', async () => {
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory);
  const tenantId = await slot.createTenant();
  const by = attempt();
  const created = await slot.grant(await slot.handle(tenantId), TUPLE, by);
  await slot.tenure.checkpointed();
  let opened = false;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const heir = await slot.restart({
    hooks: {
      fault: (operation) => {
        if (operation === 'append') opened = true;
        return operation === 'readRecords' && opened ? { kind: 'delay', until: () => released } : undefined;
      },
    },
  });
  assert.equal(heir.tenure.restored, false);
  const handle = await heir.handle(tenantId);
  assert.equal(await heir.check(handle, TUPLE), true);
  const repeat = heir.grant(handle, TUPLE, by);
  const other = heir.grant(handle, tuple('user:b', 'doc:2'));
  assert.equal(await settled(repeat), false);
  assert.equal(await settled(other), false);
  release();
  assert.deepEqual(await repeat, created);
  assert.equal((await other).kind, 'created');
});

test('a repeat while the first is in flight, and after its commit, gets its result', async () => {
  const { slot, handle } = await openSlot();
  slot.faults.turn('hold', ['append']);
  const by = attempt();
  const first = slot.grant(handle, TUPLE, by);
  await waitFor(() => slot.faults.heldCalls() === 1);
  const second = slot.grant(handle, TUPLE, by);
  assert.equal(await settled(second), false);
  slot.faults.restore(['append']);
  const result = await first;
  assert.equal(result.kind, 'created');
  assert.deepEqual(await second, result);
  assert.deepEqual(await slot.grant(handle, TUPLE, by), result);
  // Another request finds what stands.
  assert.equal((await slot.grant(handle, TUPLE)).kind, 'exists');
  const revocation = attempt();
  assert.equal((await slot.revoke(handle, TUPLE, revocation)).kind, 'revoked');
  assert.equal((await slot.revoke(handle, TUPLE, revocation)).kind, 'revoked');
  assert.equal((await slot.revoke(handle, TUPLE)).kind, 'not-found');
  // The first grant's repeat still says created, and grants nothing.
  assert.deepEqual(await slot.grant(handle, TUPLE, by), result);
  assert.equal(await slot.check(handle, TUPLE), false);
});

for (const { name, checkpointed } of [
  { name: 'from what it replays', checkpointed: false },
  { name: 'from behind the checkpoint, across segments', checkpointed: true },
]) {
  test(`a new owner gives a repeat the first answer, ${name}`, async () => {
    const { slot, tenantId, handle } = await openSlot();
    if (!checkpointed) slot.faults.turn('fail-before', ['writeState', 'writeCheckpoint']);
    const granted = attempt();
    const created = await slot.grant(handle, TUPLE, granted);
    const revoked = attempt();
    await slot.revoke(handle, TUPLE, revoked);
    const namespace = attempt();
    const made = await slot.connection.createNamespace(handle, namespace, 'team');
    for (let index = 0; index < 3 * SEGMENT_SIZE; index += 1) await slot.grant(handle, tuple('user:b', `doc:${index}`));
    if (checkpointed) await slot.tenure.checkpointed();
    assert.equal(slot.tenure.checkpointSeq === slot.tenure.lastSeq, checkpointed);

    const heir = await slot.restart();
    const again = await heir.handle(tenantId);
    assert.deepEqual(await heir.grant(again, TUPLE, granted), created);
    assert.deepEqual(await heir.revoke(again, TUPLE, revoked), { kind: 'revoked' });
    assert.deepEqual(await heir.connection.createNamespace(again, namespace, 'team'), made);
    assert.equal(await heir.check(again, TUPLE), false);
    assert.equal((await heir.revoke(again, TUPLE)).kind, 'not-found');
  });
}

test('each write of a call is its own operation', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const by = attempt();
  const writes = [
    { ...TUPLE, revoke: false },
    { ...TUPLE, revoke: true },
    { ...TUPLE, revoke: false },
    { ...TUPLE, revoke: false },
  ];
  const results = await slot.connection.writeGrants(handle, by, writes);
  assert.deepEqual(
    results.map(({ kind }) => kind),
    ['created', 'revoked', 'created', 'exists'],
  );
  const ids = results.map((result) => ('grantId' in result ? result.grantId : undefined));
  assert.notEqual(ids[0], ids[2], 'a grant made again has a new id');
  assert.equal(ids[2], ids[3]);
  assert.deepEqual(await slot.connection.writeGrants(handle, by, writes), results);
  const heir = await slot.restart();
  const repeated = await heir.connection.writeGrants(await heir.handle(tenantId), by, writes);
  assert.deepEqual(repeated.slice(0, 3), results.slice(0, 3));
});

test('keys and tenants are also created once', async () => {
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory);
  const by = attempt();
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  const key = await slot.createKey(handle, tenantId);
  await slot.connection.revokeKey(handle, by, key.keyId);
  await slot.connection.revokeKey(handle, by, key.keyId);
  await assert.rejects(slot.connection.revokeKey(handle, attempt(), key.keyId), { code: 'key-not-found' });
  const change = { tenantId, name: undefined, plan: 'scale', state: undefined, operator: 'test' } as const;
  const update = attempt();
  const updated = await slot.operator.updateTenant(update, change);
  await slot.operator.updateTenant(attempt(), { ...change, plan: 'free' });
  const heir = await slot.restart();
  assert.deepEqual(await heir.operator.updateTenant(update, change), updated);
  assert.equal((await heir.operator.readTenant({ tenantId })).plan, 'free');
  await heir.connection.revokeKey(await heir.handle(tenantId), by, key.keyId);
});

test('an attempt that arrives after its expiry changes nothing', async () => {
  const { slot, handle } = await openSlot();
  const late = { ...attempt(), expiresAtMs: performance.now() - 1 };
  await assert.rejects(slot.grant(handle, TUPLE, late), { kind: 'expired' });
  assert.equal(await slot.check(handle, TUPLE), false);
  // Of a write that was decided in time the answer stands, however late it is asked for.
  const by = attempt();
  const result = await slot.grant(handle, TUPLE, by);
  assert.deepEqual(await slot.grant(handle, TUPLE, { ...by, expiresAtMs: performance.now() - 1 }), result);
});

test('an attempt that expires while it waits for its turn changes nothing', async () => {
  let aheadMs = 0;
  const { slot, handle } = await openSlot({ aheadMs: () => aheadMs });
  slot.faults.turn('hold', ['append']);
  const first = slot.grant(handle, tuple('user:b', 'doc:1'));
  await waitFor(() => slot.faults.heldCalls() === 1);
  const by = { ...slot.attempt(), expiresAtMs: slot.clock.monotonicMs() + 1000 };
  const waiting = slot.grant(handle, TUPLE, by);
  await turns(2);
  aheadMs = 1000;
  slot.faults.restore(['append']);
  await first;
  await assert.rejects(waiting, { kind: 'expired' });
  assert.equal(await slot.check(handle, TUPLE), false);
});

const YEAR_MS = 365 * 24 * 3_600_000;

for (const { name, jumpMs, heirJumpMs } of [
  { name: 'is set ahead by a year while it writes', jumpMs: YEAR_MS, heirJumpMs: YEAR_MS },
  { name: 'was a year ahead, and is not with the next', jumpMs: YEAR_MS, heirJumpMs: 0 },
  { name: 'is behind that of the next by 2 h 20 min', jumpMs: 0, heirJumpMs: 140 * 60_000 },
  { name: 'is behind that of the next by a century', jumpMs: 0, heirJumpMs: 100 * YEAR_MS },
]) {
  test(`no repeat is done again where the wall clock of the owner ${name}`, async () => {
    const memory = await createMemoryStore();
    let offMs = 0;
    let slot = await OpenSlot.open(memory, { wallMs: () => Date.now() + offMs });
    const tenantId = await slot.createTenant();
    const handle = await slot.handle(tenantId);
    const by = attempt();
    const created = await slot.grant(handle, TUPLE, by);
    await slot.revoke(handle, TUPLE);
    offMs = jumpMs;
    for (let index = 0; index < 3 * SEGMENT_SIZE; index += 1) await slot.grant(handle, tuple('user:b', `doc:${index}`));
    await slot.tenure.checkpointed();
    // The second one takes the slot over from one that had hardly begun, and has left a checkpoint all the same.
    for (let owner = 1; owner <= 2; owner += 1) {
      slot = await slot.restart({ wallMs: () => Date.now() + heirJumpMs });
      const again = await slot.handle(tenantId);
      assert.deepEqual(await slot.grant(again, TUPLE, by), created, `owner ${owner}`);
      assert.equal(await slot.check(again, TUPLE), false, 'a revoked grant stays revoked');
      await slot.grant(again, tuple('user:c', `doc:${owner}`));
      await slot.tenure.checkpointed();
    }
  });
}

test('nothing of an idle slot is read back, and the last seconds of a busy one', async () => {
  const memory = await createMemoryStore();
  let passedMs = 0;
  const clocks = { aheadMs: () => passedMs };
  let slot = await OpenSlot.open(memory, clocks);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  for (let index = 0; index < 5 * SEGMENT_SIZE; index += 1) await slot.grant(handle, tuple('user:b', `doc:${index}`));
  passedMs += 20_000;
  const by = slot.attempt();
  const created = await slot.grant(handle, TUPLE, by);
  await slot.tenure.checkpointed();
  const busy = await memory.readCheckpoint(SLOT, soon());
  assert.deepEqual([busy?.seq, busy?.windowFrom], [slot.tenure.lastSeq, slot.tenure.lastSeq]);
  const readFrom = memory.readRecords.bind(memory);
  let least = Number.POSITIVE_INFINITY;
  memory.readRecords = (slotNumber, fromSeq, limit, deadline) => {
    least = Math.min(least, fromSeq);
    return readFrom(slotNumber, fromSeq, limit, deadline);
  };
  slot = await slot.restart(clocks);
  assert.deepEqual(await slot.grant(await slot.handle(tenantId), TUPLE, { ...by, expiresAtMs: soon() }), created);
  assert.equal(least, busy?.seq);
  passedMs += 20_000;
  await slot.tenure.checkpointed();
  const rested = await memory.readCheckpoint(SLOT, soon());
  assert.deepEqual([rested?.seq, rested?.windowFrom], [slot.tenure.lastSeq, slot.tenure.lastSeq + 1]);
  slot = await slot.restart(clocks);
  await waitFor(() => slot.tenure.restored);
  assert.equal(slot.faults.calls('readRecords'), 2, 'the end of the log alone');
});

/** How many entries of a log are read back, each in how many reads. */
async function countRestored(
  entries: readonly { readonly epoch: number; readonly elapsedMs: number; readonly baseMs: number }[],
  windowFrom = 1,
): Promise<{ entries: number; reads: number; from: number }> {
  const memory = await createMemoryStore();
  for (const [index, { epoch, elapsedMs, baseMs }] of entries.entries()) {
    const base = (Date.now() + baseMs) * 1000;
    const body = encodeEntry({ base, elapsedMs }, []);
    await memory.append({ slot: SLOT, seq: index + 1, epoch, entryId: ids.create('ent'), body }, soon());
  }
  let count = 0;
  const { store, faults } = delayedStore(memory, real);
  const ports = {
    store,
    clock: real,
    segmentSize: SEGMENT_SIZE,
    operationsKeptMs: 20_000,
    restore: () => {
      count += 1;
      return () => {};
    },
    over: () => false,
  };
  const from = await rebuildWindow(ports, SLOT, { windowFrom, checkpointSeq: entries.length });
  return { entries: count, reads: faults.calls('readRecords'), from };
}

test('no more of the log is read back than can be repeated', async () => {
  const seconds = Array.from({ length: 60 }, (_, index) => ({ epoch: 1, elapsedMs: index * 1000, baseMs: index }));
  const lastSeconds = await countRestored(seconds);
  assert.ok(lastSeconds.entries >= 20 && lastSeconds.entries < 40, `${lastSeconds.entries} entries`);
  assert.equal(lastSeconds.from, 60 - lastSeconds.entries + 1);
  assert.deepEqual(await countRestored(seconds, 58), { entries: 3, reads: 2, from: 58 });
  assert.deepEqual(await countRestored(seconds, 61), { entries: 0, reads: 0, from: 61 });
  // A log at rest before, which no checkpoint says.
  const rested = [
    { epoch: 1, elapsedMs: 0, baseMs: 0 },
    { epoch: 1, elapsedMs: 1000, baseMs: 1000 },
    { epoch: 1, elapsedMs: 60_000, baseMs: 60_000 },
  ];
  assert.deepEqual(await countRestored(rested), { entries: 3, reads: 2, from: 1 });
  assert.equal((await countRestored([...seconds, ...rested.map((each) => ({ ...each, epoch: 2 }))])).from, 61);
});

test('only wall clocks measure the time between two epochs, and they do not decide what can be repeated', async () => {
  const epochs = Array.from({ length: 200 }, (_, index) => ({
    epoch: index + 1,
    elapsedMs: 0,
    baseMs: index * YEAR_MS,
  }));
  assert.equal((await countRestored(epochs.slice(0, 50))).entries, 50);
  // The owners of many short epochs hand on where the window begins.
  assert.deepEqual(await countRestored(epochs, 199), { entries: 2, reads: 2, from: 199 });
});

test('the log is read back and replayed about a mebibyte at a time, and nothing is read back before there is capacity', async () => {
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory);
  const { epoch, lastSeq } = slot.tenure;
  slot.kill();
  const base = Date.now() * 1000 + 1_000_000;
  for (let entry = 1; entry <= 40; entry += 1) {
    // What a reader does not know it leaves out.
    const time = encodeEntry({ base: base + entry * 1000, elapsedMs: entry }, []);
    const body = `${time.slice(0, -1)},"more":"${'x'.repeat(400_000)}"}`;
    await memory.append({ slot: SLOT, seq: lastSeq + entry, epoch, entryId: ids.create('ent'), body }, soon());
  }
  const reads: number[] = [];
  const readRecords = memory.readRecords.bind(memory);
  memory.readRecords = async (...query) => {
    const records = await readRecords(...query);
    reads.push(records.reduce((sum, { body }) => sum + body.length, 0));
    return records;
  };
  let rooms = 0;
  const ports = {
    store: memory,
    clock: real,
    segmentSize: SEGMENT_SIZE,
    operationsKeptMs: 20_000,
    restore: () => () => {},
    waitForCapacity: async () => {
      rooms += 1;
      assert.equal(reads.length, rooms - 1);
    },
    over: () => false,
  };
  const checkpointSeq = lastSeq + 40;
  await rebuildWindow(ports, SLOT, { windowFrom: 1, checkpointSeq });
  assert.equal(rooms, reads.length);
  assert.ok(rooms >= 20 && Math.max(...reads) <= 1024 * 1024, `${reads}`);
  // A replay begins with a few records, since most logs have none; only these may be more than a mebibyte.
  reads.length = 0;
  const heir = await OpenSlot.open(memory);
  await waitFor(() => heir.tenure.restored);
  const large = reads.filter((bytes) => bytes > 1024 * 1024);
  assert.ok(large.length <= 1 && Math.max(...reads) <= 8 * 400_200, `${reads}`);
});

test('a write that changed nothing still changes nothing when an earlier attempt of it arrives late', async () => {
  const { slot, handle } = await openSlot();
  await slot.grant(handle, TUPLE);
  const again = attempt();
  assert.equal((await slot.grant(handle, TUPLE, again)).kind, 'exists');
  const absent = attempt();
  assert.equal((await slot.revoke(handle, tuple('user:b', 'doc:2'), absent)).kind, 'not-found');
  const refused = attempt();
  await assert.rejects(slot.connection.revokeKey(handle, refused, ids.create('key')), { code: 'key-not-found' });
  await slot.revoke(handle, TUPLE);
  await slot.grant(handle, tuple('user:b', 'doc:2'));
  assert.equal((await slot.grant(handle, TUPLE, again)).kind, 'exists');
  assert.equal((await slot.revoke(handle, tuple('user:b', 'doc:2'), absent)).kind, 'not-found');
  await assert.rejects(slot.connection.revokeKey(handle, refused, ids.create('key')), { code: 'key-not-found' });
  assert.equal(await slot.check(handle, TUPLE), false);
  assert.equal(await slot.check(handle, tuple('user:b', 'doc:2')), true);
});
