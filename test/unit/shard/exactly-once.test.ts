// A repeat of a write with the same request id and index gets the first answer, whoever answers it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeEntry } from '../../../src/shard/entries.ts';
import { recallTail } from '../../../src/shard/recovery.ts';
import {
  attempt,
  createMemoryStore,
  ids,
  OpenSlot,
  real,
  SEGMENT_SIZE,
  SLOT,
  settled,
  soon,
  tuple,
  turns,
  waitFor,
} from './tools.ts';

const TUPLE = tuple('user:a', 'doc:1');

test('while operation ids are being recalled checks are answered, and a repeat waits for its first answer', async () => {
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory);
  const tenantId = await slot.createTenant();
  const by = attempt();
  const created = await slot.grant(await slot.handle(tenantId), TUPLE, by);
  await slot.tenure.checkpointed();
  let opened = false;
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const heir = await slot.restart({
    hooks: {
      fault: (operation) => {
        if (operation === 'append') opened = true;
        return operation === 'readRecords' && opened ? { kind: 'delay', until: () => released } : undefined;
      },
    },
  });
  assert.equal(heir.tenure.recalled, false);
  const handle = await heir.handle(tenantId);
  assert.equal(await heir.check(handle, TUPLE), true);
  const repeat = heir.grant(handle, TUPLE, by);
  const other = heir.grant(handle, tuple('user:b', 'doc:2'));
  assert.equal(await settled(repeat), false);
  assert.equal(await settled(other), false);
  release();
  assert.deepEqual(await repeat, created);
  assert.equal((await other).kind, 'created');
  heir.kill();
});

test('a repeat while the first is in flight, and after its commit, gets its result', async () => {
  const slot = await OpenSlot.open(await createMemoryStore());
  const handle = await slot.handle(await slot.createTenant());
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
  slot.kill();
});

for (const { name, checkpointed } of [
  { name: 'from what it replays', checkpointed: false },
  { name: 'from behind the checkpoint, across segments', checkpointed: true },
]) {
  test(`a new owner gives a repeat the first answer, ${name}`, async () => {
    const memory = await createMemoryStore();
    const slot = await OpenSlot.open(memory);
    const tenantId = await slot.createTenant();
    const handle = await slot.handle(tenantId);
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
    heir.kill();
  });
}

test('each write of a call is its own operation', async () => {
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
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
  heir.kill();
});

test('keys and tenants are made once, too', async () => {
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
  const updated = await slot.connection.updateTenant(update, change);
  await slot.connection.updateTenant(attempt(), { ...change, plan: 'free' });
  const heir = await slot.restart();
  assert.deepEqual(await heir.connection.updateTenant(update, change), updated);
  assert.equal((await heir.connection.readTenant(tenantId)).plan, 'free');
  await heir.connection.revokeKey(await heir.handle(tenantId), by, key.keyId);
  heir.kill();
});

test('an attempt that arrives after its expiry changes nothing', async () => {
  const slot = await OpenSlot.open(await createMemoryStore());
  const handle = await slot.handle(await slot.createTenant());
  const late = { ...attempt(), expiresAtMs: performance.now() - 1 };
  await assert.rejects(slot.grant(handle, TUPLE, late), { kind: 'expired' });
  assert.equal(await slot.check(handle, TUPLE), false);
  // Of a write that was decided in time the answer stands, however late it is asked for.
  const by = attempt();
  const result = await slot.grant(handle, TUPLE, by);
  assert.deepEqual(await slot.grant(handle, TUPLE, { ...by, expiresAtMs: performance.now() - 1 }), result);
  slot.kill();
});

test('an attempt that expires while it waits for its turn changes nothing', async () => {
  const slot = await OpenSlot.open(await createMemoryStore());
  const handle = await slot.handle(await slot.createTenant());
  slot.faults.turn('hold', ['append']);
  const first = slot.grant(handle, tuple('user:b', 'doc:1'));
  await waitFor(() => slot.faults.heldCalls() === 1);
  const by = attempt(30);
  const waiting = slot.grant(handle, TUPLE, by);
  await turns(2);
  await waitFor(() => performance.now() > by.expiresAtMs);
  slot.faults.restore(['append']);
  await first;
  await assert.rejects(waiting, { kind: 'expired' });
  assert.equal(await slot.check(handle, TUPLE), false);
  slot.kill();
});

test('a wall clock that jumped an hour, before or at the change of owner, shortens no memory', async () => {
  const memory = await createMemoryStore();
  let jumpMs = 0;
  const wallMs = () => Date.now() + jumpMs;
  const slot = await OpenSlot.open(memory, { wallMs });
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  const by = attempt();
  const created = await slot.grant(handle, TUPLE, by);
  jumpMs = 3_600_000;
  for (let index = 0; index < 3 * SEGMENT_SIZE; index += 1) await slot.grant(handle, tuple('user:b', `doc:${index}`));
  await slot.tenure.checkpointed();
  const heir = await slot.restart({ wallMs: () => Date.now() + 2 * 3_600_000 - 60_000 });
  assert.deepEqual(await heir.grant(await heir.handle(tenantId), TUPLE, by), created);
  heir.kill();
});

test('no more of the log is read back than can be repeated', async () => {
  const memory = await createMemoryStore();
  const base = Date.now() * 1000;
  const append = (seq: number, epoch: number, elapsedMs: number, baseMs: number) => {
    const body = encodeEntry({ base: base + baseMs * 1000, elapsedMs }, []);
    return memory.append({ slot: SLOT, seq, epoch, entryId: ids.create('ent'), body }, soon());
  };
  // A second apart, one minute long.
  for (let seq = 1; seq <= 60; seq += 1) await append(seq, 1, seq * 1000, seq * 1000);
  const recalled = async (epoch: number, baseMs: number): Promise<number> => {
    let count = 0;
    const ports = {
      store: memory,
      clock: real,
      segmentSize: SEGMENT_SIZE,
      operationsKeptMs: 20_000,
      recall: () => {
        count += 1;
        return () => {};
      },
      over: () => false,
    };
    const end = { base: base + baseMs * 1000, elapsedMs: 61_000, epoch };
    await recallTail(ports, SLOT, { first: 1, checkpointSeq: 60, end });
    return count;
  };
  const ofThisOwner = await recalled(1, 61_000);
  assert.ok(ofThisOwner >= 20 && ofThisOwner < 60, `${ofThisOwner} entries`);
  // How long the owner before has been gone only wall clocks tell, and they may be an hour off: its last 20 seconds count.
  const ofAnother = await recalled(2, 3_600_000);
  assert.ok(ofAnother >= 20 && ofAnother < 60, `${ofAnother} entries`);
  // A log at rest for longer says so with one entry.
  assert.equal(await recalled(2, 3 * 3_600_000), 1);
});

test('a write that changed nothing changes nothing later either, when an earlier try of it arrives', async () => {
  const slot = await OpenSlot.open(await createMemoryStore());
  const handle = await slot.handle(await slot.createTenant());
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
  slot.kill();
});
