// Checks by name that memory answers without an evaluation: by a grant, or by an answer that no commit has changed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scopeMask } from '../../../../src/core/scopes.ts';
import { attempt, tuple } from '../tools.ts';
import { grantOf, RuledSlot } from './ruled-slot.ts';

const RULES = {
  relations: ['auditor'],
  conditions: [{ name: 'late', parameters: { hour: 'int' }, expression: 'hour > 20' }],
  rules: [{ namespace: 'doc', name: 'can_read', any_of: [{ all_of: ['viewer', 'auditor'] }] }],
};

test('what was answered is known until a commit that may change it, and a grant always', async () => {
  const ruled = await RuledSlot.open(RULES, [grantOf('user:a viewer doc:1'), grantOf('user:a auditor doc:1')]);
  const known = (text: string) => ruled.slot.connection.checkKnown(ruled.handle, grantOf(text));
  assert.equal(known('user:a can_read doc:1'), undefined);
  assert.equal(await ruled.check('user:a can_read doc:1'), true);
  // The first time, its page is loaded.
  for (let time = 0; time < 2; time += 1) assert.equal(await ruled.check('user:b can_read doc:1'), false);
  assert.equal(known('user:a can_read doc:1'), true);
  assert.equal(known('user:b can_read doc:1'), false);
  assert.equal(known('user:a auditor doc:1'), true);
  assert.equal(known('user:a nothing doc:1'), undefined);
  await ruled.write([grantOf('user:c viewer doc:1')]);
  assert.equal(known('user:a can_read doc:1'), true);
  await ruled.write([grantOf('user:a auditor doc:1')], true);
  assert.equal(known('user:a can_read doc:1'), undefined);
  assert.equal(known('user:a auditor doc:1'), undefined);
  assert.equal(await ruled.check('user:a can_read doc:1'), false);
  assert.equal(known('user:a can_read doc:1'), false);
  await ruled.setRules({ ...RULES, rules: [{ namespace: 'doc', name: 'can_read', any_of: ['viewer'] }] });
  assert.notEqual(known('user:a can_read doc:1'), false);
});

test('a grant with a condition, or that expires, is not known to hold', async () => {
  const ruled = await RuledSlot.open(RULES);
  const [one, other] = ['user:a', 'user:b'].map((subject) => ({ ...tuple(subject, 'doc:1'), revoke: false }));
  assert.ok(one !== undefined && other !== undefined);
  const writes = [
    { ...one, condition: 'late' },
    { ...other, expiresAtMs: Date.now() + 3_600_000 },
  ];
  await ruled.slot.connection.writeGrants(ruled.handle, attempt(), writes);
  for (const subject of ['user:a', 'user:b']) {
    assert.equal(ruled.slot.connection.checkKnown(ruled.handle, tuple(subject, 'doc:1')), undefined);
  }
});

test('a key without the scope, and one that was revoked, learn nothing', async () => {
  const ruled = await RuledSlot.open(RULES, [grantOf('user:a auditor doc:1')]);
  const { slot, handle } = ruled;
  const [tenantId] = [...slot.tenure.tenants.keys()];
  assert.ok(tenantId !== undefined);
  const check = grantOf('user:a auditor doc:1');
  const writer = await slot.createKey(handle, tenantId, undefined, scopeMask(['grant:write']));
  const { handle: ofWriter } = await slot.front.authenticate(writer);
  assert.throws(() => slot.front.checkKnown(ofWriter, check), { code: 'insufficient-scope' });
  const key = await slot.createKey(handle, tenantId);
  const { handle: front } = await slot.front.authenticate(key);
  assert.equal(slot.front.checkKnown(front, check), true);
  await slot.connection.revokeKey(handle, attempt(), key.keyId);
  assert.throws(() => slot.front.checkKnown(front, check), { kind: 'handle-unknown' });
});
