// Handles live and die with their key, their tenant and their tenure; nobody gets in with anything else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILT_IN_PLANS, resolvePlan } from '../../../../src/core/plans.ts';
import { HandleBudget, HandleTable } from '../../../../src/shard/peers/handles.ts';
import {
  attempt,
  createMemoryStore,
  ids,
  OpenSlot,
  settled,
  soon,
  tuple,
  turns,
  WITHOUT_FILTER,
  waitFor,
} from '../tools.ts';

const TUPLE = tuple('user:a', 'doc:1');

async function openSlot(wallMs?: () => number) {
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory, { pageLimits: WITHOUT_FILTER, ...(wallMs === undefined ? {} : { wallMs }) });
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  return { memory, slot, tenantId, handle };
}

test('revoking a key ends its handles at once, on every connection, and those of no other key', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const key = await slot.createKey(handle, tenantId);
  const other = await slot.createKey(handle, tenantId);
  const first = await slot.front.authenticate(key);
  const second = await slot.connection.authenticate(key);
  const kept = await slot.front.authenticate(other);
  await slot.check(handle, TUPLE);
  await slot.connection.revokeKey(handle, attempt(), key.keyId);
  assert.throws(() => slot.front.check(first.handle, 'user:a', 6, 'doc:1'), { kind: 'handle-unknown' });
  assert.throws(() => slot.connection.check(second.handle, 'user:a', 6, 'doc:1'), { kind: 'handle-unknown' });
  await assert.rejects(slot.front.confirm(first.handle), { kind: 'handle-unknown' });
  await assert.rejects(slot.front.authenticate(key), { code: 'unauthorized' });
  assert.equal(slot.front.check(kept.handle, 'user:a', 6, 'doc:1'), false);
});

for (const ending of ['the key is revoked', 'the tenant is suspended'] as const) {
  for (const place of ['behind the entry', 'in the same entry'] as const) {
    test(`a write that queued when ${ending} does not come after it, ${place}; one that queued before stands`, async () => {
      const { slot, tenantId, handle } = await openSlot();
      const key = await slot.createKey(handle, tenantId);
      const granted = await slot.front.authenticate(key);
      await slot.check(handle, TUPLE);
      const grantUnder = (object: string) =>
        slot.front.writeGrants(granted.handle, attempt(), [{ ...tuple('user:a', object), revoke: false }]);
      // With nothing in flight the ending is appended at once; behind a write of the operator's, it waits with the
      // others.
      if (place === 'behind the entry') await grantUnder('doc:1');
      slot.faults.turn('hold', ['append']);
      const waiting: Promise<unknown>[] = [];
      if (place === 'in the same entry') {
        waiting.push(slot.grant(handle, tuple('user:b', 'doc:1')));
        await waitFor(() => slot.faults.heldCalls() === 1);
        waiting.push(grantUnder('doc:1'));
        await turns(5);
      }
      const ended =
        ending === 'the key is revoked'
          ? slot.connection.revokeKey(handle, attempt(), key.keyId)
          : slot.update({ tenantId, state: 'suspended' });
      await turns(5);
      assert.equal(slot.faults.heldCalls(), 1);
      const refused = assert.rejects(grantUnder('doc:2'), { kind: 'handle-unknown' });
      await turns(5);
      slot.batches.length = 0;
      slot.faults.restore(['append']);
      await Promise.all([...waiting, ended]);
      await refused;
      assert.deepEqual(slot.batches, place === 'in the same entry' ? [1, 2] : [1]);
      const read = await slot.handle(tenantId);
      assert.equal(await slot.check(read, tuple('user:a', 'doc:1')), true);
      assert.equal(await slot.check(read, tuple('user:a', 'doc:2')), false);
    });
  }
}

