// The operator's calls over a cluster of several shards.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import type { TenantId } from '../../../../src/core/ids.ts';
import { slotOfTenant } from '../../../../src/core/slots.ts';
import type { TenantFilter } from '../../../../src/core/tenants.ts';
import { ShardFailure } from '../../../../src/shard/shard.ts';
import { readAll } from '../../../kit/store/read-all.ts';
import { contextFor, ids, type Stage, setStage, until } from '../harness.ts';

const code = (expected: string) => (error: unknown) => error instanceof GrantdError && error.code === expected;
const CONSOLE = { front: { peer: 'console' } } as const;

/** The ids on all pages of a listing, none of which is longer than asked for. */
async function listAll(
  { front }: Stage,
  query: TenantFilter & { readonly limit: number },
): Promise<readonly string[][]> {
  const pages: string[][] = [];
  let after: TenantId | undefined;
  do {
    const page: Awaited<ReturnType<typeof front.operator.listTenants>> = await front.operator.listTenants(
      contextFor(),
      { ...query, after },
    );
    assert.ok(page.tenants.length <= query.limit);
    pages.push(page.tenants.map(({ tenantId }) => tenantId));
    after = page.next;
  } while (after !== undefined);
  return pages;
}

test('a tenant is made, read, changed and used at the owner of its slot', async (t) => {
  const stage = await setStage(t, { ...CONSOLE, shards: 3, slots: 6 });
  const { operator } = stage.front;
  for (let count = 0; count < 8; count += 1) {
    const made = await operator.createTenant(contextFor(), { name: 'Acme', plan: 'scale', operator: 'ann' });
    const status = await operator.call('readTenant', contextFor(), { tenantId: made.tenantId });
    assert.deepEqual(status, { ...made, counts: { namespaces: 0, keys: 0 }, grants: { grants: 0, bytes: 0 } });
    const { tenantId } = made;
    const suspended = await operator.call('updateTenant', contextFor(), {
      tenantId,
      state: 'suspended',
      operator: 'ann',
    });
    assert.deepEqual(suspended, { ...made, state: 'suspended' });
    // The operator works on suspended tenants too.
    const session = await operator.tenant(contextFor(), tenantId, 'ann');
    assert.equal(session.suspended, false);
    assert.equal(session.keyId, 'operator:ann');
    const tuple = { subject: 'user:ann', relation: 'owner', object: 'doc:1' } as const;
    await session.call('writeGrants', contextFor(), [{ ...tuple, revoke: false }]);
    assert.equal((await session.check(contextFor(), tuple)).authorized, true);
    assert.equal(await operator.tenant(contextFor(), tenantId, 'ann'), session);
    assert.notEqual(await operator.tenant(contextFor(), tenantId, 'bob'), session);
  }
  await assert.rejects(
    operator.call('readTenant', contextFor(), { tenantId: ids.create('ten') }),
    code('tenant-not-found'),
  );
  await assert.rejects(operator.tenant(contextFor(), ids.create('ten'), 'ann'), code('tenant-not-found'));
});

test('a repeated creation is one tenant', async (t) => {
  const stage = await setStage(t, CONSOLE);
  let failures = 1;
  stage.shard.afterWrite = () => {
    failures -= 1;
    if (failures >= 0) throw new ShardFailure('not-serving', 'Lost the lease after the commit.');
  };
  await stage.front.operator.createTenant(contextFor(), { name: 'Acme', plan: 'free', operator: 'ann' });
  assert.equal((await stage.world.tenants()).length, 2);
});

test('tenants of all shards are listed in one order, page by page, each once', async (t) => {
  const stage = await setStage(t, { ...CONSOLE, shards: 3, slots: 6 });
  for (let count = 0; count < 40; count += 1) await stage.world.createTenant();
  const expected = (await stage.world.tenants()).map(({ tenantId }) => tenantId);
  assert.equal(expected.length, 41);
  for (const limit of [1, 7, 41, 1000]) {
    const pages = await listAll(stage, { limit });
    assert.deepEqual(pages.flat(), expected);
    assert.equal(pages.length, Math.ceil(expected.length / limit));
  }
});

