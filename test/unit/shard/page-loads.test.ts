// Loading pages: once however many wait, never older than a commit, never kept after a failure, within the budget.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columnsOf } from '../../../src/core/tuples.ts';
import { Evictable } from '../../../src/shard/memory-budget.ts';
import { createMemoryStore, OpenSlot, type SlotOptions, settled, soon, tuple, turns, waitFor } from './tools.ts';

class Ballast extends Evictable {
  override evict(): void {}
}

/** A slot whose tenant holds grants in the state tables, and nothing of them in memory. */
async function openCold(options: SlotOptions, grants: readonly (readonly [string, string])[]) {
  const memory = await createMemoryStore();
  const first = await OpenSlot.open(memory);
  const tenantId = await first.createTenant();
  const handle = await first.handle(tenantId);
  for (const [subject, object] of grants) await first.grant(handle, tuple(subject, object));
  await first.tenure.checkpointed();
  const slot = await first.restart(options);
  const tenant = slot.tenure.tenants.get(tenantId);
  assert.ok(tenant !== undefined);
  return { memory, slot, tenantId, tenant, handle: await slot.handle(tenantId) };
}

/** Everything that can go goes: nobody holds a pin any more. */
function assertNoPins(slot: OpenSlot): void {
  for (let round = 0; round < 3; round += 1) {
    const ballast = new Ballast();
    slot.budget.add(ballast, slot.budget.bytesMax);
    slot.budget.remove(ballast);
  }
  assert.equal(slot.budget.bytes, 0);
}

const many = (subject: string, count: number) =>
  Array.from({ length: count }, (_, index) => [subject, `doc:${index}`] as const);

test('a missing page is read once, however many wait for it', async () => {
  const { slot, handle } = await openCold({}, [['user:a', 'doc:1']]);
  slot.faults.turn('hold', ['listGrants']);
  const checks = Array.from({ length: 50 }, () => slot.connection.check(handle, 'user:a', 6, 'doc:1'));
  const bulk = slot.check(handle, tuple('user:a', 'doc:2'));
  const write = slot.grant(handle, tuple('user:a', 'doc:3'));
  await waitFor(() => slot.faults.heldCalls() === 1);
  slot.faults.restore(['listGrants']);
  assert.deepEqual(new Set(await Promise.all(checks)), new Set([true]));
  assert.equal(await bulk, false);
  await write;
  assert.equal(slot.faults.calls('listGrants'), 1);
  assert.equal(slot.connection.check(handle, 'user:a', 6, 'doc:1'), true, 'memory answers at once');
  assertNoPins(slot);
  slot.kill();
});

test('a failed load is told to all who wait, is never a deny, leaves no pin and is not kept', async () => {
  const { slot, handle, tenant } = await openCold({}, [['user:a', 'doc:1']]);
  slot.faults.turn('fail-before', ['listGrants']);
  const calls = [
    async () => slot.connection.check(handle, 'user:a', 6, 'doc:1'),
    () => slot.check(handle, tuple('user:a', 'doc:1')),
    () => slot.connection.checkBulk(handle, columnsOf([tuple('user:b', 'doc:1'), tuple('user:a', 'doc:1')])),
    () => slot.grant(handle, tuple('user:a', 'doc:2')),
    () => slot.revoke(handle, tuple('user:a', 'doc:1')),
    () =>
      slot.connection.listObjects(handle, {
        subject: 'user:a',
        relation: 'viewer',
        namespace: undefined,
        limit: 10,
        cursor: undefined,
      }),
  ];
  for (const call of calls) await assert.rejects(call(), { kind: 'not-serving' });
  assert.equal(tenant.pages.size, 0);
  slot.faults.restore(['listGrants']);
  assert.equal(await slot.check(handle, tuple('user:a', 'doc:1')), true);
  assert.equal(await slot.check(handle, tuple('user:a', 'doc:2')), false);
  assertNoPins(slot);
  slot.kill();
});

