// Obsolete rows are really removed: revoked keys, records of deleted tenants, subjects without a
// grant. And nothing else is, whatever is written meanwhile.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { derivedTenantId } from '../../../../src/core/idempotency-keys.ts';
import type { TenantId } from '../../../../src/core/ids.ts';
import { SUBJECT_BUCKETS } from '../../../../src/core/slots.ts';
import { purgeTenants, trimLog } from '../../../../src/shard/log/maintenance.ts';
import { removeLeftovers } from '../../../../src/shard/log/row-removal.ts';
import type { StateWrite } from '../../../../src/store/store.ts';
import type { MemoryStore } from '../../../kit/store/memory-store.ts';
import { readAll } from '../../../kit/store/read-all.ts';
import { createGrantWrite, createKeyRecord } from '../../../kit/store/store-fixtures.ts';
import {
  createMemoryStore,
  ids,
  OpenSlot,
  portsOf,
  SEGMENT_SIZE,
  SLOT,
  type SlotOptions,
  soon,
  tuple,
  waitFor,
} from '../tools.ts';

const HOUR_MS = 3_600_000;

async function openSlot(options: SlotOptions = {}) {
  const startMs = Date.now();
  const wall = { ms: startMs };
  const clocks = { wallMs: () => wall.ms, aheadMs: () => wall.ms - startMs };
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory, { ...clocks, ...options });
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  return { wall, clocks, memory, slot, tenantId, handle };
}

type Opened = Awaited<ReturnType<typeof openSlot>>;

/** Everything until now is in segments that are old, and they go. */
async function trim({ wall, slot, handle }: Pick<Opened, 'wall' | 'slot' | 'handle'>): Promise<void> {
  // The last segment stays.
  for (let entry = 0; entry <= SEGMENT_SIZE; entry += 1)
    await slot.grant(handle, tuple('user:filler', `doc:${wall.ms}.${entry}`));
  wall.ms += HOUR_MS + 1000;
  await slot.tenure.checkpointed();
  await trimLog(portsOf(slot), slot.tenure);
}

async function subjectRows(memory: MemoryStore, tenantId: TenantId): Promise<string[]> {
  const subjects: string[] = [];
  for (let bucket = 0; bucket < SUBJECT_BUCKETS; bucket += 1) {
    subjects.push(...(await memory.listSubjects({ tenantId, bucket, limit: 10_000 }, soon())));
  }
  return subjects.filter((subject) => subject !== 'user:filler').sort();
}

const keyRows = async (memory: MemoryStore, tenantId: TenantId) =>
  memory.listKeys({ tenantId, limit: 100_000 }, soon());

const tenantRows = async (memory: MemoryStore) =>
  (await memory.listTenants({ slot: SLOT, limit: 10_000 }, soon())).map(({ tenantId }) => tenantId);

test('revoked keys and their uses are removed before the log that revoked them, and the others stay', async () => {
  const opened = await openSlot();
  const { memory, slot, tenantId, handle } = opened;
  const kept = await slot.createKey(handle, tenantId);
  const revoked = await slot.createKey(handle, tenantId);
  for (const { keyId } of [kept, revoked]) await memory.writeKeyUse(tenantId, keyId, 1000, soon());
  await slot.connection.revokeKey(handle, slot.attempt(), revoked.keyId);
  await slot.applied();
  assert.deepEqual((await keyRows(memory, tenantId)).revoked, [revoked.keyId]);
  await trim(opened);
  const { keys, revoked: left } = await keyRows(memory, tenantId);
  assert.deepEqual([keys.map(({ keyId }) => keyId), left], [[kept.keyId], []]);
  assert.equal(memory.keyUsesOf(tenantId), 1);
  await slot.front.authenticate(kept);
  await assert.rejects(slot.front.authenticate(revoked), { code: 'unauthorized' });
  const heir = await slot.restart();
  await heir.front.authenticate(kept);
  await assert.rejects(heir.front.authenticate(revoked), { code: 'unauthorized' });
});

