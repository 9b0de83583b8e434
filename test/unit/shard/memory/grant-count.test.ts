// The count of a tenant's grants is what the log says, at every owner, whatever was applied, replayed or kept late.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TenantId } from '../../../../src/core/ids.ts';
import { BUILT_IN_PLANS, type Plans } from '../../../../src/core/plans.ts';
import type { Tuple } from '../../../../src/core/tuples.ts';
import { WRITE_BEHIND } from '../../../kit/store/faulty-store.ts';
import { attempt, createMemoryStore, OpenSlot, openSlot, SLOT, soon, tuple, waitFor } from '../tools.ts';

const free = BUILT_IN_PLANS.get('free');
assert.ok(free !== undefined);
const PLANS: Plans = new Map([
  ['three', { ...free, name: 'three', grantsMax: 3 }],
  ['four', { ...free, name: 'four', grantsMax: 4 }],
]);

const bytesOf = (tuples: readonly Tuple[]): number =>
  tuples.reduce((sum, each) => sum + Buffer.byteLength(each.subject + each.relation + each.object), 0);

const totalOf = (slot: OpenSlot, tenantId: TenantId) => slot.tenure.tenants.get(tenantId)?.grantCount.total;

const totalOfAll = (tuples: readonly Tuple[]) => ({ grants: tuples.length, bytes: bytesOf(tuples) });

test('grants and their bytes are counted as they are created and revoked, a repeated one once', async () => {
  const { slot, tenantId, handle } = await openSlot();
  assert.deepEqual(totalOf(slot, tenantId), { grants: 0, bytes: 0 });
  const first = tuple('user:ann', 'doc:é😀');
  const second = tuple('user:ann', 'doc:2');
  await slot.grant(handle, first);
  await slot.grant(handle, first);
  await slot.grant(handle, second);
  assert.deepEqual(totalOf(slot, tenantId), totalOfAll([first, second]));
  await slot.revoke(handle, first);
  await slot.revoke(handle, first);
  assert.deepEqual(totalOf(slot, tenantId), totalOfAll([second]));
});

test('an owner that replays applied entries counts them once: the checkpoint is behind the count', async () => {
  const { slot, tenantId, handle } = await openSlot();
  slot.faults.turn('fail-before', ['writeCheckpoint']);
  const kept = [tuple('user:ann', 'doc:1'), tuple('user:bob', 'doc:2')];
  for (const each of [...kept, tuple('user:bob', 'doc:3')]) await slot.grant(handle, each);
  await slot.revoke(handle, tuple('user:bob', 'doc:3'));
  await slot.applied();
  // This one is in the log alone.
  slot.faults.turn('fail-before', WRITE_BEHIND);
  kept.push(tuple('user:cid', 'doc:4'));
  await slot.grant(handle, tuple('user:cid', 'doc:4'));
  const rows = await slot.memory.listGrantCounts({ slot: SLOT, limit: 10 }, soon());
  assert.equal(rows[0]?.grants, 2, 'what was applied is in the row');
  assert.equal(slot.memory.checkpointOf(SLOT), undefined);

  const heir = await slot.restart();
  assert.deepEqual(totalOf(heir, tenantId), totalOfAll(kept));
  await heir.tenure.checkpointed();
  const next = await heir.restart();
  assert.deepEqual(totalOf(next, tenantId), totalOfAll(kept));
});

test('a batch of the applier writes one row for a tenant, however many entries it has', async () => {
  let rows = 0;
  const { slot, handle } = await openSlot();
  const written = slot.memory.writeState.bind(slot.memory);
  slot.memory.writeState = (writes, deadline) => {
    rows += writes.filter(({ kind }) => kind === 'grant-count').length;
    return written(writes, deadline);
  };
  await slot.applied();
  rows = 0;
  for (let index = 0; index < 20; index += 1) await slot.grant(handle, tuple('user:ann', `doc:${index}`));
  await slot.applied();
  assert.ok(rows >= 1 && rows <= 5, `${rows} rows for 20 entries`);
});

test('grants are created exactly up to the bound, under many concurrent writers; a refused one creates no namespace', async () => {
  const slot = await OpenSlot.open(await createMemoryStore(), { plans: PLANS });
  const tenantId = await slot.createTenant('three');
  const handle = await slot.handle(tenantId);
  const tuples = Array.from({ length: 40 }, (_, index) => tuple(`s${index}:a`, `o${index}:b`));
  const results = await Promise.all(tuples.map((each) => slot.grant(handle, each)));
  const made = tuples.filter((_, index) => results[index]?.kind === 'created');
  assert.equal(made.length, 3);
  for (const result of results) {
    if (result.kind !== 'created') assert.equal(result.kind === 'refused' && result.code, 'grant-limit-reached');
  }
  assert.equal((await slot.connection.listNamespaces(handle)).length, 6);
  assert.deepEqual(totalOf(slot, tenantId), totalOfAll(made));
  const [first] = made;
  assert.ok(first !== undefined);
  // What is there needs no capacity, and revoking makes some: in one batch, for one of two.
  assert.equal((await slot.grant(handle, first)).kind, 'exists');
  const call = await slot.connection.writeGrants(handle, attempt(), [
    { ...first, revoke: true },
    { ...tuple('s0:new', 'o0:b'), revoke: false },
    { ...tuple('s0:newer', 'o0:b'), revoke: false },
  ]);
  assert.deepEqual(
    call.map(({ kind }) => kind),
    ['revoked', 'created', 'refused'],
  );
  const change = { tenantId, name: undefined, plan: 'four', state: undefined, operator: 'test' };
  await slot.operator.updateTenant(attempt(), change);
  const heir = await slot.restart({ plans: PLANS });
  const again = await heir.handle(tenantId);
  assert.equal((await heir.grant(again, tuple('s0:newer', 'o0:b'))).kind, 'created');
  assert.equal((await heir.grant(again, tuple('s0:last', 'o0:b'))).kind, 'refused');
});

test('the count of a tenant is removed with its data', async () => {
  const { slot, tenantId, handle } = await openSlot();
  await slot.grant(handle, tuple('user:ann', 'doc:1'));
  await slot.applied();
  const rows = () => slot.memory.listGrantCounts({ slot: SLOT, limit: 10 }, soon());
  assert.equal((await rows()).length, 1);
  assert.equal(await slot.store.purgeTenant({ slot: SLOT, tenantId }, slot.tenure.nextBase, soon()), true);
  await waitFor(async () => (await rows()).length === 0);
});
