// The kinds of a tenant's subjects: reading them once spares reads of what does not exist, and nothing that exists is
// ever taken for absent.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SUBJECT_BUCKETS } from '../../../../src/core/slots.ts';
import { grantOf, RuledSlot } from '../evaluation/ruled-slot.ts';
import { waitFor } from '../tools.ts';

const RULES = {
  rules: [{ namespace: 'document', name: 'can_read', any_of: ['viewer', 'viewer from parent'] }],
  groups: true,
};
const DOCUMENTS = Array.from({ length: 40 }, (_, index) => `document:${String(index).padStart(2, '0')}`);

async function openCold(readsBeforeScan: number, further: readonly string[] = []): Promise<RuledSlot> {
  const grants = [...DOCUMENTS.map((each) => `user:a viewer ${each}`), ...further];
  const ruled = await RuledSlot.open(RULES, grants.map(grantOf), { pageLimits: { readsBeforeScan } });
  await ruled.goCold();
  return ruled;
}

const allRead = ({ slot }: RuledSlot) =>
  waitFor(() => slot.faults.calls('listSubjects') >= SUBJECT_BUCKETS && slot.budget.loads.bytes === 0);

test('once they are known, objects that are never subjects are not read', async () => {
  const ruled = await openCold(0);
  await ruled.check('user:a can_read document:none');
  await allRead(ruled);
  assert.deepEqual(await ruled.objects('user:a', 'can_read'), DOCUMENTS);
  // One of the person was read before. Each document could have been a group of two names, or a parent.
  assert.ok(ruled.slot.faults.calls('listGrants') <= 3, `${ruled.slot.faults.calls('listGrants')}`);
  assert.equal(ruled.slot.faults.calls('listSubjects'), SUBJECT_BUCKETS);
});

test('a few reads of entities do not cause a read of all subjects', async () => {
  const ruled = await openCold(1000);
  assert.deepEqual(await ruled.objects('user:a', 'can_read'), DOCUMENTS);
  assert.equal(ruled.slot.faults.calls('listSubjects'), 0);
  assert.ok(ruled.slot.faults.calls('listGrants') > DOCUMENTS.length);
});

test('a subject of a new kind counts from its first grant on, also while subjects are read', async () => {
  const ruled = await openCold(0, ['team:1#member viewer document:00']);
  const { faults } = ruled.slot;
  faults.turn('hold', ['listSubjects']);
  await ruled.check('user:a can_read document:none');
  await waitFor(() => faults.heldCalls() === 1);
  await ruled.write([grantOf('user:b member crew:1'), grantOf('crew:1#member viewer document:00')]);
  faults.restore(['listSubjects']);
  await allRead(ruled);
  assert.equal(await ruled.check('user:b can_read document:00'), true);
  assert.deepEqual(await ruled.objects('user:b', 'can_read', 100, 'document'), ['document:00']);
  await ruled.write([grantOf('crew:1#member viewer folder:1'), grantOf('folder:1 parent document:01')]);
  assert.deepEqual(await ruled.objects('user:b', 'can_read', 100, 'document'), ['document:00', 'document:01']);
  await ruled.write([grantOf('document:01#viewer viewer document:02')]);
  assert.deepEqual(await ruled.objects('user:b', 'can_read', 100, 'document'), ['document:00', 'document:01']);
  await ruled.write([grantOf('document:01#can_read viewer document:02')]);
  assert.equal(await ruled.check('user:b can_read document:02'), true);
});

test('a commit that the state tables lack when the reading begins is not missed', async () => {
  const ruled = await openCold(0);
  const { faults } = ruled.slot;
  faults.turn('hold', ['writeState']);
  await ruled.write([grantOf('user:b member crew:1'), grantOf('crew:1#member viewer document:00')]);
  await ruled.check('user:a can_read document:none');
  assert.equal(faults.calls('listSubjects'), 0);
  faults.restore(['writeState']);
  await allRead(ruled);
  assert.equal(await ruled.check('user:b can_read document:00'), true);
});

test('beyond a bound of kinds, none counts as known', async () => {
  const names = Array.from({ length: 1001 }, (_, index) => `team:1#n${index} viewer document:00`);
  const ruled = await openCold(0, names);
  await ruled.check('user:a can_read document:none');
  await allRead(ruled);
  await ruled.write([grantOf('user:b member team:2'), grantOf('team:2#member viewer document:03')]);
  assert.equal(await ruled.check('user:b can_read document:03'), true);
});

test('a store that cannot be read leaves them unknown', async () => {
  const ruled = await openCold(0, ['team:1#member viewer document:00', 'user:b member team:1']);
  const { faults } = ruled.slot;
  faults.turn('fail-before', ['listSubjects']);
  await ruled.check('user:a can_read document:none');
  await waitFor(() => faults.calls('listSubjects') === 1);
  assert.equal(await ruled.check('user:b can_read document:00'), true);
  faults.restore(['listSubjects']);
  assert.deepEqual(await ruled.objects('user:a', 'can_read'), DOCUMENTS);
});