const LATE_WRITES: Readonly<Record<string, (slot: OpenSlot, handle: number) => Promise<unknown>>> = {
  'a bulk write': (slot, handle) =>
    slot.front.writeBulk(handle, slot.attempt(), { grants: [TUPLE], revocations: [], preconditions: [] }),
  'a revocation by a filter': (slot, handle) =>
    slot.front.revokeGrants(handle, slot.attempt(), { of: { subject: 'user:b' }, relation: undefined }),
  'a new namespace': (slot, handle) => slot.front.createNamespace(handle, slot.attempt(), 'late'),
};

for (const [what, write] of Object.entries(LATE_WRITES)) {
  test(`${what} that is decided behind the revocation of its key does nothing`, async () => {
    const { slot, tenantId, handle } = await openSlot();
    const key = await slot.createKey(handle, tenantId);
    const bound = (await slot.front.authenticate(key)).handle;
    const [, late] = await slot.inOneEntry(
      () => slot.grant(handle, tuple('user:b', 'doc:1')),
      () => slot.connection.revokeKey(handle, slot.attempt(), key.keyId),
      () => write(slot, bound),
    );
    await assert.rejects(late, { kind: 'handle-unknown' });
    assert.equal(await slot.check(handle, TUPLE), false);
    assert.equal(await slot.check(handle, tuple('user:b', 'doc:1')), true);
    assert.equal((await slot.connection.listNamespaces(handle)).length, 2);
  });
}

test('a key that is revoked while it authenticates gets no good handle', async () => {
  const { memory, slot: first, tenantId, handle } = await openSlot();
  const key = await first.createKey(handle, tenantId);
  await first.tenure.checkpointed();
  const slot = await first.restart();
  slot.faults.turn('hold', ['listKeys']);
  const authenticating = slot.front.authenticate(key);
  const revoking = slot.connection.revokeKey(await slot.handle(tenantId), attempt(), key.keyId);
  await waitFor(() => slot.faults.heldCalls() === 1);
  slot.faults.restore(['listKeys']);
  await revoking;
  const outcome = await authenticating
    .then(
      (granted) => slot.front.confirm(granted.handle),
      (error: unknown) => Promise.reject(error),
    )
    .catch((error: unknown) => error);
  assert.ok(outcome instanceof Error);
  assert.equal((await memory.listKeys({ tenantId, limit: 10 }, soon())).keys.length, 1, 'write-behind comes later');
});

test('a handle ends with its key at expires_at', async () => {
  let wall = Date.now();
  const { slot, tenantId, handle } = await openSlot(() => wall);
  const key = await slot.createKey(handle, tenantId, wall + 1000);
  const granted = await slot.front.authenticate(key);
  assert.equal(granted.expiresAtMs, wall + 1000);
  await slot.front.confirm(granted.handle);
  wall += 999;
  await slot.front.confirm(granted.handle);
  wall += 1;
  // Whoever presents the key again is answered once the log says so.
  await assert.rejects(slot.front.confirm(granted.handle), { kind: 'handle-unknown' });
  await assert.rejects(slot.front.authenticate(key), { code: 'unauthorized' });
  await assert.rejects(slot.front.confirm(granted.handle), { kind: 'handle-unknown' });
});

const HOUR_MS = 3_600_000;