test('one failing load among those of a bulk leaves no pin on the others', async () => {
  const { memory, slot, handle } = await openCold({}, [
    ['user:a', 'doc:1'],
    ['user:b', 'doc:1'],
  ]);
  const listGrants = memory.listGrants.bind(memory);
  memory.listGrants = (query, deadline) => listGrants(query, query.subject === 'user:b' ? 0 : deadline);
  const checks = ['user:a', 'user:b', 'user:c'].map((subject) => tuple(subject, 'doc:1'));
  await assert.rejects(slot.connection.checkBulk(handle, columnsOf(checks)), { kind: 'not-serving' });
  await assert.rejects(
    slot.connection.writeGrants(
      handle,
      { requestId: 'req_1', expiresAtMs: soon() },
      checks.map((each) => ({ ...each, revoke: true })),
    ),
    { kind: 'not-serving' },
  );
  assertNoPins(slot);
  memory.listGrants = listGrants;
  assert.deepEqual((await slot.connection.checkBulk(handle, columnsOf(checks))).authorized, [true, true, false]);
  slot.kill();
});

test('a namespace table that cannot be read fails the write and leaves no pin', async () => {
  const { slot, handle } = await openCold({}, [['user:a', 'doc:1']]);
  slot.faults.turn('fail-before', ['listNamespaces']);
  await assert.rejects(slot.grant(handle, tuple('user:a', 'doc:2')), { kind: 'not-serving' });
  await assert.rejects(slot.connection.listNamespaces(handle), { kind: 'not-serving' });
  slot.faults.restore(['listNamespaces']);
  assertNoPins(slot);
  slot.kill();
});

test('a load that began before a commit does not cover it, though the commit was confirmed meanwhile', async () => {
  for (const options of [{}, { subjectRowsMax: 2 }]) {
    const { memory, slot, handle } = await openCold(options, many('user:a', 4));
    // The read is applied at once and its answer comes late: it is old when it arrives.
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    for (const operation of ['listGrants', 'readGrant'] as const) {
      const read = memory[operation].bind(memory) as (...given: readonly unknown[]) => Promise<unknown>;
      Object.assign(memory, {
        [operation]: async (...given: readonly unknown[]) => {
          const answer = await read(...given);
          await held;
          return answer;
        },
      });
    }
    const checks = [
      slot.connection.checkBulk(handle, columnsOf([tuple('user:a', 'doc:1'), tuple('user:a', 'doc:9')])),
      slot.connection.checkBulk(handle, columnsOf([tuple('user:a', 'doc:9'), tuple('user:a', 'doc:1')])),
    ];
    await turns(3);
    // The writes wait for the same load; they commit as soon as they know their page.
    const writes = Promise.all([
      slot.revoke(handle, tuple('user:a', 'doc:1')),
      slot.grant(handle, tuple('user:a', 'doc:9')),
    ]);
    assert.equal(await settled(writes), false);
    release();
    const [revoked, created] = await writes;
    assert.deepEqual([revoked.kind, created.kind], ['revoked', 'created']);
    await Promise.all(checks);
    assert.deepEqual(
      (await slot.connection.checkBulk(handle, columnsOf([tuple('user:a', 'doc:1'), tuple('user:a', 'doc:9')])))
        .authorized,
      [false, true],
    );
    slot.kill();
  }
});

test('a bulk check sees all of a call of writes or nothing of it, though its pages load at different times', async () => {
  const { memory, slot, handle } = await openCold({}, [['user:z', 'doc:1']]);
  const subjects = Array.from({ length: 10 }, (_, index) => `user:${index}`);
  await slot.connection.checkBulk(handle, columnsOf(subjects.slice(0, 5).map((subject) => tuple(subject, 'doc:1'))));
  const listGrants = memory.listGrants.bind(memory);
  let reads = 0;
  memory.listGrants = async (query, deadline) => {
    const answer = await listGrants(query, deadline);
    reads += 1;
    // Each page comes some turns after the one before.
    await turns(reads * 4);
    return answer;
  };
  const tuples = subjects.map((subject) => tuple(subject, 'doc:1'));
  const writing = slot.connection.writeGrants(
    handle,
    { requestId: 'req_1', expiresAtMs: soon() },
    tuples.map((each) => ({ ...each, revoke: false })),
  );
  const seen = new Set<string>();
  let written = false;
  void writing.then(() => {
    written = true;
  });
  while (!written) {
    const { authorized } = await slot.connection.checkBulk(handle, columnsOf(tuples));
    seen.add(String(new Set(authorized).size === 1 ? authorized[0] : 'mixed'));
    await turns(1);
  }
  assert.ok(!seen.has('mixed'));
  assert.deepEqual(new Set((await slot.connection.checkBulk(handle, columnsOf(tuples))).authorized), new Set([true]));
  slot.kill();
});

