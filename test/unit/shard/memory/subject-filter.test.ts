// The filter of a tenant's subjects: reading them once spares reads of those without grants, and none with a grant is
// ever taken for one without.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SUBJECT_BUCKETS } from '../../../../src/core/slots.ts';
import { columnsOf } from '../../../../src/core/tuples.ts';
import { grantOf, RuledSlot } from '../evaluation/ruled-slot.ts';
import { openSlot, type SlotOptions, tuple, waitFor } from '../tools.ts';

const RULES = {
  rules: [{ namespace: 'document', name: 'can_read', any_of: ['viewer', 'viewer from parent'] }],
  groups: true,
};
const DOCUMENTS = Array.from({ length: 40 }, (_, index) => `document:${String(index).padStart(2, '0')}`);

async function openCold(readsBeforeScan: number, further: readonly string[] = [], options: SlotOptions = {}) {
  const grants = [...DOCUMENTS.map((each) => `user:a viewer ${each}`), ...further];
  const ruled = await RuledSlot.open(RULES, grants.map(grantOf), { ...options, pageLimits: { readsBeforeScan } });
  await ruled.goCold();
  return ruled;
}

const allRead = ({ slot }: Pick<RuledSlot, 'slot'>) =>
  waitFor(() => slot.faults.calls('listSubjects') >= SUBJECT_BUCKETS && slot.budget.loads.bytes === 0);

test('once all subjects are known, objects that are none are not read', async () => {
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
  assert.ok(ruled.slot.faults.calls('listGrants') > 1);
});

test('a subject counts from its first grant on, also while subjects are read', async () => {
  const ruled = await openCold(0, ['team:1#member viewer document:00']);
  const { faults } = ruled.slot;
  faults.turn('hold', ['listSubjects']);
  await ruled.check('user:a can_read document:none');
  await waitFor(() => faults.heldCalls() > 0);
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
  const ruled = await openCold(3);
  const { faults } = ruled.slot;
  faults.turn('hold', ['writeState']);
  await ruled.write([grantOf('user:b member crew:1'), grantOf('crew:1#member viewer document:00')]);
  for (const subject of ['user:a', 'user:n1', 'user:n2']) await ruled.check(`${subject} can_read document:none`);
  assert.equal(faults.calls('listSubjects'), 0);
  faults.restore(['writeState']);
  await allRead(ruled);
  assert.equal(await ruled.check('user:b can_read document:00'), true);
});

test('checks of subjects without grants read nothing, nor does the first write of a subject', async () => {
  const { slot } = await openCold(3);
  const [tenantId] = [...slot.tenure.tenants.keys()];
  assert.ok(tenantId !== undefined);
  const handle = await slot.handle(tenantId);
  for (let index = 0; index < 4; index += 1)
    assert.equal(await slot.check(handle, tuple(`user:n${index}`, 'x:1')), false);
  await allRead({ slot });
  const reads = slot.faults.calls('listGrants');
  const asked = Array.from({ length: 99 }, (_, index) => tuple(`user:m${index}`, 'document:00'));
  for (const each of asked) assert.equal(await slot.check(handle, each), false);
  const { authorized } = await slot.connection.checkBulk(handle, columnsOf([...asked, tuple('user:a', 'document:00')]));
  assert.deepEqual(authorized, [...asked.map(() => false), true]);
  await slot.grant(handle, tuple('user:m1', 'document:00'));
  assert.equal(await slot.check(handle, tuple('user:m1', 'document:00')), true);
  // Of those without grants, a few count as having some; the person with grants is read once.
  assert.ok(slot.faults.calls('listGrants') <= reads + 10, `${slot.faults.calls('listGrants')}, ${reads} before`);
});

test('a small tenant is read whole after its first misses, many subjects at a time', async () => {
  const subjects = Array.from({ length: 100 }, (_, index) => `user:s${index}`);
  const { slot } = await openCold(
    3,
    subjects.map((subject) => `${subject} viewer document:00`),
  );
  const [memory] = [...slot.tenure.tenants.values()];
  assert.ok(memory !== undefined);
  const handle = await slot.handle(memory.tenantId);
  for (let index = 0; index < 4; index += 1) await slot.check(handle, tuple(`user:n${index}`, 'x:1'));
  await waitFor(() => memory.lacks('user:n1') && subjects.every((subject) => memory.pages.get(subject)?.whole));
  const reads = slot.faults.calls('listGrants');
  assert.ok(reads < 4 + 2 * SUBJECT_BUCKETS, `${reads} reads`);
  for (const subject of subjects) assert.equal(await slot.check(handle, tuple(subject, 'document:00')), true);
  assert.equal(slot.faults.calls('listGrants'), reads);
});

test('a tenant that is too large for its share of memory is not read ahead', async () => {
  const { slot } = await openCold(0, [], { cacheBytesMax: 100_000 });
  const [memory] = [...slot.tenure.tenants.values()];
  assert.ok(memory !== undefined);
  await slot.check(await slot.handle(memory.tenantId), tuple('user:n', 'x:1'));
  await waitFor(() => memory.lacks('user:none'));
  assert.equal(memory.pages.get('user:a'), undefined);
});

test('a tenant that was created here is known to have nothing', async () => {
  const { slot, handle } = await openSlot();
  for (let index = 0; index < 200; index += 1) {
    assert.equal(await slot.check(handle, tuple(`user:${index}`, 'doc:1')), false);
    await slot.grant(handle, tuple(`user:${index}`, 'doc:1'));
    assert.equal(await slot.check(handle, tuple(`user:${index}`, 'doc:1')), true);
  }
  assert.ok(slot.faults.calls('listGrants') <= 20, `${slot.faults.calls('listGrants')}`);
});

test('a filter that was evicted is read again', async () => {
  const { slot } = await openCold(0);
  const [memory] = [...slot.tenure.tenants.values()];
  assert.ok(memory !== undefined);
  const handle = await slot.handle(memory.tenantId);
  assert.equal(await slot.check(handle, tuple('user:n', 'x:1')), false);
  await waitFor(() => memory.lacks('user:none'));
  slot.budget.remove(memory.subjects);
  memory.subjects.evict();
  assert.equal(memory.lacks('user:none'), false);
  assert.equal(await slot.check(handle, tuple('user:m', 'document:00')), false);
  await waitFor(() => memory.lacks('user:none'));
  assert.equal(memory.lacks('user:a'), false);
  slot.tenure.end('the test ends it');
  await waitFor(() => slot.budget.pageBytes === 0);
});

test('a store that cannot be read leaves them unknown', async () => {
  const ruled = await openCold(0, ['team:1#member viewer document:00', 'user:b member team:1']);
  const { faults } = ruled.slot;
  faults.turn('fail-before', ['listSubjects']);
  await ruled.check('user:a can_read document:none');
  await waitFor(() => faults.calls('listSubjects') > 0);
  assert.equal(await ruled.check('user:b can_read document:00'), true);
  faults.restore(['listSubjects']);
  assert.deepEqual(await ruled.objects('user:a', 'can_read'), DOCUMENTS);
});
