// The filter of the audit log: each field exactly, all at once, and never by a text that only looks like the field.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AuditFilter, auditMatcher, filterScope } from '../../../src/core/audit-log.ts';

const row = (change: object, actor = 'operator:ann', requestId = 'req_1') => ({
  actor,
  requestId,
  change: JSON.stringify(change),
});
const grant = { action: 'grant.created', subject: 'user:ann', relation: 'viewer', object: 'doc:1' };

test('a filter without fields is none', () => {
  for (const filter of [{}, { action: '', actor: undefined }]) {
    assert.equal(auditMatcher(filter), undefined);
    assert.deepEqual(filterScope(filter), []);
  }
});

test('every field has to fit, and exactly', () => {
  const fits = (filter: AuditFilter, change: object = grant): boolean | undefined =>
    auditMatcher(filter)?.(row(change));
  const whole = {
    action: 'grant.created',
    actor: 'operator:ann',
    subject: 'user:ann',
    object: 'doc:1',
    requestId: 'req_1',
  };
  assert.equal(fits(whole), true);
  for (const [name, value] of Object.entries(whole)) {
    assert.equal(fits({ [name]: value }), true, name);
    for (const other of [`${value}2`, value.slice(0, -1), value.toUpperCase()]) {
      assert.equal(fits({ [name]: other }), false, `${name} ${other}`);
      assert.equal(fits({ ...whole, [name]: other }), false, `${name} ${other} beside the others`);
    }
  }
  assert.equal(fits({ subject: 'doc:1' }), false, 'a value of another field');
  assert.equal(fits({ subject: 'user:"\\' }, { ...grant, subject: 'user:"\\' }), true);
});

test('what stands inside of another value does not fit', () => {
  const matches = auditMatcher({ subject: 'user:ann' });
  assert.equal(matches?.(row({ action: 'tenant.updated', name: '","subject":"user:ann","x":"' })), false);
  assert.equal(matches?.(row({ action: 'later', nested: { subject: 'user:ann' } })), false);
  assert.equal(matches?.({ actor: 'system', requestId: '', change: 'no JSON "subject":"user:ann"' }), false);
});

test('the scope tells filters apart', () => {
  const filters = [
    { subject: 'a' },
    { object: 'a' },
    { action: 'a' },
    { actor: 'a' },
    { requestId: 'a' },
    { subject: 'b' },
  ];
  assert.equal(new Set(filters.map((filter) => JSON.stringify(filterScope(filter)))).size, filters.length);
});