test('a key that its rotation revoked is removed with the log, and one with a later end stays', async () => {
  const opened = await openSlot();
  const { memory, slot, tenantId, handle } = opened;
  const rotate = async (graceMs: number) => {
    const { keyId, hash } = await slot.createKey(handle, tenantId);
    const request = { keyId, newKeyId: ids.create('key'), hash, graceMs };
    return slot.operator.rotateKey(handle, slot.attempt(), request);
  };
  const revoked = await rotate(0);
  const ending = await rotate(3_600_000);
  await slot.applied();
  assert.deepEqual((await keyRows(memory, tenantId)).revoked, [revoked.former.keyId]);
  await trim(opened);
  const { keys, revoked: left } = await keyRows(memory, tenantId);
  assert.deepEqual(left, []);
  assert.deepEqual(
    keys.map(({ keyId }) => keyId),
    [revoked.key.keyId, ending.former.keyId, ending.key.keyId].sort(),
  );
  const former = keys.find(({ keyId }) => keyId === ending.former.keyId);
  assert.equal(former?.expiresAtMs, ending.former.expiresAtMs);
});

test('the record of a deleted tenant is removed before the log that deleted it; its key is 401 and it is not found', async () => {
  const opened = await openSlot();
  const { memory, slot, tenantId } = opened;
  const doomed = await slot.createTenant();
  const key = await slot.createKey(await slot.handle(doomed), doomed);
  await slot.update({ tenantId: doomed, state: 'deleting' });
  await purgeTenants(portsOf(slot), slot.tenure);
  await slot.applied();
  assert.deepEqual((await tenantRows(memory)).toSorted(), [tenantId, doomed].sort());
  await trim(opened);
  assert.deepEqual(await tenantRows(memory), [tenantId]);
  const heir = await slot.restart();
  for (const owner of [slot, heir]) {
    await assert.rejects(owner.front.authenticate(key), { code: 'unauthorized' });
    await assert.rejects(owner.operator.readTenant({ tenantId: doomed }), { code: 'tenant-not-found' });
  }
  // Who deleted it can still be seen.
  const { items } = await heir.operator.listAuditLog({ tenantId: doomed, limit: 10, cursor: undefined });
  assert.match(items.at(-1)?.change ?? '', /"deleted"/);
});

test('the audit log of a removed tenant is found under an id without a time, too', async () => {
  const opened = await openSlot();
  const { memory, slot } = opened;
  const doomed = derivedTenantId('ann', 'a');
  const asked = { tenantId: doomed, name: 'Acme', plan: 'free', operator: 'ann' };
  await slot.operator.createTenant(slot.attempt(), asked);
  await slot.update({ tenantId: doomed, state: 'deleting' });
  await purgeTenants(portsOf(slot), slot.tenure);
  await slot.applied();
  await trim(opened);
  assert.ok(!(await tenantRows(memory)).includes(doomed));
  const { items } = await slot.operator.listAuditLog({ tenantId: doomed, limit: 1, cursor: undefined });
  assert.match(items[0]?.change ?? '', /"tenant.created","name":"Acme"/);
});

test('a tenant that is still being deleted keeps its record', async () => {
  const opened = await openSlot();
  const { memory, slot } = opened;
  const doomed = await slot.createTenant();
  await slot.update({ tenantId: doomed, state: 'deleting' });
  await trim(opened);
  assert.ok((await tenantRows(memory)).includes(doomed));
  const heir = await slot.restart();
  assert.equal((await heir.operator.readTenant({ tenantId: doomed })).state, 'deleting');
});

test('a subject is removed with its last grant, and no earlier', async () => {
  const opened = await openSlot();
  const { memory, slot, tenantId, handle } = opened;
  await slot.grant(handle, tuple('user:none', 'doc:1'));
  await slot.grant(handle, tuple('user:some', 'doc:1'));
  await slot.grant(handle, tuple('user:some', 'doc:2'));
  await slot.grant(handle, tuple('user:again', 'doc:1'));
  for (const subject of ['user:none', 'user:some', 'user:again']) await slot.revoke(handle, tuple(subject, 'doc:1'));
  await slot.grant(handle, tuple('user:again', 'doc:1'));
  await slot.applied();
  assert.deepEqual(await subjectRows(memory, tenantId), ['user:again', 'user:none', 'user:some']);
  await trim(opened);
  assert.deepEqual(await subjectRows(memory, tenantId), ['user:again', 'user:some']);
  await slot.revoke(handle, tuple('user:some', 'doc:2'));
  await trim(opened);
  assert.deepEqual(await subjectRows(memory, tenantId), ['user:again']);
  await slot.grant(handle, tuple('user:none', 'doc:1'));
  await slot.applied();
  assert.deepEqual(await subjectRows(memory, tenantId), ['user:again', 'user:none']);
});