test('a listing of tenants waits for every slot to have an owner, and is unavailable without', async (t) => {
  const stage = await setStage(t, { ...CONSOLE, shards: 2 });
  const [first, second] = stage.shards;
  assert.ok(first && second);
  const slots = [...second.epochs.keys()];
  const tenantId = await stage.world.createTenant(slots);
  second.release(slots);
  await until(() => !stage.front.ready());
  await assert.rejects(
    stage.front.operator.listTenants(contextFor(300), { after: undefined, limit: 10 }),
    code('unavailable'),
  );
  const waiting = stage.front.operator.listTenants(contextFor(), { after: undefined, limit: 10 });
  first.own(slots, stage.servers[0]?.address);
  assert.ok((await waiting).tenants.some((tenant) => tenant.tenantId === tenantId));
});

test('a slot that moves while the shards answer is not lost from the listing', async (t) => {
  const stage = await setStage(t, { ...CONSOLE, shards: 2 });
  const [first, second] = stage.shards;
  assert.ok(first && second);
  const slot = slotOfTenant(stage.tenantId, stage.world.slots);
  let moved = false;
  // The old owner answers after it has let the slot go, the new one before it has it.
  second.onCall = async (name) => {
    if (name !== 'listTenants' || moved) return;
    moved = true;
    queueMicrotask(() => {
      setImmediate(() => second.own([slot], stage.servers[1]?.address));
    });
  };
  first.onCall = async (name) => {
    if (name === 'listTenants' && !moved) await until(() => moved);
    if (name === 'listTenants' && first.epochs.has(slot)) first.release([slot]);
  };
  const { tenants } = await stage.front.operator.listTenants(contextFor(), { after: undefined, limit: 10 });
  assert.deepEqual(
    tenants.map(({ tenantId }) => tenantId),
    [stage.tenantId],
  );
});

test('a search goes over all shards, cut short by any of them or not, and finds each tenant once', async (t) => {
  const stage = await setStage(t, { ...CONSOLE, shards: 3, slots: 6 });
  for (let count = 0; count < 60; count += 1) {
    await stage.world.createTenant(undefined, { name: count % 3 === 0 ? `Acme ${count}` : 'Other' });
  }
  const expected = (await stage.world.tenants())
    .filter(({ name }) => name.startsWith('Acme'))
    .map(({ tenantId }) => tenantId);
  assert.equal(expected.length, 20);
  for (const [limit, searchedMax] of [
    [100, 1000],
    [3, 1000],
    [100, 7],
    [3, 2],
  ] as const) {
    for (const shard of stage.shards) shard.searchedMax = searchedMax;
    const pages = await listAll(stage, { name: 'ACME', limit });
    assert.deepEqual(pages.flat(), expected, `${limit} a page, ${searchedMax} names a time`);
  }
  const nobody = { name: 'x'.repeat(600), after: undefined, limit: 10 };
  assert.deepEqual(await stage.front.operator.listTenants(contextFor(), nobody), { tenants: [], next: undefined });
});

test('tenants are filtered by plan and state, also together with a name, a page at a time', async (t) => {
  const stage = await setStage(t, { ...CONSOLE, shards: 3, slots: 6 });
  for (let count = 0; count < 60; count += 1) {
    const plan = count % 2 === 0 ? 'scale' : 'free';
    const tenantId = await stage.world.createTenant(undefined, { name: `Acme ${count % 5}`, plan });
    if (count % 3 === 0) await stage.world.update(tenantId, { state: 'suspended' });
  }
  const tenants = await stage.world.tenants();
  for (const filter of [
    { plan: 'scale' },
    { state: 'suspended' },
    { plan: 'free', state: 'suspended', name: 'acme 2' },
    { plan: 'none' },
  ] as const) {
    const { plan, state, name = '' } = filter as TenantFilter;
    const expected = tenants
      .filter((record) => plan === undefined || record.plan === plan)
      .filter((record) => state === undefined || record.state === state)
      .filter((record) => record.name.toLowerCase().includes(name))
      .map(({ tenantId }) => tenantId);
    for (const limit of [1, 7, 100]) {
      const pages = await listAll(stage, { ...filter, limit });
      assert.deepEqual(pages.flat(), expected, `${JSON.stringify(filter)}, ${limit} a page`);
    }
  }
});