test('a key that was refused as expired stays so, whatever the clocks say: of its owner, after a restart, of the next', async () => {
  const startMs = Date.UTC(2026, 10, 1);
  let wall = startMs;
  const { memory, slot, tenantId, handle } = await openSlot(() => wall);
  const key = await slot.createKey(handle, tenantId, startMs + HOUR_MS / 2);
  const other = await slot.createKey(handle, tenantId, startMs + HOUR_MS / 2);
  const rotated = await slot.createKey(handle, tenantId, startMs + HOUR_MS / 2);
  const before = await slot.front.authenticate(other);
  const refused = { code: 'unauthorized' };
  wall += HOUR_MS;
  slot.faults.turn('hold', ['append']);
  const refusal = slot.front.authenticate(key);
  assert.ok(!(await settled(refusal)), 'the log has to say so first');
  // Nobody who has another text makes the log longer.
  await assert.rejects(slot.front.authenticate({ ...key, key: 'wrong' }), refused);
  slot.faults.restore(['append']);
  await assert.rejects(refusal, refused);
  assert.ok(slot.tenure.slotTime.loggedMs >= startMs + HOUR_MS);
  for (const owner of [slot, await slot.restart({ wallMs: () => wall })]) {
    wall = startMs;
    await assert.rejects(owner.front.authenticate(key), refused);
    await assert.rejects(owner.front.authenticate(other), refused);
  }
  assert.throws(() => slot.front.check(before.handle, 'user:a', 6, 'doc:1'), { kind: 'handle-unknown' });
  // So does a key of which a rotation was told that it has expired.
  const next = await OpenSlot.open(memory, { wallMs: () => wall });
  const operator = await next.handle(tenantId);
  wall = startMs + HOUR_MS;
  const rotation = { keyId: rotated.keyId, newKeyId: ids.create('key'), hash: 'x', graceMs: 1 };
  await assert.rejects(next.operator.rotateKey(operator, next.attempt(), rotation), { code: 'key-not-rotatable' });
  wall = startMs;
  await assert.rejects(next.front.authenticate(rotated), refused);
});

test('a suspension refuses from the moment it is acknowledged; a resumption lets in again', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const key = await slot.createKey(handle, tenantId);
  const granted = await slot.front.authenticate(key);
  await slot.update({ tenantId, state: 'suspended' });
  await assert.rejects(slot.front.confirm(granted.handle), { kind: 'handle-unknown' });
  const suspended = await slot.front.authenticate(key);
  assert.equal(suspended.suspended, true);
  await assert.rejects(slot.front.confirm(suspended.handle), { code: 'tenant-suspended' });
  assert.throws(() => slot.front.check(suspended.handle, 'user:a', 6, 'doc:1'), { code: 'tenant-suspended' });
  // The operator still sees it.
  assert.equal(await slot.check(await slot.handle(tenantId), TUPLE), false);
  await slot.update({ tenantId, state: 'active' });
  await assert.rejects(slot.front.confirm(suspended.handle), { kind: 'handle-unknown' });
  await slot.front.confirm((await slot.front.authenticate(key)).handle);
});

test('a change of plan is told once, and ends no handle', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const key = await slot.createKey(handle, tenantId);
  const granted = await slot.front.authenticate(key);
  assert.equal(granted.plan, 'unlimited');
  let told = 0;
  slot.front.watchSettings(() => {
    told += 1;
  });
  await slot.update({ tenantId, plan: 'scale' });
  await slot.front.confirm(granted.handle);
  const settings = { tenantId, plan: 'scale', readers: 0 };
  assert.deepEqual([told, slot.front.takeSettings(10), slot.front.takeSettings(10)], [1, [settings], []]);
  assert.deepEqual(slot.front.settingsOf(granted.handle), settings);
  assert.equal((await slot.front.authenticate(key)).handle, granted.handle);
  await slot.update({ tenantId, plan: 'scale', name: 'Renamed' });
  assert.deepEqual([told, slot.connection.takeSettings(10)], [1, []], 'nothing to tell, and nobody else to tell it');
});

test('a change of plan beside a change of state ends the handles', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const key = await slot.createKey(handle, tenantId);
  for (const [state, plan] of [
    ['suspended', 'scale'],
    ['active', 'free'],
    ['deleting', 'scale'],
  ] as const) {
    const granted = await slot.front.authenticate(key);
    await slot.update({ tenantId, state, plan });
    await assert.rejects(slot.front.confirm(granted.handle), { kind: 'handle-unknown' });
    assert.equal(slot.front.settingsOf(granted.handle), undefined);
  }
});