/**
 * Grants something to a subject whose row `remove` is about to remove, when the row and when its grants are looked at.
 */
async function grantMeanwhile(
  { memory, slot, tenantId, handle }: Opened,
  held: 'listGrants' | 'removeTombstones',
  remove: () => Promise<unknown>,
): Promise<void> {
  slot.faults.turn('hold', [held]);
  const removing = remove();
  await waitFor(() => slot.faults.heldCalls() === 1, `a held ${held}`);
  assert.equal((await slot.grant(handle, tuple('user:a', 'doc:2'))).kind, 'created');
  if (held === 'removeTombstones') await slot.applied();
  slot.faults.restore([held]);
  await removing;
  await slot.applied();
  assert.deepEqual(await subjectRows(memory, tenantId), ['user:a']);
  const exported = await readAll((cursor) => slot.operator.exportGrants(handle, { limit: 5, cursor }));
  assert.ok(exported.some(({ subject, object }) => subject === 'user:a' && object === 'doc:2'));
  slot.kill();
}

for (const held of ['listGrants', 'removeTombstones'] as const) {
  test(`a subject that is granted something while the log is trimmed stays listed: ${held}`, async () => {
    const opened = await openSlot();
    const { wall, memory, slot, handle } = opened;
    await slot.grant(handle, tuple('user:a', 'doc:1'));
    await slot.revoke(handle, tuple('user:a', 'doc:1'));
    for (let entry = 0; entry < 2 * SEGMENT_SIZE; entry += 1) {
      await slot.grant(handle, tuple('user:filler', `doc:${entry}`));
    }
    wall.ms += HOUR_MS + 1000;
    await slot.tenure.checkpointed();
    await grantMeanwhile(opened, held, async () => {
      slot.faults.restore([held]);
      // The grants of the segment go first; then its subjects are looked at, and go.
      const removeTombstones = memory.removeTombstones.bind(memory);
      memory.removeTombstones = async (rows, deadline) => {
        await removeTombstones(rows, deadline);
        memory.removeTombstones = removeTombstones;
        slot.faults.turn('hold', [held]);
      };
      await trimLog(portsOf(slot), slot.tenure);
    });
  });

  test(`a subject that is granted something while leftovers are removed stays listed: ${held}`, async () => {
    const opened = await openSlot();
    const { memory, slot, tenantId } = opened;
    await slot.tenure.checkpointed();
    await memory.writeState([{ kind: 'subject', tenantId, subject: 'user:a', stamp: 1000 }], soon());
    slot.tenure.tenants.get(tenantId)?.noteEmpty('user:a');
    // Its page is in memory, so that the grant needs no read that is held.
    await slot.check(opened.handle, tuple('user:a', 'doc:2'));
    await grantMeanwhile(opened, held, () => removeLeftovers(portsOf(slot), slot.tenure));
  });
}

test('leftovers are removed only once no replay of the log can bring them back', async () => {
  const { memory, slot, tenantId, handle } = await openSlot();
  const { keyId } = await slot.createKey(handle, tenantId);
  await slot.connection.revokeKey(handle, slot.attempt(), keyId);
  await slot.applied();
  const memoryOf = slot.tenure.tenants.get(tenantId) ?? assert.fail();
  memoryOf.keySweep = { stamp: undefined, after: undefined };
  slot.faults.turn('fail-before', ['writeCheckpoint']);
  const removing = removeLeftovers(portsOf(slot), slot.tenure);
  const before = slot.faults.calls('writeCheckpoint');
  await waitFor(() => slot.faults.calls('writeCheckpoint') > before + 1);
  assert.equal(slot.faults.calls('removeTombstones'), 0);
  slot.faults.restore(['writeCheckpoint']);
  await removing;
  assert.deepEqual((await keyRows(memory, tenantId)).revoked, []);
  const heir = await slot.restart();
  await heir.tenure.checkpointed();
  assert.deepEqual((await keyRows(memory, tenantId)).revoked, []);
});