test('a page of a search asks each shard a bounded number of times', async (t) => {
  const stage = await setStage(t, CONSOLE);
  for (let count = 0; count < 50; count += 1) await stage.world.createTenant();
  stage.shard.searchedMax = 2;
  const query = { name: 'nobody', after: undefined, limit: 10 };
  const { tenants, next } = await stage.front.operator.listTenants(contextFor(), query);
  assert.deepEqual(tenants, []);
  assert.ok(next !== undefined, 'it says where to go on');
  assert.equal(stage.shard.count('findTenants'), 10);
});

test('what the owner knows of a tenant besides its record is told, its usage too', async (t) => {
  const stage = await setStage(t, { ...CONSOLE, shards: 2 });
  const { tenantId, shard } = stage;
  const { operator } = stage.front;
  const sinceMs = 1_699_999_999_999;
  const buckets = [{ atMs: 1_700_000_040_000, requests: 2 ** 40, refused: 1, checks: 0 }];
  const problem = {
    keyId: 'key_x',
    code: 'overloaded',
    count: 2 ** 40,
    sinceMs: 1,
    atMs: 2,
    requestId: '',
    detail: 'ä',
  };
  const problems = [problem];
  shard.answers.readUsage = async (of) => ({ bucketMs: of.sinceMs === sinceMs ? 3_600_000 : 0, buckets, problems });
  const usage = await operator.call('readUsage', contextFor(), { tenantId, sinceMs });
  assert.deepEqual(usage, { bucketMs: 3_600_000, buckets, problems });
  const record = await operator.call('readTenant', contextFor(), { tenantId });
  assert.deepEqual(
    [record.counts, record.grants],
    [
      { namespaces: 0, keys: 1 },
      { grants: 0, bytes: 0 },
    ],
  );
  for (const deletion of [
    { partsRemoved: 0, lastPartAtMs: undefined },
    { partsRemoved: 7, lastPartAtMs: 1_700_000_000_000 },
  ]) {
    shard.answers.readTenant = async () => ({ ...record, deletion });
    assert.deepEqual(await operator.call('readTenant', contextFor(), { tenantId }), { ...record, deletion });
  }
  shard.answers.readUsage = undefined;
  await assert.rejects(
    stage.front.operator.call('readUsage', contextFor(), { tenantId: ids.create('ten'), sinceMs }),
    code('tenant-not-found'),
  );
});

test('the load of each shard that answers in time is listed by its name', async (t) => {
  const stage = await setStage(t, { ...CONSOLE, shards: 3, slots: 6 });
  const [first, second, third] = stage.shards;
  assert.ok(first && second && third);
  first.load = { checksPerSecond: 10.5, failuresPerSecond: 0.5, p99Ms: 2.25 };
  second.onCall = (name) => (name === 'readLoad' ? new Promise(() => {}) : undefined);
  assert.deepEqual(await stage.front.operator.listLoads(contextFor()), [
    { shardName: 'shard-0', checksPerSecond: 10.5, failuresPerSecond: 0.5, p99Ms: 2.25 },
    { shardName: 'shard-2', checksPerSecond: 0, failuresPerSecond: 0, p99Ms: undefined },
  ]);
});