test('the budget keeps its bound over many subjects, and what was evicted is read again', async () => {
  const grants = Array.from({ length: 200 }, (_, index) => [`user:${index}`, 'doc:1'] as const);
  const { slot, handle } = await openCold({ cacheBytesMax: 10_000 }, grants);
  for (const [subject, object] of grants) assert.equal(await slot.check(handle, tuple(subject, object)), true);
  assert.ok(slot.budget.bytes <= 10_000);
  assert.ok(slot.budget.evictions > 100);
  for (const [subject] of grants) await slot.revoke(handle, tuple(subject, 'doc:1'));
  for (const [subject, object] of grants) assert.equal(await slot.check(handle, tuple(subject, object)), false);
  assert.ok(slot.budget.bytes <= 10_000);
  assertNoPins(slot);
  slot.kill();
});

test('a subject with very many grants is never held whole, and each of its tuples is read once', async () => {
  const { slot, handle, tenant } = await openCold({ subjectRowsMax: 10 }, many('user:a', 30));
  const checks = await Promise.all(
    Array.from({ length: 20 }, () => slot.connection.check(handle, 'user:a', 6, 'doc:7')),
  );
  assert.deepEqual(new Set(checks), new Set([true]));
  assert.equal(slot.faults.calls('readGrant'), 1);
  assert.equal(await slot.connection.check(handle, 'user:a', 6, 'doc:none'), false);
  assert.equal(slot.connection.check(handle, 'user:a', 6, 'doc:none'), false, 'known to be absent');
  for (let index = 0; index < 30; index += 1) {
    assert.equal(await slot.check(handle, tuple('user:a', `doc:${index}`)), true);
  }
  assert.ok((tenant.pages.get('user:a')?.tuples ?? 0) <= 10);
  slot.faults.turn('fail-before', ['readGrant']);
  await assert.rejects(slot.check(handle, tuple('user:a', 'doc:unread')), { kind: 'not-serving' });
  slot.faults.restore(['readGrant']);
  assert.equal(await slot.check(handle, tuple('user:a', 'doc:unread')), false);
  assertNoPins(slot);
  slot.kill();
});

for (const rows of [30, 5]) {
  test(`a subject of ${rows} grants that is in use all the time stays within its bound, and is answered rightly`, async () => {
    const { slot, handle, tenant } = await openCold({ subjectRowsMax: 10 }, many('user:a', rows));
    // Each write begins before the one before has ended: the page is never let go.
    slot.faults.turn('hold', ['append']);
    let writing = slot.grant(handle, tuple('user:a', 'new:0'));
    await waitFor(() => slot.faults.heldCalls() === 1);
    let largest = 0;
    for (let index = 1; index < 100; index += 1) {
      const next = slot.grant(handle, tuple('user:a', `new:${index}`));
      await waitFor(() => slot.tenure.queueLength === 1);
      slot.faults.restore(['append']);
      slot.faults.turn('hold', ['append']);
      await writing;
      await waitFor(() => slot.faults.heldCalls() === 1);
      writing = next;
      assert.equal(await slot.check(handle, tuple('user:a', `new:${index - 1}`)), true);
      assert.equal(await slot.check(handle, tuple('user:a', `absent:${index}`)), false);
      largest = Math.max(largest, tenant.pages.get('user:a')?.tuples ?? 0);
    }
    slot.faults.restore(['append']);
    await writing;
    assert.ok(largest <= 25, `${largest} tuples were held`);
    for (let index = 0; index < 100; index += 1) {
      assert.equal(await slot.check(handle, tuple('user:a', `new:${index}`)), true);
    }
    assertNoPins(slot);
    slot.kill();
  });
}