test('the number of readers is that of the plan until the operator sets another, and is told', async () => {
  const free = { ...resolvePlan(BUILT_IN_PLANS, 'free'), readers: 2 };
  const plans = new Map([...BUILT_IN_PLANS, ['free', free] as const]);
  const slot = await OpenSlot.open(await createMemoryStore(), { plans });
  const tenantId = await slot.createTenant('free');
  const key = await slot.createKey(await slot.handle(tenantId), tenantId);
  const granted = await slot.front.authenticate(key);
  assert.equal(granted.readers, 2);
  for (const [readers, told] of [
    [5, 5],
    [0, 0],
    [null, 2],
  ] as const) {
    await slot.update({ tenantId, readers });
    assert.deepEqual(slot.front.takeSettings(10), [{ tenantId, plan: 'free', readers: told }]);
    await slot.update({ tenantId, readers });
    assert.deepEqual(slot.front.takeSettings(10), []);
    assert.equal((await slot.front.authenticate(key)).handle, granted.handle);
  }
});

test('a key has one number on a connection, which no other key gets, and which means nothing on another', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const key = await slot.createKey(handle, tenantId);
  const first = await slot.front.authenticate(key);
  assert.equal((await slot.front.authenticate(key)).handle, first.handle);
  const second = await slot.front.authenticate(await slot.createKey(handle, tenantId));
  assert.ok(second.handle > first.handle);
  assert.throws(() => slot.connection.check(second.handle + 1000, 'user:a', 6, 'doc:1'), { kind: 'handle-unknown' });
  slot.front.close();
  await assert.rejects(slot.front.confirm(second.handle), { kind: 'handle-unknown' });
  // Who authenticated while the connection closed gets nothing that would be kept for ever.
  await assert.rejects(slot.front.authenticate(key), { kind: 'handle-unknown' });
});

test('a wrong key, the stored hash of the right one, an unknown key and an unknown tenant are unauthorized, at the cost of one load at most', async () => {
  const { slot: first, tenantId, handle } = await openSlot();
  const key = await first.createKey(handle, tenantId);
  await first.tenure.checkpointed();
  const slot = await first.restart();
  const claims = [
    { ...key, key: `${key.key}.` },
    { ...key, key: '' },
    { ...key, key: key.hash },
    { ...key, keyId: ids.create('key') },
    { ...key, tenantId: ids.create('ten') },
    { ...key, tenantId: 'ten_nonsense' },
    { ...key, keyId: 'nonsense' },
  ];
  await Promise.all(
    [...claims, ...claims, ...claims].map((claim) =>
      assert.rejects(slot.front.authenticate(claim), { code: 'unauthorized' }),
    ),
  );
  assert.equal(slot.faults.calls('listKeys'), 1);
  await slot.front.authenticate(key);
  assert.equal(slot.faults.calls('listKeys'), 1);
});

test('a key that cannot be verified now is not called invalid', async () => {
  const { slot: first, tenantId, handle } = await openSlot();
  const key = await first.createKey(handle, tenantId);
  await first.tenure.checkpointed();
  const slot = await first.restart();
  slot.faults.turn('fail-before', ['listKeys']);
  await assert.rejects(slot.front.authenticate(key), { kind: 'not-serving' });
  slot.faults.restore(['listKeys']);
  await slot.front.authenticate(key);
});

test("tenants do not see each other's grants, namespaces, keys or pages", async () => {
  const { slot, tenantId, handle } = await openSlot();
  const otherId = await slot.createTenant();
  const other = await slot.handle(otherId);
  await slot.grant(handle, TUPLE);
  const key = await slot.createKey(handle, tenantId);
  assert.equal(await slot.check(other, TUPLE), false);
  assert.equal((await slot.revoke(other, TUPLE)).kind, 'not-found');
  assert.deepEqual(await slot.connection.listNamespaces(other), []);
  assert.deepEqual((await slot.connection.listKeys(other, { limit: 10, cursor: undefined })).items, []);
  await assert.rejects(slot.connection.revokeKey(other, attempt(), key.keyId), { code: 'key-not-found' });
  await assert.rejects(slot.front.authenticate({ ...key, tenantId: otherId }), { code: 'unauthorized' });
  assert.equal(await slot.check(handle, TUPLE), true);
  assert.equal(await settled(turns(1)), true);
});

