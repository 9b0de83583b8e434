// Listings: in order, complete, each lasting item exactly once, and cursors that are good for their query alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareUtf8, type Tuple } from '../../../../src/core/tuples.ts';
import { readAll } from '../../../kit/store/read-all.ts';
import { attempt, numbered, openSlot, tuple, turns } from '../tools.ts';

const query = (more: { limit?: number; cursor?: string; namespace?: string; subject?: string } = {}) => ({
  subject: more.subject ?? 'user:a',
  relation: 'viewer' as const,
  namespace: more.namespace,
  limit: more.limit ?? 100,
  cursor: more.cursor,
});

const objectsOf = (subject: string, objects: readonly string[]): Tuple[] =>
  objects.map((object) => tuple(subject, object));

test('a cursor is good for its tenant and its query alone, and only as it was issued', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const other = await slot.handle(await slot.createTenant());
  for (const each of [handle, other]) await slot.writeAll(each, objectsOf('user:a', numbered(5, 'doc:')));
  await slot.writeAll(handle, objectsOf('user:b', numbered(5, 'doc:')));
  const { nextCursor } = await slot.connection.listObjects(handle, query({ limit: 2 }));
  assert.ok(nextCursor !== undefined);
  // The limit may change between pages.
  const rest = await slot.connection.listObjects(handle, query({ limit: 100, cursor: nextCursor }));
  assert.deepEqual(rest, { items: numbered(5, 'doc:').slice(2), nextCursor: undefined });
  const flipped = nextCursor.startsWith('A') ? `B${nextCursor.slice(1)}` : `A${nextCursor.slice(1)}`;
  const calls = [
    slot.connection.listObjects(other, query({ cursor: nextCursor })),
    slot.connection.listObjects(handle, query({ cursor: nextCursor, subject: 'user:b' })),
    slot.connection.listObjects(handle, query({ cursor: nextCursor, namespace: 'doc' })),
    slot.connection.listObjects(handle, { ...query({ cursor: nextCursor }), relation: 'editor' }),
    slot.operator.listSubjects(handle, { limit: 1, cursor: nextCursor }),
    slot.operator.exportGrants(handle, { limit: 1, cursor: nextCursor }),
    slot.connection.snapshotGrants(handle, { on: ['doc:viewer'], limit: 1, cursor: nextCursor }),
    slot.connection.listKeys(handle, { limit: 1, cursor: nextCursor }),
    slot.operator.listAuditLog({ tenantId, limit: 1, cursor: nextCursor }),
    slot.connection.listGrants(handle, {
      limit: 1,
      cursor: nextCursor,
      of: { subject: 'user:a' },
      relation: undefined,
    }),
    ...[flipped, nextCursor.slice(0, -2), `${nextCursor}AAAA`, '', 'x'].map((cursor) =>
      slot.connection.listObjects(handle, query({ cursor })),
    ),
  ];
  for (const call of calls) await assert.rejects(call, { code: 'invalid-cursor' });
});

test('an export is everything, once, by the bytes of subject, relation and object', async () => {
  const { slot, handle } = await openSlot();
  const tuples: Tuple[] = [];
  for (const subject of ['user:b', 'user:\u{1F600}', 'user:\uFFFD', 'a:1', 'user:a', ...numbered(150, 's:')]) {
    for (const relation of ['viewer', 'admin', 'parent'] as const) {
      for (const object of ['doc:2', 'doc:1']) tuples.push({ subject, relation, object });
    }
  }
  await slot.writeAll(handle, tuples);
  const expected = tuples.toSorted(
    (left, right) =>
      compareUtf8(left.subject, right.subject) ||
      compareUtf8(left.relation, right.relation) ||
      compareUtf8(left.object, right.object),
  );
  for (const limit of [1, 4, 1000]) {
    const exported = await readAll((cursor) => slot.operator.exportGrants(handle, { limit, cursor }));
    assert.deepEqual(
      exported.map(({ subject, relation, object }) => ({ subject, relation, object })),
      expected,
    );
  }
  const subjects = await readAll((cursor) => slot.operator.listSubjects(handle, { limit: 9, cursor }));
  assert.deepEqual(subjects, [...new Set(expected.map(({ subject }) => subject))]);
});

