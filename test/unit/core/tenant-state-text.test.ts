// The state of a tenant and the revision of its rules in one column.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeTenantState, encodeTenantState } from '../../../src/core/tenants.ts';
import { newTenantId } from '../../kit/store/store-fixtures.ts';

const REVISION = '0123456789abcdef0123456789abcdef';
const tenant = { tenantId: newTenantId(), name: 'T', plan: 'free', createdAtMs: 1 };

test('a tenant without rules is stored as its state', () => {
  for (const state of ['active', 'suspended', 'deleting', 'deleted'] as const) {
    assert.equal(encodeTenantState({ ...tenant, state }), state);
    assert.deepEqual(decodeTenantState(state), { state });
  }
});

test('the state of a tenant with rules has their version and revision, and is read back', () => {
  const rules = { rulesVersion: 12, rulesRevision: REVISION };
  const text = encodeTenantState({ ...tenant, state: 'suspended', ...rules });
  assert.equal(text, `suspended rules:12:${REVISION}`);
  assert.deepEqual(decodeTenantState(text), { state: 'suspended', ...rules });
});

test('a tenant that has removed its rules is stored with their version', () => {
  const text = encodeTenantState({ ...tenant, state: 'active', rulesVersion: 2 });
  assert.equal(text, 'active rules:2');
  assert.deepEqual(decodeTenantState(text), { state: 'active', rulesVersion: 2 });
});

test('a text that no version has written is refused', () => {
  for (const text of [
    '',
    'actve',
    'active ',
    'active rules:',
    `active rules:${REVISION}`,
    `active rules:1:${REVISION}0`,
    'active more:1',
  ]) {
    assert.throws(() => decodeTenantState(text), text);
  }
});
