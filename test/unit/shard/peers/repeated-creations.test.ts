// What an owner says to a repeated creation, whose id is derived from an Idempotency-Key: it never creates twice, over
// changes of owner, and whatever has become of the thing since.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashApiKey } from '../../../../src/core/api-keys.ts';
import { derivedKeyId, derivedTenantId } from '../../../../src/core/idempotency-keys.ts';
import type { KeyId } from '../../../../src/core/ids.ts';
import { BUILT_IN_PLANS } from '../../../../src/core/plans.ts';
import { ALL_SCOPES } from '../../../../src/core/scopes.ts';
import { auditLogPage, createMemoryStore, OpenSlot, openSlot, tuple } from '../tools.ts';

const FIELDS = { name: 'web', scopes: ALL_SCOPES, expiresAtMs: undefined };
let texts = 0;

/** With a new text each time, as a front makes it. */
const createKey = (slot: OpenSlot, handle: number, keyId: KeyId, fields: Partial<typeof FIELDS> = {}) => {
  texts += 1;
  const text = `the text of ${keyId} ${texts}`;
  const key = { keyId, ...FIELDS, ...fields, hash: hashApiKey(text) };
  return slot.connection.createKey(handle, slot.attempt(), key).then(() => text);
};

test('an API key is created once, and a repeat replaces nothing, at any owner', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const keyId = derivedKeyId(tenantId, '', 'a');
  const key = await createKey(slot, handle, keyId);
  await assert.rejects(createKey(slot, handle, keyId), { code: 'already-created' });
  await assert.rejects(createKey(slot, handle, keyId, { name: 'other' }), { code: 'idempotency-key-reused' });
  const heir = await slot.restart();
  const again = await heir.handle(tenantId);
  await assert.rejects(createKey(heir, again, keyId), { code: 'already-created' });
  await assert.rejects(createKey(heir, again, keyId, { scopes: 1 }), { code: 'idempotency-key-reused' });
  assert.ok((await heir.front.authenticate({ tenantId, keyId, key })).handle > 0, 'the first text still counts');
});

test('creations that meet in one batch make one API key, and the others learn so once it is durable', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const keyId = derivedKeyId(tenantId, '', 'a');
  const creation = () => createKey(slot, handle, keyId);
  const [first, ...others] = await slot.inOneEntry(
    () => slot.grant(handle, tuple('user:1', 'doc:1')),
    ...[creation, creation, creation],
  );
  await first;
  for (const other of others) await assert.rejects(other, { code: 'already-created' });
});

test('a revoked API key is not created again, whether state has the revocation or not, over changes of owner', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const keyId = derivedKeyId(tenantId, '', 'a');
  await createKey(slot, handle, keyId);
  await slot.connection.revokeKey(handle, slot.attempt(), keyId);
  await assert.rejects(createKey(slot, handle, keyId), { code: 'already-created', message: /revoked/ });
  const heir = await slot.restart();
  await assert.rejects(createKey(heir, await heir.handle(tenantId), keyId), { code: 'already-created' });
  // Its neighbour is another matter.
  await createKey(heir, await heir.handle(tenantId), derivedKeyId(tenantId, '', 'b'));
});

test('a repeat is told so even if the tenant has all the keys of its plan', async () => {
  const plan = {
    name: 'one',
    requests: undefined,
    windowSeconds: 1,
    namespacesMax: 1,
    keysMax: 1,
    grantsMax: undefined,
    streamsMax: 10,
    readers: 0,
    readersMax: 4,
  };
  const plans = new Map([...BUILT_IN_PLANS, ['one', plan] as const]);
  const slot = await OpenSlot.open(await createMemoryStore(), { plans });
  const tenantId = await slot.createTenant('one');
  const handle = await slot.handle(tenantId);
  const keyId = derivedKeyId(tenantId, '', 'a');
  await createKey(slot, handle, keyId);
  await assert.rejects(createKey(slot, handle, keyId), { code: 'already-created' });
  await assert.rejects(createKey(slot, handle, derivedKeyId(tenantId, '', 'b')), { code: 'key-limit-reached' });
});

test('a tenant under a derived id is created once, at any owner', async () => {
  const slot = await OpenSlot.open(await createMemoryStore());
  const asked = { tenantId: derivedTenantId('ann', 'a'), name: 'Acme', plan: 'free', operator: 'ann' };
  await assert.rejects(auditLogPage(slot, asked.tenantId), { code: 'tenant-not-found' });
  const created = await slot.operator.createTenant(slot.attempt(), asked);
  await assert.rejects(slot.operator.createTenant(slot.attempt(), asked), { code: 'already-created' });
  const heir = await slot.restart();
  await assert.rejects(heir.operator.createTenant(heir.attempt(), asked), { code: 'already-created' });
  assert.deepEqual((await heir.operator.readTenant({ tenantId: asked.tenantId })).createdAtMs, created.createdAtMs);
});