test('a page of an export reads about as much as it gives, however large the subjects', async () => {
  const { memory, slot, handle } = await openSlot();
  for (const subject of numbered(40, 's:')) {
    await slot.writeAll(handle, objectsOf(subject, numbered(300, 'doc:')));
  }
  await slot.applied();
  let rows = 0;
  const listGrants = memory.listGrants.bind(memory);
  memory.listGrants = async (asked, deadline) => {
    const answer = await listGrants(asked, deadline);
    rows += answer.grants.length;
    return answer;
  };
  const page = await slot.operator.exportGrants(handle, { limit: 300, cursor: undefined });
  assert.equal(page.items.length, 300);
  assert.ok(rows <= 5 * 300, `${rows} rows were read for 300`);
});

test('a snapshot is the grants of its pairs, in the order of an export, and goes on for the same pairs alone', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const tuples: Tuple[] = [];
  for (const subject of numbered(40, 'user:')) {
    for (const relation of ['admin', 'viewer'] as const) {
      for (const object of ['doc:1', 'document:1']) tuples.push({ subject, relation, object });
    }
  }
  await slot.writeAll(handle, tuples);
  // One with grants of other pairs alone.
  await slot.grant(handle, { subject: 'user:other', relation: 'owner', object: 'doc:1' });
  const on = ['doc:viewer', 'document:admin'];
  const expected = tuples.filter(({ relation, object }) => (relation === 'viewer') === (object === 'doc:1'));
  for (const limit of [1, 7, 1000]) {
    const found = await readAll((cursor) => slot.connection.snapshotGrants(handle, { on, limit, cursor }));
    assert.deepEqual(
      found.map(({ subject, relation, object }) => ({ subject, relation, object })),
      expected.toSorted((left, right) => compareUtf8(left.subject, right.subject)),
    );
  }
  assert.equal(slot.tenure.tenants.get(tenantId)?.emptySubjects, undefined, 'a subject with other grants is not empty');
  const { nextCursor: cursor } = await slot.connection.snapshotGrants(handle, { on, limit: 1, cursor: undefined });
  const [first] = on;
  for (const pairs of [[first ?? ''], [...on, 'doc:owner']]) {
    const other = slot.connection.snapshotGrants(handle, { on: pairs, limit: 1, cursor });
    await assert.rejects(other, { code: 'invalid-cursor' });
  }
  const again = await slot.connection.snapshotGrants(handle, { on: on.toReversed(), limit: 1, cursor });
  assert.equal(again.items.length, 1);
  const undeclared = slot.connection.snapshotGrants(handle, { on: ['doc:reviewer'], limit: 1, cursor: undefined });
  await assert.rejects(undeclared, { code: 'invalid-relation' });
});

test('what enumerates a tenant shows every write that was acknowledged before', async () => {
  const { slot, tenantId, handle } = await openSlot();
  for (let round = 0; round < 10; round += 1) {
    await slot.grant(handle, tuple(`user:${round}`, 'doc:1'));
    const [subjects, grants, snapshot, auditLog] = await Promise.all([
      slot.operator.listSubjects(handle, { limit: 100, cursor: undefined }),
      slot.operator.exportGrants(handle, { limit: 100, cursor: undefined }),
      slot.connection.snapshotGrants(handle, { on: ['doc:viewer'], limit: 100, cursor: undefined }),
      slot.operator.listAuditLog({ tenantId, limit: 100, cursor: undefined }),
    ]);
    assert.equal(subjects.items.length, round + 1);
    assert.equal(grants.items.length, round + 1);
    assert.equal(snapshot.items.length, round + 1);
    assert.match(auditLog.items.at(-1)?.change ?? '', new RegExp(`"grant.created".*user:${round}"`));
  }
});