test('a page that outgrows its bound while a write relies on it stays current for that write', async () => {
  const { slot, handle, tenant } = await openCold({ subjectRowsMax: 4 }, many('user:a', 2));
  slot.faults.turn('hold', ['append']);
  const growing = slot.connection.writeGrants(
    handle,
    { requestId: 'req_1', expiresAtMs: soon() },
    Array.from({ length: 20 }, (_, index) => ({ ...tuple('user:a', `new:${index}`), revoke: false })),
  );
  await waitFor(() => slot.faults.heldCalls() === 1);
  // These wait with the same page pinned, and are decided after it was replaced.
  const waiting = [
    slot.grant(handle, tuple('user:a', 'new:19')),
    slot.revoke(handle, tuple('user:a', 'new:0')),
    slot.revoke(handle, tuple('user:a', 'doc:1')),
    slot.revoke(handle, tuple('user:a', 'never')),
  ];
  await turns(5);
  slot.faults.restore(['append']);
  await growing;
  assert.deepEqual(
    (await Promise.all(waiting)).map(({ kind }) => kind),
    ['exists', 'revoked', 'revoked', 'not-found'],
  );
  const { authorized } = await slot.connection.checkBulk(
    handle,
    columnsOf(['new:0', 'new:1', 'doc:0', 'doc:1'].map((object) => tuple('user:a', object))),
  );
  assert.deepEqual(authorized, [false, true, true, false]);
  assert.equal(tenant.pages.get('user:a')?.whole, false);
  assertNoPins(slot);
  slot.kill();
});

test('a tuple read for the page that took its place does not cover what commits meanwhile', async () => {
  const { memory, slot, handle } = await openCold({ subjectRowsMax: 4 }, many('user:a', 2));
  slot.faults.turn('hold', ['append']);
  const growing = slot.connection.writeGrants(
    handle,
    { requestId: 'req_1', expiresAtMs: soon() },
    Array.from({ length: 20 }, (_, index) => ({ ...tuple('user:a', `new:${index}`), revoke: false })),
  );
  await waitFor(() => slot.faults.heldCalls() === 1);
  const revoking = slot.revoke(handle, tuple('user:a', 'new:0'));
  await waitFor(() => slot.tenure.queueLength === 1);
  slot.faults.restore(['append']);
  slot.faults.turn('hold', ['append']);
  await growing;
  await waitFor(() => slot.faults.heldCalls() === 1);
  await slot.applied();
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const readGrant = memory.readGrant.bind(memory);
  let reads = 0;
  memory.readGrant = async (...given) => {
    const row = await readGrant(...given);
    reads += 1;
    await held;
    return row;
  };
  const checking = slot.check(handle, tuple('user:a', 'new:0'));
  await waitFor(() => reads === 1);
  slot.faults.restore(['append']);
  assert.equal((await revoking).kind, 'revoked');
  release();
  assert.equal(await checking, false);
  assert.equal(await slot.check(handle, tuple('user:a', 'new:0')), false);
  slot.kill();
});

test('what is read for an ended tenure lands nowhere', async () => {
  const { slot, handle, tenant } = await openCold({}, [['user:a', 'doc:1']]);
  slot.faults.turn('hold', ['listGrants']);
  const check = slot.check(handle, tuple('user:a', 'doc:1'));
  await waitFor(() => slot.faults.heldCalls() === 1);
  slot.tenure.end('the test ends it');
  slot.faults.restore(['listGrants']);
  await assert.rejects(check, { kind: 'handle-gone' });
  assert.equal(tenant.pages.size, 0);
  assert.equal(slot.budget.bytes, 0);
  slot.kill();
});