test('slots and members of the whole cluster are listed', async (t) => {
  const stage = await setStage(t, { ...CONSOLE, shards: 3, slots: 8 });
  const [, second] = stage.shards;
  assert.ok(second);
  stage.world.owners.delete(7);
  second.release([4]);
  stage.world.owners.set(4, { slot: 4, epoch: 1, incarnation: '', address: '' });
  stage.shards[0]?.epochs.delete(6);
  second.release([7]);
  const slots = await stage.front.operator.listSlots(contextFor());
  assert.deepEqual(
    slots.map(({ slot, state, epoch, shardName }) => `${slot} ${state} ${epoch} ${shardName}`),
    [
      '0 serving 1 shard-0',
      '1 serving 1 shard-1',
      '2 serving 1 shard-2',
      '3 serving 1 shard-0',
      '4 unowned 1 undefined',
      '5 serving 1 shard-2',
      // Its owner has not begun with it.
      '6 opening 1 shard-0',
      '7 unclaimed undefined undefined',
    ],
  );
  assert.deepEqual(slots[0], {
    slot: 0,
    epoch: 1,
    state: 'serving',
    logEnd: 7,
    checkpoint: 5,
    tenants: 1,
    incarnation: 'inc_shard-0',
    shardName: 'shard-0',
    address: '127.0.0.1:1',
    leaseLeftMs: 2500,
    readers: [],
  });
  second.leaseLeftMs = undefined;
  const members = await stage.front.operator.listMembers(contextFor());
  assert.deepEqual(
    members.map(({ shardName, state, heartbeat, leaseLeftMs, slotsOwned }) => ({
      shardName,
      state,
      heartbeat,
      leaseLeftMs,
      slotsOwned,
    })),
    [
      { shardName: 'shard-0', state: 'alive', heartbeat: 42, leaseLeftMs: 2500, slotsOwned: 3 },
      { shardName: 'shard-1', state: 'alive', heartbeat: 42, leaseLeftMs: undefined, slotsOwned: 1 },
      { shardName: 'shard-2', state: 'alive', heartbeat: 42, leaseLeftMs: 2500, slotsOwned: 2 },
    ],
  );
});

test('one silent shard does not hide the slots of the others', async (t) => {
  const stage = await setStage(t, { ...CONSOLE, shards: 2 });
  const [first, second] = stage.shards;
  assert.ok(first && second);
  first.onCall = () => new Promise(() => {});
  const context = contextFor();
  const [slots, members] = await Promise.all([
    stage.front.operator.listSlots(context),
    stage.front.operator.listMembers(context),
  ]);
  assert.ok(performance.now() < context.deadlineMs - 10_000, 'long before the request would have failed');
  assert.deepEqual(
    slots.map(({ state, shardName, address, logEnd }) => ({ state, shardName, address, logEnd })),
    [0, 1, 2, 3].map((slot) => ({
      state: slot % 2 === 0 ? 'unreachable' : 'serving',
      shardName: slot % 2 === 0 ? 'shard-0' : 'shard-1',
      address: '127.0.0.1:1',
      logEnd: slot % 2 === 0 ? undefined : 7,
    })),
  );
  assert.deepEqual(
    members.map(({ shardName, leaseLeftMs, slotsOwned }) => ({ shardName, leaseLeftMs, slotsOwned })),
    [
      { shardName: 'shard-0', leaseLeftMs: undefined, slotsOwned: 2 },
      { shardName: 'shard-1', leaseLeftMs: 2500, slotsOwned: 2 },
    ],
  );
  // Whoever cannot read the members does not hide the slots either.
  second.onCall = (name) => {
    if (name === 'listMembers') throw new GrantdError('unavailable', 'The store is away.');
  };
  const blind = await stage.front.operator.listSlots(contextFor());
  assert.deepEqual(
    blind.map(({ state }) => state),
    ['unreachable', 'serving', 'unreachable', 'serving'],
  );
  second.onCall = () => new Promise(() => {});
  await assert.rejects(stage.front.operator.listSlots(contextFor(200)), code('unavailable'));
});

