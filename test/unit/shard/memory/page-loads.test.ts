// Loading pages: once however many wait, never older than a commit, never kept after a failure, within the budget.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columnsOf } from '../../../../src/core/tuples.ts';
import { Evictable } from '../../../../src/shard/memory/memory-budget.ts';
import {
  createMemoryStore,
  OpenSlot,
  type SlotOptions,
  settled,
  soon,
  tuple,
  turns,
  WITHOUT_FILTER,
  waitFor,
} from '../tools.ts';

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

/** Evicts everything; no pin is left. */
function assertNoPins(slot: OpenSlot): void {
  for (let round = 0; round < 3; round += 1) {
    const ballast = new Ballast();
    slot.budget.add(ballast, slot.budget.bytesMax);
    slot.budget.remove(ballast);
  }
  assert.equal(slot.readBytes, 0);
}

const many = (subject: string, count: number) =>
  Array.from({ length: count }, (_, index) => [subject, `doc:${index}`] as const);

test('a missing page is read once for any number of waiting calls', async () => {
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
});

test('a failed load rejects all waiting calls, is never a deny, leaves no pin and is not kept', async () => {
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
});

test('a failing read of the subjects of a bulk leaves no pin on them', async () => {
  const { memory, slot, handle } = await openCold({}, [
    ['user:a', 'doc:1'],
    ['user:b', 'doc:1'],
  ]);
  const listGrantsOfEach = memory.listGrantsOfEach.bind(memory);
  memory.listGrantsOfEach = (query) => listGrantsOfEach(query, 0);
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
  memory.listGrantsOfEach = listGrantsOfEach;
  assert.deepEqual((await slot.connection.checkBulk(handle, columnsOf(checks))).authorized, [true, true, false]);
});

test('a namespace table that cannot be read fails the write and leaves no pin', async () => {
  const { slot, handle } = await openCold({}, [['user:a', 'doc:1']]);
  slot.faults.turn('fail-before', ['listNamespaces']);
  await assert.rejects(slot.grant(handle, tuple('user:a', 'doc:2')), { kind: 'not-serving' });
  await assert.rejects(slot.connection.listNamespaces(handle), { kind: 'not-serving' });
  slot.faults.restore(['listNamespaces']);
  assertNoPins(slot);
});

