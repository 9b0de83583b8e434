// A tenant that is created with an Idempotency-Key: what is asked of its owner, and what a repeat gets.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import { tenantIdFromDigest } from '../../../../src/core/ids.ts';
import type { Tenant } from '../../../../src/core/tenants.ts';
import { createOnce } from '../../../../src/front/operator/operator.ts';

const ASKED = { name: 'Acme', plan: 'free' };
const TENANT: Tenant = { tenantId: tenantIdFromDigest(new Uint8Array(32)), ...ASKED, state: 'active', createdAtMs: 1 };
const CHANGE = JSON.stringify({ action: 'tenant.created', ...ASKED, state: 'active' });

type Failure = 'already-created' | 'tenant-not-found' | 'unavailable';

const isFailure = (value: unknown): value is Failure =>
  value === 'already-created' || value === 'tenant-not-found' || value === 'unavailable';

/** An owner whose answers are given in order; a code is an error. */
function owner(answers: {
  create?: Tenant | Failure;
  read?: Tenant | Failure;
  changes: readonly (string | Failure | undefined)[];
}) {
  const asked: string[] = [];
  const changes = [...answers.changes];
  const take = async <Value>(name: string, value: Value | Failure): Promise<Value> => {
    asked.push(name);
    if (isFailure(value)) throw new GrantdError(value, 'refused');
    return value;
  };
  const calls = {
    create: () => take<Tenant>('create', answers.create ?? 'unavailable'),
    read: () => take<Tenant>('read', answers.read ?? 'unavailable'),
    readFirstChange: () => take<string | undefined>('first', changes.shift()),
  };
  return { asked, calls };
}

test('the first request creates the tenant', async () => {
  const { asked, calls } = owner({ changes: ['tenant-not-found'], create: TENANT });
  assert.equal(await createOnce(calls, ASKED), TENANT);
  assert.deepEqual(asked, ['first', 'create']);
});

test('a repeat gets the tenant as it is now, and creates nothing', async () => {
  const renamed = { ...TENANT, name: 'Renamed' };
  const { asked, calls } = owner({ changes: [CHANGE], read: renamed });
  assert.equal(await createOnce(calls, ASKED), renamed);
  assert.deepEqual(asked, ['first', 'read']);
});

test('of two that meet, the one that comes second at the owner gets the tenant, too', async () => {
  const { calls } = owner({ changes: ['tenant-not-found', CHANGE], create: 'already-created', read: TENANT });
  assert.equal(await createOnce(calls, ASKED), TENANT);
});

test('other fields than those of the first request are refused', async () => {
  for (const other of [
    { ...ASKED, name: 'Other' },
    { ...ASKED, plan: 'scale' },
  ]) {
    const { calls } = owner({ changes: [CHANGE], read: TENANT });
    await assert.rejects(createOnce(calls, other), { code: 'idempotency-key-reused' });
  }
});

test('a deleted tenant is not created again, even if only its audit log is left', async () => {
  for (const read of [{ ...TENANT, state: 'deleted' } as const, 'tenant-not-found' as const]) {
    const { asked, calls } = owner({ changes: [CHANGE], read });
    await assert.rejects(createOnce(calls, ASKED), { code: 'already-created' });
    assert.ok(!asked.includes('create'));
  }
});

test('any other failure is passed on', async () => {
  await assert.rejects(createOnce(owner({ changes: ['unavailable'] }).calls, ASKED), { code: 'unavailable' });
  await assert.rejects(createOnce(owner({ changes: ['tenant-not-found'] }).calls, ASKED), { code: 'unavailable' });
});