test('keys come by id, page by page, without those revoked meanwhile', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const keys: string[] = [];
  for (let index = 0; index < 7; index += 1) keys.push((await slot.createKey(handle, tenantId)).keyId);
  keys.sort();
  const first = await slot.connection.listKeys(handle, { limit: 3, cursor: undefined });
  assert.deepEqual(
    first.items.map(({ keyId }) => keyId),
    keys.slice(0, 3),
  );
  // The one that the cursor names goes: the listing goes on behind it.
  await slot.connection.revokeKey(handle, attempt(), keys[2] ?? '');
  const rest = await readAll(async (cursor) =>
    slot.connection.listKeys(handle, { limit: 3, cursor: cursor ?? first.nextCursor }),
  );
  assert.deepEqual(
    rest.map(({ keyId }) => keyId),
    keys.slice(3),
  );
  assert.deepEqual(
    Object.keys(first.items[0] ?? {}).filter((field) => field === 'hash'),
    [],
  );
});

test('a listing whose store fails is not answered', async () => {
  const { slot, tenantId, handle } = await openSlot({ pageLimits: { rowsMax: 2 } });
  await slot.writeAll(handle, objectsOf('user:a', numbered(9, 'doc:')));
  await slot.check(handle, tuple('user:a', 'doc:00001'));
  const failing = ['listGrants', 'listSubjects', 'listAuditLog', 'listKeyUses'] as const;
  slot.faults.turn('fail-before', failing);
  const page = { limit: 10, cursor: undefined };
  const calls = [
    () => slot.connection.listObjects(handle, query()),
    () => slot.operator.listSubjects(handle, page),
    () => slot.operator.listAuditLog({ ...page, tenantId }),
    () => slot.connection.listKeys(handle, page),
    () => slot.connection.listGrants(handle, { ...page, of: { subject: 'user:a' }, relation: undefined }),
  ];
  for (const call of calls) await assert.rejects(call(), { kind: 'not-serving' });
  slot.faults.restore(failing);
  assert.equal((await slot.connection.listObjects(handle, query())).items.length, 9);
});

test('an enumeration that waits for write-behind ends with the tenure', async () => {
  const { slot, handle } = await openSlot();
  slot.faults.turn('fail-before', ['writeState']);
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  const listing = slot.operator.listSubjects(handle, { limit: 1, cursor: undefined });
  await turns(3);
  slot.tenure.end('the test ends it');
  await assert.rejects(listing, { kind: 'not-serving' });
  await assert.rejects(slot.tenure.applied(), { kind: 'not-serving' });
});

test('a listing whose subject changes faster than a step can take in begins again, and not for ever', async () => {
  for (const [busyReads, succeeds] of [
    [1, true],
    [100, false],
  ] as const) {
    const { memory, slot, tenantId, handle } = await openSlot({ pageLimits: { rowsMax: 5 } });
    await slot.writeAll(handle, objectsOf('user:a', numbered(20, 'doc:')));
    await slot.applied();
    const tenant = slot.tenure.tenants.get(tenantId);
    assert.ok(tenant !== undefined);
    const listGrants = memory.listGrants.bind(memory);
    let reads = 0;
    memory.listGrants = async (asked, deadline) => {
      const read = await listGrants(asked, deadline);
      if (asked.relation === undefined) return read;
      reads += 1;
      if (reads <= busyReads) {
        for (let index = 0; index < 600; index += 1)
          tenant.pages.commit('user:a', 6, `other:${index}`, null, 1_000_000);
        tenant.pages.confirm(2_000_000);
      }
      return read;
    };
    const listing = slot.connection.listObjects(handle, query());
    if (succeeds) assert.deepEqual((await listing).items, numbered(20, 'doc:'));
    else await assert.rejects(listing, { code: 'overloaded' });
    assert.ok(succeeds ? reads === 2 : reads < 10, `${reads} reads`);
    slot.kill();
  }
});
