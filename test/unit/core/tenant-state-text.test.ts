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

test('the state of a tenant with rules has their revision, and is read back', () => {
  const text = encodeTenantState({ ...tenant, state: 'suspended', rulesRevision: REVISION });
  assert.equal(text, `suspended rules:${REVISION}`);
  assert.deepEqual(decodeTenantState(text), { state: 'suspended', rulesRevision: REVISION });
});

test('a text that no version has written is refused', () => {
  for (const text of ['', 'actve', 'active ', 'active rules:', `active rules:${REVISION}0`, 'active more:1']) {
    assert.throws(() => decodeTenantState(text), text);
  }
});