test('a subject too large for a page is listed again once it is granted something after its row was removed', async () => {
  const opened = await openSlot({ pageLimits: { rowsMax: 4, rowsPerRead: 2 } });
  const { memory, slot, tenantId, handle } = opened;
  const objects = Array.from({ length: 6 }, (_, index) => `doc:${index}`);
  for (const object of objects) await slot.grant(handle, tuple('user:large', object));
  await slot.applied();
  // Its page is sparse, and stays in memory.
  const heir = await slot.restart({ ...opened.clocks, pageLimits: { rowsMax: 4, rowsPerRead: 2 } });
  const again = await heir.handle(tenantId);
  for (const object of objects) await heir.revoke(again, tuple('user:large', object));
  await trim({ ...opened, slot: heir, handle: again });
  assert.deepEqual(await subjectRows(memory, tenantId), []);
  await heir.grant(again, tuple('user:large', 'doc:3'));
  await heir.applied();
  assert.deepEqual(await subjectRows(memory, tenantId), ['user:large']);
  // What it is granted then is no news.
  const writes = heir.faults.calls('writeState');
  const stored: StateWrite[] = [];
  const writeState = memory.writeState.bind(memory);
  memory.writeState = (rows, deadline) => {
    stored.push(...rows);
    return writeState(rows, deadline);
  };
  await heir.grant(again, tuple('user:large', 'doc:4'));
  await heir.applied();
  assert.ok(heir.faults.calls('writeState') > writes);
  assert.deepEqual(
    stored.filter(({ kind }) => kind === 'subject'),
    [],
  );
});

test('every subject with a grant is listed, whatever is granted, revoked and trimmed, over changes of owner', async () => {
  const subjects = Array.from({ length: 6 }, (_, index) => `user:${index}`);
  const objects = ['doc:1', 'doc:2', 'doc:3'];
  for (let seed = 1; seed <= 12; seed += 1) {
    let state = seed;
    const next = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    const options = { pageLimits: { rowsMax: 4, rowsPerRead: 2 } };
    const opened = await openSlot(options);
    const { wall, clocks, memory, tenantId } = opened;
    let { slot, handle } = opened;
    let trimming: Promise<unknown> = Promise.resolve();
    for (let step = 0; step < 60; step += 1) {
      const writes = Array.from({ length: 1 + next(6) }, () => ({
        ...tuple(subjects[next(subjects.length)] ?? '', objects[next(objects.length)] ?? ''),
        revoke: next(5) < 3,
      }));
      // The hour that passes below does not end them.
      const by = () => ({ ...slot.attempt(), expiresAtMs: slot.clock.monotonicMs() + 2 * HOUR_MS });
      const calls = Array.from({ length: 1 + next(2) }, () => slot.connection.writeGrants(handle, by(), writes));
      if (next(3) === 0) await Promise.all(calls);
      if (next(3) === 0) await slot.tenure.checkpointed();
      if (next(3) === 0) {
        await trimming;
        wall.ms += HOUR_MS + 1000;
        await slot.tenure.checkpointed();
        trimming = trimLog(portsOf(slot), slot.tenure);
      }
      await Promise.all(calls);
      if (next(15) === 0) {
        await trimming;
        slot = await slot.restart({ ...clocks, ...options });
        handle = await slot.handle(tenantId);
      }
    }
    await trimming;
    await slot.applied();
    const held: string[] = [];
    for (const subject of subjects) if ((await slot.list(handle, subject)).length > 0) held.push(subject);
    const listed = await subjectRows(memory, tenantId);
    assert.deepEqual(
      held.filter((subject) => !listed.includes(subject)),
      [],
      `seed ${seed}`,
    );
    slot.kill();
  }
});

/** A tenant with `count` revoked keys, of which the log says nothing any more, and one that lives. */
async function withRevokedKeys(count: number) {
  const { memory, slot, tenantId, handle } = await openSlot();
  const key = await slot.createKey(handle, tenantId);
  const writes = Array.from({ length: count }, (): StateWrite => {
    return { kind: 'key', tenantId, key: createKeyRecord(), tombstone: true, stamp: 1000 };
  });
  await slot.tenure.checkpointed();
  await memory.writeState(writes, soon(60_000));
  const heir = await slot.restart();
  return { memory, tenantId, key, slot: heir };
}