test('a connection with many handles is closed at once and worked off in several steps', async () => {
  const { slot, tenantId } = await openSlot();
  const memory = slot.tenure.tenants.get(tenantId);
  assert.ok(memory !== undefined);
  const table = new HandleTable(slot.clock, () => 0);
  const of = { tenure: slot.tenure, memory, keyId: '', use: undefined, expiresAtMs: undefined };
  const numbers = Array.from({ length: 12_000 }, (_, index) => table.issue({ ...of, actor: `${index}` }, 7).handle);
  let ended = 0;
  const removeHandle = memory.removeHandle.bind(memory);
  memory.removeHandle = (handle) => {
    ended += 1;
    removeHandle(handle);
  };
  table.close();
  assert.ok(ended <= 5000, `${ended} ended in one step`);
  assert.throws(() => table.use(numbers.at(-1) ?? 0, 0), { kind: 'handle-unknown' });
  await waitFor(() => ended === 12_000);
});

test('the handles of all connections are bounded: beyond, the connection with the most loses its oldest', async () => {
  const { slot, tenantId } = await openSlot();
  const memory = slot.tenure.tenants.get(tenantId);
  assert.ok(memory !== undefined);
  const budget = new HandleBudget(100);
  const of = { tenure: slot.tenure, memory, keyId: '', use: undefined, expiresAtMs: undefined };
  const open = () => {
    const table = new HandleTable(slot.clock, () => 0, budget);
    return { table, issue: (actor: string) => table.issue({ ...of, actor }, 7).handle };
  };
  const [modest, greedy] = [open(), open()];
  const few = Array.from({ length: 20 }, (_, index) => modest.issue(`${index}`));
  const many = Array.from({ length: 1000 }, (_, index) => greedy.issue(`${index}`));
  assert.deepEqual([modest.table.size, greedy.table.size], [20, 80]);
  for (const id of few) assert.ok(modest.table.use(id));
  assert.throws(() => greedy.table.use(many.at(-81) ?? 0), { kind: 'handle-unknown' });
  assert.ok(greedy.table.use(many.at(-80) ?? 0));
  // The same keys again take no more.
  for (let index = 920; index < 1000; index += 1) assert.equal(greedy.issue(`${index}`), many[index]);
  greedy.table.close();
  const next = open();
  for (let index = 0; index < 80; index += 1) next.issue(`${index}`);
  assert.deepEqual([modest.table.size, next.table.size], [20, 80], 'a closed connection has given its places back');
  slot.tenure.end('the test ends it');
  const last = open();
  assert.deepEqual([modest.table.size, next.table.size, last.table.size], [0, 0, 0]);
});

test('a key that has changed gets a new number, and its old one ends', async () => {
  const { slot, tenantId } = await openSlot();
  const memory = slot.tenure.tenants.get(tenantId);
  assert.ok(memory !== undefined);
  const table = new HandleTable(slot.clock, () => 0);
  const of = { tenure: slot.tenure, memory, keyId: '', actor: 'test', use: undefined, expiresAtMs: undefined };
  const { handle } = table.issue(of, 7);
  const changed = table.issue({ ...of, expiresAtMs: 1e15 }, 7).handle;
  assert.notEqual(changed, handle);
  assert.equal(table.size, 1);
  assert.throws(() => table.use(handle), { kind: 'handle-unknown' });
  assert.ok(table.use(changed));
});

test('a connection keeps nothing of a tenure that has ended, nor of a key that was revoked', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const memory = slot.tenure.tenants.get(tenantId);
  assert.ok(memory !== undefined);
  const { keyId } = await slot.createKey(handle, tenantId);
  const table = new HandleTable(slot.clock, () => 0);
  const of = { tenure: slot.tenure, memory, use: undefined, expiresAtMs: undefined };
  for (let count = 0; count < 100; count += 1) {
    table.issue({ ...of, actor: `${count}`, keyId: count % 2 === 0 ? keyId : '' }, 7);
  }
  await slot.connection.revokeKey(handle, attempt(), keyId);
  assert.equal(table.size, 50);
  slot.tenure.end('the test ends it');
  assert.equal(table.size, 0);
});