test('a survey says what the three listings say, for one question of each kind', async (t) => {
  const stage = await setStage(t, { ...CONSOLE, shards: 3, slots: 6 });
  const { operator } = stage.front;
  const asked = (name: 'listSlots' | 'readLoad' | 'listMembers') => stage.shards.map((shard) => shard.count(name));
  const picture = await operator.surveyCluster(contextFor());
  assert.deepEqual(
    [asked('listSlots'), asked('readLoad'), asked('listMembers').reduce((sum, count) => sum + count, 0)],
    [[1, 1, 1], [1, 1, 1], 1],
  );
  const slots = await operator.listSlots(contextFor());
  const members = await operator.listMembers(contextFor());
  assert.deepEqual(picture, { slots, members, loads: await operator.listLoads(contextFor()) });

  const [first, second, third] = stage.shards;
  assert.ok(first && second && third);
  second.onCall = () => new Promise(() => {});
  const partial = await operator.surveyCluster(contextFor());
  assert.deepEqual(
    partial.slots.map(({ state }) => state),
    ['serving', 'unreachable', 'serving', 'serving', 'unreachable', 'serving'],
  );
  assert.deepEqual(
    partial.loads?.map(({ shardName }) => shardName),
    ['shard-0', 'shard-2'],
  );
  for (const shard of [first, third]) {
    shard.onCall = (name) => {
      if (name === 'listMembers') throw new GrantdError('unavailable', 'The store is away.');
    };
  }
  const blind = await operator.surveyCluster(contextFor());
  assert.deepEqual([blind.members, blind.slots.length], [undefined, 6]);
  for (const shard of stage.shards) shard.onCall = () => new Promise(() => {});
  await assert.rejects(operator.surveyCluster(contextFor(1500)), code('unavailable'));
});

test('browsing a tenant crosses the wire, the longest pages included', async (t) => {
  const stage = await setStage(t, CONSOLE);
  const longest = 'x'.repeat(3) + '\u{1F600}'.repeat(250);
  const numbers = [...Array(1000).keys()];
  const texts = numbers.map((number) => `user:${longest}${number} viewer doc:${longest}${number}`);
  await stage.world.grant(stage.tenantId, ...texts);
  const session = await stage.front.operator.tenant(contextFor(), stage.tenantId, 'ann');
  const query = { limit: 1000, cursor: undefined };
  const grants = await readAll((cursor) => session.call('exportGrants', contextFor(), { ...query, cursor }));
  assert.deepEqual(
    grants.map(({ subject, relation, object }) => `${subject} ${relation} ${object}`),
    texts.toSorted(),
  );
  const subjects = await readAll((cursor) => session.call('listSubjects', contextFor(), { ...query, cursor }));
  assert.equal(subjects.length, 1000);
  const subject = `user:${longest}7`;
  const ofSubject = { ...query, of: { subject }, relation: undefined };
  assert.equal((await session.call('listGrants', contextFor(), ofSubject)).items.length, 1);
  // Changes are large, so that a page of them holds fewer.
  const change = 'x'.repeat(8192);
  stage.shard.answers.listAuditLog = async ({ limit }) => ({
    items: numbers.slice(0, limit).map((seq) => ({ seq, index: 0, atMs: 1, actor: '', requestId: 'req_1', change })),
    nextCursor: 'next',
    resumeCursor: 'behind-all',
  });
  const ofTenant = { ...query, tenantId: stage.tenantId };
  const auditLog = await stage.front.operator.call('listAuditLog', contextFor(), ofTenant);
  assert.ok(auditLog.items.length >= 100 && auditLog.nextCursor !== undefined);
  assert.equal(auditLog.items[0]?.change.length, 8192);
  assert.equal(auditLog.resumeCursor, 'behind-all');
});

test('a filter of the audit log crosses the wire', async (t) => {
  const stage = await setStage(t, CONSOLE);
  const longest = `user:${'\u{1F600}'.repeat(256)}`;
  const filter = {
    action: 'grant.created',
    actor: 'operator:ann',
    subject: longest,
    object: 'doc:1',
    requestId: 'req_1',
  };
  const times = { newestFirst: true, sinceMs: 1, untilMs: 2 };
  const list = (query: object) =>
    stage.front.operator.call('listAuditLog', contextFor(), {
      tenantId: stage.tenantId,
      limit: 10,
      cursor: undefined,
      ...query,
    });
  let asked: object | undefined;
  stage.shard.answers.listAuditLog = async (request) => {
    asked = request;
    return { items: [], nextCursor: undefined, resumeCursor: undefined, scannedToMs: 1_700_000_000_000 };
  };
  const page = await list({ ...filter, ...times });
  const { tenantId } = stage;
  assert.deepEqual(asked, { tenantId, limit: 10, cursor: undefined, ...times, ...filter });
  assert.equal(page.scannedToMs, 1_700_000_000_000);
});