test('each read of keys is bounded for any number of revoked keys, the others are verified in the meantime, and revoked ones are removed', async () => {
  const { memory, tenantId, key, slot } = await withRevokedKeys(3500);
  const read: number[] = [];
  const listKeys = memory.listKeys.bind(memory);
  const { promise: verified, resolve: goOn } = Promise.withResolvers<void>();
  memory.listKeys = async (query, deadline) => {
    if (read.length > 0) await verified;
    const page = await listKeys(query, deadline);
    read.push(page.keys.length + page.revoked.length);
    return page;
  };
  const { handle } = await slot.front.authenticate(key);
  await assert.rejects(slot.front.authenticate({ ...key, keyId: ids.create('key') }), { code: 'unauthorized' });
  await slot.front.confirm(handle);
  assert.deepEqual(read, [1000], 'one page is read by then');
  goOn();
  await waitFor(() => slot.tenure.tenants.get(tenantId)?.keys.size === 1, 'all keys to be read');
  assert.deepEqual(read, [1000, 1000, 1000, 501]);
  const removed: number[] = [];
  const removeTombstones = memory.removeTombstones.bind(memory);
  memory.removeTombstones = (rows, deadline) => {
    removed.push(rows.length);
    return removeTombstones(rows, deadline);
  };
  while (slot.tenure.tenants.get(tenantId)?.keySweep !== undefined) await removeLeftovers(portsOf(slot), slot.tenure);
  assert.equal(
    removed.reduce((sum, rows) => sum + rows, 0),
    3500,
  );
  assert.ok(Math.max(...removed) <= 500, 'no call removes more');
  const heir = await slot.restart();
  read.length = 0;
  await heir.front.authenticate(key);
  assert.deepEqual(read, [1]);
});

test('a key that is revoked while a read skips others gets no valid handle', async () => {
  const { memory, tenantId, key, slot } = await withRevokedKeys(1500);
  const operator = await slot.handle(tenantId);
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const listKeys = memory.listKeys.bind(memory);
  memory.listKeys = async (query, deadline) => {
    if (query.after !== undefined) await arrived;
    return listKeys(query, deadline);
  };
  const readKey = memory.readKey.bind(memory);
  let reads = 0;
  memory.readKey = async (...asked) => {
    const row = await readKey(...asked);
    reads += 1;
    // It was read while it lived, and arrives once it is revoked.
    arrive();
    await slot.connection.revokeKey(operator, slot.attempt(), key.keyId);
    return row;
  };
  await assert.rejects(slot.front.authenticate(key), { code: 'unauthorized' });
  assert.equal(reads, 1);
});

for (const [lookMs, roundsMin] of [
  [100, 2],
  [10_000, 4],
] as const) {
  test(`the removal of leftovers is divided into rounds of at least one step: ${lookMs} ms per step`, async () => {
    const { tenantId, key, slot } = await withRevokedKeys(3500);
    await slot.front.authenticate(key);
    // Every look at the clock takes some of a round's quarter of a second.
    let nowMs = 0;
    const { clock } = slot;
    const slow = {
      store: slot.store,
      clock: {
        wallMs: () => clock.wallMs(),
        idleMs: () => clock.idleMs(),
        setTimer: (run: () => void, delayMs: number) => clock.setTimer(run, delayMs),
        setImmediate: (run: () => void) => clock.setImmediate(run),
        monotonicMs: () => {
          nowMs += lookMs;
          return clock.monotonicMs() + nowMs;
        },
      },
    };
    const places: unknown[] = [];
    while (slot.tenure.tenants.get(tenantId)?.keySweep !== undefined && places.length < 100) {
      await removeLeftovers(slow, slot.tenure);
      places.push(slot.tenure.tenants.get(tenantId)?.keySweep?.after);
    }
    assert.ok(places.length >= roundsMin && places.length < 100, `${places.length} rounds`);
    assert.equal(new Set(places).size, places.length, 'each came further');
  });
}