test('a load that began before a commit does not include it, although the commit was confirmed in the meantime', async () => {
  for (const options of [{}, { pageLimits: { rowsMax: 2 } }]) {
    const { memory, slot, handle } = await openCold(options, many('user:a', 4));
    // The read is applied at once and its answer comes late: it is old when it arrives.
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
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

test('a bulk check sees all of a call of writes or nothing of it, although its pages load at different times', async () => {
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
});

test('the budget keeps its bound across many subjects, and evicted pages are read again', async () => {
  const grants = Array.from({ length: 200 }, (_, index) => [`user:${index}`, 'doc:1'] as const);
  const { slot, handle } = await openCold({ cacheBytesMax: 10_000 }, grants);
  for (const [subject, object] of grants) assert.equal(await slot.check(handle, tuple(subject, object)), true);
  assert.ok(slot.readBytes <= 10_000);
  assert.ok(slot.budget.evictions > 100);
  for (const [subject] of grants) await slot.revoke(handle, tuple(subject, 'doc:1'));
  for (const [subject, object] of grants) assert.equal(await slot.check(handle, tuple(subject, object)), false);
  assert.ok(slot.readBytes <= 10_000);
  assertNoPins(slot);
});

test('a subject with very many grants is never held whole, and each of its tuples is read once', async () => {
  const { slot, handle, tenant } = await openCold({ pageLimits: { rowsMax: 10 } }, many('user:a', 30));
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
});

for (const rows of [30, 5]) {
  test(`a subject of ${rows} grants that is always in use stays within its bound, and is answered correctly`, async () => {
    const { slot, handle, tenant } = await openCold({ pageLimits: { rowsMax: 10 } }, many('user:a', rows));
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
  });
}

test('a page that outgrows its bound while a write relies on it stays current for that write', async () => {
  const { slot, handle, tenant } = await openCold({ pageLimits: { rowsMax: 4 } }, many('user:a', 2));
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
});

test('a check uses the tuples of a waiting write, as of now, before and after it commits', async () => {
  const { slot, handle } = await openCold({ pageLimits: { rowsMax: 4 } }, many('user:a', 20));
  slot.faults.turn('hold', ['append']);
  const revoking = slot.revoke(handle, tuple('user:a', 'doc:3'));
  await waitFor(() => slot.faults.heldCalls() === 1);
  const reads = slot.faults.calls('readGrant');
  assert.equal(await slot.check(handle, tuple('user:a', 'doc:3')), true);
  slot.faults.restore(['append']);
  assert.equal((await revoking).kind, 'revoked');
  assert.equal(await slot.check(handle, tuple('user:a', 'doc:3')), false);
  assert.equal(slot.faults.calls('readGrant'), reads);
});

test('a read of one row never hides a commit made while it is in flight, neither from waiting calls nor from the page', async () => {
  for (const confirmed of [false, true]) {
    const { memory, slot, handle, tenant } = await openCold({ pageLimits: { rowsMax: 4 } }, many('user:a', 20));
    await slot.check(handle, tuple('user:a', 'doc:19'));
    const held = Promise.withResolvers<void>();
    const readGrant = memory.readGrant.bind(memory);
    let reads = 0;
    memory.readGrant = async (...given) => {
      const row = await readGrant(...given);
      reads += 1;
      await held.promise;
      return row;
    };
    const early = slot.check(handle, tuple('user:a', 'doc:3'));
    await waitFor(() => reads === 1);
    tenant.pages.commit('user:a', 6, 'doc:3', null, 1_000_000);
    if (confirmed) tenant.pages.confirm(1_000_000);
    const late = slot.check(handle, tuple('user:a', 'doc:3'));
    held.resolve();
    assert.deepEqual(await Promise.all([early, late]), [false, false]);
    assert.equal(slot.connection.check(handle, 'user:a', 6, 'doc:3'), false, 'memory knows it');
    assert.equal(reads, 1);
    slot.kill();
  }
});

/** Reads of the store, as they were asked for. */
function watchReads(memory: Awaited<ReturnType<typeof createMemoryStore>>) {
  const listGrants = memory.listGrants.bind(memory);
  const limits: number[] = [];
  let atOnce = 0;
  const seen = { limits, mostAtOnce: 0, rows: 0 };
  memory.listGrants = async (query, deadline) => {
    limits.push(query.limit);
    atOnce += 1;
    seen.mostAtOnce = Math.max(seen.mostAtOnce, atOnce);
    await turns(2);
    const read = await listGrants(query, deadline).finally(() => {
      atOnce -= 1;
    });
    seen.rows += read.grants.length;
    return read;
  };
  return seen;
}

test('a large subject is detected by one small read, and read row by row until a whole read pays', async () => {
  const { memory, slot, handle, tenant } = await openCold({}, many('user:a', 600));
  const seen = watchReads(memory);
  assert.equal(await slot.check(handle, tuple('user:a', 'doc:599')), true);
  assert.deepEqual(seen.limits, [256]);
  assert.equal(tenant.pages.get('user:a')?.whole, false);
  for (let index = 0; index < 30; index += 1) await slot.check(handle, tuple('user:a', `doc:${index}`));
  assert.deepEqual(seen.limits, [256], 'each has read its own row alone');
  assert.equal(await slot.check(handle, tuple('user:a', 'none')), false);
  await waitFor(() => tenant.pages.get('user:a')?.whole === true);
  assert.deepEqual(seen.limits, [256, 256, 256, 256]);
  assert.equal(tenant.pages.get('user:a')?.tuples, 600);
  const points = slot.faults.calls('readGrant');
  assert.equal(slot.connection.check(handle, 'user:a', 6, 'doc:400'), true);
  assert.equal(slot.connection.check(handle, 'user:a', 6, 'none:1'), false);
  assert.equal(slot.faults.calls('readGrant'), points);
  assertNoPins(slot);
});

test('a page that is read to its end in slices has the commits made in the meantime', async () => {
  const { memory, slot, handle, tenant } = await openCold(
    { pageLimits: { rowsPerRead: 10, readsBeforeWhole: 1 } },
    many('user:a', 60),
  );
  const listGrants = memory.listGrants.bind(memory);
  let reads = 0;
  memory.listGrants = async (query, deadline) => {
    const read = await listGrants(query, deadline);
    reads += 1;
    if (reads === 4) {
      // One that was read already, one that is still to come, and two new ones; state confirms them before the end.
      await slot.revoke(handle, tuple('user:a', 'doc:0'));
      await slot.revoke(handle, tuple('user:a', 'doc:9'));
      await slot.grant(handle, tuple('user:a', 'a:new'));
      await slot.grant(handle, tuple('user:a', 'z:new'));
      await slot.applied();
    }
    return read;
  };
  await slot.check(handle, tuple('user:a', 'doc:5'));
  await waitFor(() => tenant.pages.get('user:a')?.whole === true);
  const whole = tenant.pages.get('user:a');
  const expected = [...many('user:a', 60).map(([, object]) => object), 'a:new', 'z:new']
    .filter((object) => object !== 'doc:0' && object !== 'doc:9')
    .sort();
  assert.deepEqual(whole?.byRelation([6]), [{ relation: 6, texts: expected }]);
});

test('a subject whose grants are long is not held whole, however few they are', async () => {
  const long = Array.from({ length: 40 }, (_, index) => ['user:a', `doc:${'x'.repeat(200)}${index}`] as const);
  const { slot, handle, tenant } = await openCold(
    { pageLimits: { rowsPerRead: 10, readsBeforeWhole: 1, bytesMax: 5000 } },
    long,
  );
  for (const [subject, object] of long) {
    assert.equal(await slot.check(handle, tuple(subject, object)), true);
    assert.equal(tenant.pages.get('user:a')?.whole, false);
  }
  const reads = slot.faults.calls('listGrants');
  assert.ok(reads <= 5, `${reads} reads: it was read to its bound once`);
  await waitFor(() => slot.budget.loads.bytes === 0);
  assert.deepEqual(await slot.list(handle, 'user:a'), long.map(([, object]) => object).sort());
});

test('a whole page that grows beyond its bytes is dropped immediately', async () => {
  const { slot, handle, tenant } = await openCold({ pageLimits: { bytesMax: 1500 } }, many('user:a', 2));
  await slot.check(handle, tuple('user:a', 'doc:1'));
  assert.equal(tenant.pages.get('user:a')?.whole, true);
  for (let index = 0; index < 8; index += 1)
    await slot.grant(handle, tuple('user:a', `doc:${'x'.repeat(250)}${index}`));
  assert.equal(tenant.pages.get('user:a'), undefined);
  assert.ok(slot.readBytes < 3000, 'what is left are the namespaces');
});

test('a bulk over a hundred large subjects reads little of each, a few at a time, and holds none of them', async () => {
  const grants = Array.from({ length: 100 }, (_, index) => many(`user:${index}`, 12)).flat();
  const { memory, slot, handle } = await openCold(
    { pageLimits: { rowsPerRead: 10, ...WITHOUT_FILTER }, cacheBytesMax: 1_000_000 },
    grants,
  );
  const seen = watchReads(memory);
  const tuples = Array.from({ length: 100 }, (_, index) => tuple(`user:${index}`, index % 2 === 0 ? 'doc:11' : 'none'));
  const { authorized } = await slot.connection.checkBulk(handle, columnsOf(tuples));
  assert.deepEqual(
    authorized,
    tuples.map(({ object }) => object === 'doc:11'),
  );
  assert.equal(seen.limits.length, 100);
  assert.ok(seen.rows <= 1000, `${seen.rows} rows were read`);
  assert.ok(seen.mostAtOnce <= 32, `${seen.mostAtOnce} subjects were read at once`);
  assert.equal(slot.budget.loads.bytes + slot.budget.calls.bytes, 0);
  assertNoPins(slot);
});

test('reads wait for capacity of their tenant, which no other tenant can take, and all are answered', async () => {
  const memory = await createMemoryStore();
  const first = await OpenSlot.open(memory);
  const tenants = [await first.createTenant(), await first.createTenant()];
  for (const tenantId of tenants) {
    const handle = await first.handle(tenantId);
    for (let index = 0; index < 40; index += 1) await first.grant(handle, tuple(`user:${index}`, 'doc:1'));
  }
  await first.tenure.checkpointed();
  // A read is reckoned at a quarter of the share of a tenant: four at once.
  const slot = await first.restart({ cacheBytesMax: 1_000_000, pageLimits: WITHOUT_FILTER });
  const [greedy = 0, other = 0] = await Promise.all(tenants.map((tenantId) => slot.handle(tenantId)));
  slot.faults.turn('hold', ['listGrants']);
  const many = Array.from({ length: 40 }, (_, index) => slot.connection.check(greedy, `user:${index}`, 6, 'doc:1'));
  await waitFor(() => slot.faults.heldCalls() === 4);
  await turns(5);
  assert.equal(slot.faults.heldCalls(), 4);
  assert.equal(slot.budget.loads.waiting, 36);
  const one = slot.connection.check(other, 'user:1', 6, 'doc:1');
  await waitFor(() => slot.faults.heldCalls() === 5);
  slot.faults.restore(['listGrants']);
  assert.equal(await one, true);
  assert.deepEqual(new Set(await Promise.all(many)), new Set([true]));
  assert.equal(slot.budget.loads.bytes, 0);
});

test('the results of many reads at once are processed over many turns', async () => {
  const subjects = Array.from({ length: 8 }, (_, index) => `user:${index}`);
  const { slot, handle, tenant } = await openCold(
    {},
    subjects.flatMap((subject) => many(subject, 200)),
  );
  slot.faults.turn('hold', ['listGrants']);
  const checks = subjects.map((subject) => slot.connection.check(handle, subject, 6, 'doc:1'));
  await waitFor(() => slot.faults.heldCalls() === 1);
  slot.faults.restore(['listGrants']);
  let passed = 0;
  for (; tenant.pages.size < 8; passed += 1) await turns(1);
  // 56 slices, some twelve in a turn at most.
  assert.ok(passed >= 4, `all were in memory after ${passed} turns`);
  await Promise.all(checks);
});

test('the end of a tenure drops many pages in several steps', async () => {
  const { slot, handle } = await openCold({ pageLimits: WITHOUT_FILTER }, []);
  const subjects = Array.from({ length: 3000 }, (_, index) => `user:${index}`);
  for (let start = 0; start < 3000; start += 100) {
    await slot.connection.checkBulk(
      handle,
      columnsOf(subjects.slice(start, start + 100).map((subject) => tuple(subject, 'doc:1'))),
    );
  }
  const before = slot.readBytes;
  slot.tenure.end('the test ends it');
  assert.ok(slot.readBytes > before / 2, 'a third of them goes at once');
  await waitFor(() => slot.readBytes === 0);
});

test('calls that hold many tuples wait for capacity of their tenant before they read the store', async () => {
  const { slot, handle } = await openCold({ cacheBytesMax: 1_000_000 }, many('user:a', 2));
  slot.faults.turn('hold', ['listGrants']);
  const tuples = Array.from({ length: 100 }, (_, index) => tuple('user:a', `doc:${index}`));
  const bulks = Array.from({ length: 6 }, () => slot.connection.checkBulk(handle, columnsOf(tuples)));
  await waitFor(() => slot.faults.heldCalls() === 1);
  assert.equal(slot.budget.calls.waiting, 2, 'none is reckoned at more than a quarter of the share');
  assert.ok(slot.budget.calls.bytes > 0);
  slot.faults.restore(['listGrants']);
  for (const { authorized } of await Promise.all(bulks)) {
    assert.deepEqual(
      authorized,
      tuples.map((_, index) => index < 2),
    );
  }
  assert.equal(slot.budget.calls.bytes, 0);
});

test('a page with more changes than one step applies is read row by row', async () => {
  const { slot, handle, tenant } = await openCold({}, many('user:a', 2));
  for (let index = 0; index < 600; index += 1) {
    const facts = { grantId: `g${index}`, createdAtMs: index };
    tenant.pages.commit('user:a', 6, `new:${index}`, facts, 1_000_000 + index);
  }
  assert.equal(await slot.check(handle, tuple('user:a', 'new:599')), true);
  assert.equal(await slot.check(handle, tuple('user:a', 'doc:1')), true);
  assert.equal(await slot.check(handle, tuple('user:a', 'none')), false);
  assert.equal(tenant.pages.get('user:a')?.whole, false);
});

test('a page that changes faster than it is read stays sparse, and is read again later', async () => {
  const { memory, slot, handle, tenant } = await openCold(
    { pageLimits: { rowsPerRead: 10, readsBeforeWhole: 2 } },
    many('user:a', 30),
  );
  const listGrants = memory.listGrants.bind(memory);
  let reads = 0;
  memory.listGrants = async (query, deadline) => {
    reads += 1;
    if (reads === 3) {
      for (let index = 0; index < 600; index += 1)
        tenant.pages.commit('user:a', 6, `new:${index}`, null, 1_000_000 + index);
      tenant.pages.confirm(2_000_000);
    }
    return listGrants(query, deadline);
  };
  for (const index of [1, 2]) await slot.check(handle, tuple('user:a', `doc:${index}`));
  await waitFor(() => reads >= 4 && slot.budget.loads.bytes === 0);
  assert.equal(tenant.pages.get('user:a')?.whole, false);
  for (const index of [3, 4]) await slot.check(handle, tuple('user:a', `doc:${index}`));
  await waitFor(() => tenant.pages.get('user:a')?.whole === true);
  assert.equal(tenant.pages.get('user:a')?.tuples, 30);
});

test('the result of a read for an ended tenure is discarded', async () => {
  const { slot, handle, tenant } = await openCold({}, [['user:a', 'doc:1']]);
  slot.faults.turn('hold', ['listGrants']);
  const check = slot.check(handle, tuple('user:a', 'doc:1'));
  await waitFor(() => slot.faults.heldCalls() === 1);
  slot.tenure.end('the test ends it');
  slot.faults.restore(['listGrants']);
  await assert.rejects(check, { kind: 'handle-unknown' });
  assert.equal(tenant.pages.size, 0);
  assert.equal(slot.readBytes, 0);
});
