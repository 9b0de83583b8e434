// A plan's bounds on namespaces and keys are kept exactly, and what they refuse changes nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILT_IN_PLANS, type Plans } from '../../../../src/core/plans.ts';
import { attempt, createMemoryStore, OpenSlot, tuple } from '../tools.ts';

const free = BUILT_IN_PLANS.get('free');
assert.ok(free !== undefined);
const PLANS: Plans = new Map([
  ['small', { ...free, name: 'small', namespacesMax: 4, keysMax: 3 }],
  ['large', { ...free, name: 'large', namespacesMax: 5 }],
]);

async function openSlot() {
  const slot = await OpenSlot.open(await createMemoryStore(), { plans: PLANS });
  const tenantId = await slot.createTenant('small');
  return { slot, tenantId, handle: await slot.handle(tenantId) };
}

const names = async (slot: OpenSlot, handle: number) =>
  (await slot.connection.listNamespaces(handle)).map(({ name }) => name);

test('namespaces are made up to the bound exactly, explicit and implicit ones alike', async () => {
  const { slot, tenantId, handle } = await openSlot();
  assert.equal((await slot.connection.createNamespace(handle, attempt(), 'n1')).created, true);
  assert.equal((await slot.grant(handle, tuple('n2:a', 'n3:b'))).kind, 'created');
  // One is left, and this grant needs two: it grants nothing and makes nothing.
  const refused = await slot.grant(handle, tuple('n5:a', 'n6:b'));
  assert.deepEqual(refused.kind === 'refused' && refused.code, 'namespace-limit-reached');
  assert.equal(await slot.check(handle, tuple('n5:a', 'n6:b')), false);
  assert.deepEqual(await names(slot, handle), ['n1', 'n2', 'n3']);
  assert.equal((await slot.grant(handle, tuple('n4:a', 'n4:b'))).kind, 'created');
  assert.equal((await slot.grant(handle, tuple('n5:a', 'n1:b'))).kind, 'refused');
  await assert.rejects(slot.connection.createNamespace(handle, attempt(), 'n5'), {
    code: 'namespace-limit-reached',
    message: `The plan of tenant ${tenantId} allows 4 namespaces.`,
  });
  // What is there already needs no capacity.
  assert.equal((await slot.connection.createNamespace(handle, attempt(), 'n4')).created, false);
  assert.equal((await slot.grant(handle, tuple('n1:a', 'n4:b'))).kind, 'created');
  assert.deepEqual(await names(slot, handle), ['n1', 'n2', 'n3', 'n4']);
  // A larger plan applies from its answer on.
  await slot.update({ tenantId, plan: 'large' });
  const again = await slot.handle(tenantId);
  assert.equal((await slot.connection.createNamespace(again, attempt(), 'n5')).created, true);
});

test('within one batch the bound is kept, too; the refused ones leave the others', async () => {
  const { slot, handle } = await openSlot();
  const results = await slot.connection.writeGrants(
    handle,
    attempt(),
    ['n1:x n2:x', 'n3:x n1:x', 'n4:x n5:x', 'n6:x n4:x', 'n4:x n1:x', 'n5:x n1:x'].map((text) => {
      const [subject = '', object = ''] = text.split(' ');
      return { ...tuple(subject, object), revoke: false };
    }),
  );
  assert.deepEqual(
    results.map(({ kind }) => kind),
    ['created', 'created', 'refused', 'refused', 'created', 'refused'],
  );
  const made = await Promise.allSettled(
    ['n8', 'n9'].map((name) => slot.connection.createNamespace(handle, attempt(), name)),
  );
  assert.deepEqual(
    made.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.deepEqual(await names(slot, handle), ['n1', 'n2', 'n3', 'n4']);
});

test('keys are made up to the bound exactly, within one batch too; a revocation frees one', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const made = await Promise.allSettled(Array.from({ length: 5 }, () => slot.createKey(handle, tenantId)));
  const keys = made.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  assert.equal(keys.length, 3);
  const refusal = { code: 'key-limit-reached', message: `The plan of tenant ${tenantId} allows 3 API keys.` };
  for (const each of made) {
    if (each.status !== 'rejected') continue;
    assert.deepEqual({ code: each.reason.code, message: each.reason.message }, refusal);
  }
  const [first, second] = keys;
  assert.ok(first !== undefined && second !== undefined);
  // In one batch: the revocation comes first, so there is capacity for one.
  const [, third, fourth] = await Promise.allSettled([
    slot.connection.revokeKey(handle, attempt(), first.keyId),
    slot.createKey(handle, tenantId),
    slot.createKey(handle, tenantId),
  ]);
  assert.deepEqual([third?.status, fourth?.status], ['fulfilled', 'rejected']);
  await slot.connection.revokeKey(handle, attempt(), second.keyId);
  await slot.createKey(handle, tenantId);
  assert.equal((await slot.connection.listKeys(handle, { limit: 10, cursor: undefined })).items.length, 3);
});