test('after enough revocations the revoked keys are removed immediately', async () => {
  const { memory, slot, tenantId, handle } = await openSlot();
  const key = await slot.createKey(handle, tenantId);
  for (let index = 0; index < 1000; index += 1) {
    const { keyId } = await slot.createKey(handle, tenantId);
    await slot.connection.revokeKey(handle, slot.attempt(), keyId);
  }
  await slot.applied();
  assert.equal((await keyRows(memory, tenantId)).revoked.length, 1000);
  await removeLeftovers(portsOf(slot), slot.tenure);
  assert.equal((await keyRows(memory, tenantId)).revoked.length, 0);
  await slot.front.authenticate(key);
});

test('a key revoked after the removal has begun is not removed before state holds it', async () => {
  const { memory, slot, tenantId, handle } = await openSlot();
  const [first, second] = [await slot.createKey(handle, tenantId), await slot.createKey(handle, tenantId)];
  await slot.connection.revokeKey(handle, slot.attempt(), first.keyId);
  const memoryOf = slot.tenure.tenants.get(tenantId) ?? assert.fail();
  memoryOf.keySweep = { stamp: undefined, after: undefined };
  slot.faults.turn('hold', ['removeTombstones']);
  const removing = removeLeftovers(portsOf(slot), slot.tenure);
  await waitFor(() => slot.faults.heldCalls() === 1);
  await slot.connection.revokeKey(handle, slot.attempt(), second.keyId);
  await slot.applied();
  slot.faults.restore(['removeTombstones']);
  await removing;
  assert.deepEqual((await keyRows(memory, tenantId)).revoked, [second.keyId]);
});

test('remaining records of deleted tenants are removed once the slot is opened', async () => {
  const { memory, slot, tenantId } = await openSlot();
  const left = Array.from({ length: 1500 }, () => ids.create('ten'));
  const writes = left.map((each): StateWrite => {
    const tenant = { tenantId: each, name: 'tombstone', plan: 'free', state: 'deleted', createdAtMs: 1 } as const;
    return { kind: 'tenant', slot: SLOT, tenant, stamp: 1000 };
  });
  await slot.tenure.checkpointed();
  await memory.writeState(writes, soon());
  const heir = await slot.restart();
  assert.equal(heir.tenure.tenants.size, 1);
  while (heir.tenure.leftovers.deletedTenants !== undefined) await removeLeftovers(portsOf(heir), heir.tenure);
  assert.deepEqual(await tenantRows(memory), [tenantId]);
  const calls = heir.faults.calls('listTenants');
  await removeLeftovers(portsOf(heir), heir.tenure);
  assert.equal(heir.faults.calls('listTenants'), calls, 'nothing is looked for where nothing was found');
});

test('subjects that an export found empty are removed; one with a tombstone or a new grant is not', async () => {
  const { memory, slot, tenantId, handle } = await openSlot();
  const left = ['user:empty', 'user:new', 'user:tombstone'];
  await slot.grant(handle, tuple('user:held', 'doc:1'));
  await slot.tenure.checkpointed();
  await memory.writeState(
    [
      ...left.map((subject): StateWrite => ({ kind: 'subject', tenantId, subject, stamp: 1000 })),
      createGrantWrite(tenantId, { subject: 'user:tombstone', tombstone: true, stamp: 1000 }),
    ],
    soon(),
  );
  const exported = await readAll((cursor) => slot.operator.exportGrants(handle, { limit: 5, cursor }));
  assert.equal(exported.length, 1);
  await slot.grant(handle, tuple('user:new', 'doc:1'));
  await removeLeftovers(portsOf(slot), slot.tenure);
  await slot.applied();
  assert.deepEqual(await subjectRows(memory, tenantId), ['user:held', 'user:new', 'user:tombstone']);
});

test('leftovers whose removal fails are skipped for a while, and found again', async () => {
  const { memory, tenantId, key, slot } = await withRevokedKeys(10);
  await slot.front.authenticate(key);
  slot.faults.turn('fail-before', ['removeTombstones']);
  await assert.rejects(removeLeftovers(portsOf(slot), slot.tenure), { code: 'unavailable' });
  slot.faults.restore(['removeTombstones']);
  await removeLeftovers(portsOf(slot), slot.tenure);
  assert.equal((await keyRows(memory, tenantId)).revoked.length, 10, 'not at once');
  slot.tenure.leftovers.notBeforeMs = 0;
  await removeLeftovers(portsOf(slot), slot.tenure);
  assert.equal((await keyRows(memory, tenantId)).revoked.length, 0);
});
