// Entities with more grants than a page has room for: listings go through them, a grant to a group is followed from the
// moment it is made, and what a call keeps of them is reserved and returned.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LARGE_EVALUATION_BYTES } from '../../../../src/shard/memory/memory-budget.ts';
import type { StoreHooks } from '../../../kit/store/faulty-store.ts';
import { turns } from '../tools.ts';
import { grantOf, RuledSlot } from './ruled-slot.ts';

const RULES = {
  rules: [{ namespace: 'document', name: 'can_read', any_of: ['viewer', 'viewer from parent'] }],
  groups: true,
};
const COUNT = 60;
const SMALL_PAGES = { pageLimits: { rowsPerRead: 4, rowsMax: 8, rowsPerListing: 5 } };

const numbered = (prefix: string): string[] =>
  Array.from({ length: COUNT }, (_, index) => `${prefix}${String(index).padStart(3, '0')}`);

async function openLarge(hooks: StoreHooks = {}): Promise<RuledSlot> {
  const ruled = await RuledSlot.open(
    RULES,
    [
      'team:1#member viewer document:1',
      ...numbered('user:a').map((each) => `${each} member team:1`),
      ...numbered('document:b').map((each) => `user:many viewer ${each}`),
      ...numbered('document:c').map((each) => `folder:1 parent ${each}`),
      'user:many viewer folder:1',
    ].map(grantOf),
    { ...SMALL_PAGES, hooks },
  );
  await ruled.goCold();
  return ruled;
}

test('a subject and a group with more grants than a page holds are listed completely', async () => {
  const ruled = await openLarge();
  for (const limit of [7, 100]) {
    assert.deepEqual(await ruled.holders('document:1', 'can_read', limit, 'user'), numbered('user:a'));
    assert.deepEqual(await ruled.objects('user:many', 'can_read', limit), [
      ...numbered('document:b'),
      ...numbered('document:c'),
    ]);
  }
  assert.equal(ruled.slot.budget.evaluations.bytes, 0);
});

test('a listing of grants alone whose tenant gets its first rules meanwhile has the reach of one under rules', async () => {
  const rules = { rules: [{ namespace: 'document', name: 'viewer', any_of: ['viewer from parent'] }], groups: true };
  const ruled = await RuledSlot.open(
    { rules: [] },
    [
      ...numbered('document:b').map((each) => `user:many viewer ${each}`),
      ...numbered('user:a').map((each) => `${each} viewer document:1`),
      'folder:1 parent document:1',
      'user:z viewer folder:1',
    ].map(grantOf),
    SMALL_PAGES,
  );
  await ruled.goCold();
  const reads = ['listGrants', 'listObjectGrants'] as const;
  ruled.slot.faults.turn('hold', reads);
  const listings = Promise.all([
    ruled.objects('user:many', 'viewer', 100, 'document'),
    ruled.holders('document:1', 'viewer', 100, 'user'),
  ]);
  await turns(20);
  assert.ok(ruled.slot.faults.heldCalls() > 0);
  await ruled.setRules(rules);
  ruled.slot.faults.restore(reads);
  assert.deepEqual(await listings, [numbered('document:b'), [...numbered('user:a'), 'user:z']]);
});

test('a large group without member groups is followed into one as soon as it has one', async () => {
  const ruled = await openLarge();
  await ruled.holders('document:1', 'can_read', 100, 'user');
  // Both sides of this check are large.
  assert.equal(await ruled.check('user:many can_read document:1'), false);
  await ruled.write([grantOf('user:many member team:2'), grantOf('team:2#member member team:1')]);
  assert.equal(await ruled.check('user:many can_read document:1'), true);
  assert.deepEqual(await ruled.objects('user:many', 'can_read', 1000, 'document'), [
    'document:1',
    ...numbered('document:b'),
    ...numbered('document:c'),
  ]);
  assert.ok((await ruled.holders('document:1', 'can_read', 100, 'user')).includes('user:many'));
  await ruled.write([grantOf('team:2#member member team:1')], true);
  assert.equal(await ruled.check('user:many can_read document:1'), false);
  assert.ok(!(await ruled.holders('document:1', 'can_read', 100, 'user')).includes('user:many'));
});

test('a tenant has one large evaluation at a time, and its memory is reserved', async () => {
  const ruled = await openLarge();
  const { evaluations } = ruled.slot.budget;
  let ended = false;
  let highest = 0;
  const watch = (async () => {
    while (!ended) {
      highest = Math.max(highest, evaluations.bytes);
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  const listed = await Promise.all([
    ruled.objects('user:many', 'can_read'),
    ruled.objects('user:many', 'can_read'),
    ruled.holders('document:1', 'can_read', 100, 'user'),
  ]);
  ended = true;
  await watch;
  assert.deepEqual(
    listed.map(({ length }) => length),
    [2 * COUNT, 2 * COUNT, COUNT],
  );
  assert.equal(highest, LARGE_EVALUATION_BYTES);
  assert.equal(evaluations.bytes, 0);
});

test('a group that has just received very many members is evaluated once the state tables have them', async () => {
  const members = Array.from({ length: 700 }, (_, index) => grantOf(`user:${index} member team:1`));
  const ruled = await RuledSlot.open(RULES, [grantOf('team:1#member viewer document:1')]);
  await ruled.goCold();
  await ruled.write(members);
  assert.equal(await ruled.check('user:7 can_read document:1'), true);
  assert.equal(await ruled.check('user:none can_read document:1'), false);
  assert.equal((await ruled.holders('document:1', 'can_read', 1000, 'user')).length, members.length);
});

test('a check between a subject and an object with very many plain grants is decided by the few groups of the object', async () => {
  const others = Array.from({ length: 10_500 }, (_, index) => index);
  const ruled = await RuledSlot.open({ rules: [], groups: true, public: [] }, [
    ...others.map((index) => grantOf(`user:many viewer document:${index}`)),
    ...others.map((index) => grantOf(`user:${index} viewer document:large`)),
  ]);
  await ruled.goCold();
  const question = 'user:many viewer document:large';
  const asked = async (): Promise<boolean[]> => [
    await ruled.check(question),
    (await ruled.named([grantOf(question)], true)).authorized[0] === true,
  ];
  assert.deepEqual(await asked(), [false, false]);
  await ruled.write([grantOf('team:1#member viewer document:large')]);
  assert.deepEqual(await asked(), [false, false]);
  await ruled.write([grantOf('user:many member team:1')]);
  assert.deepEqual(await asked(), [true, true]);
  await ruled.goCold();
  assert.deepEqual(await asked(), [true, true]);
  await ruled.write([grantOf('user:many member team:1')], true);
  assert.deepEqual(await asked(), [false, false]);
  await ruled.write([grantOf('user:many member team:2'), grantOf('team:2#member viewer document:large')]);
  assert.deepEqual(await asked(), [true, true]);
  await ruled.write([grantOf('team:2#member viewer document:large')], true);
  assert.deepEqual(await asked(), [false, false]);
});

test('the groups of an object with very many grants are read once, and follow every later change', async () => {
  let reads = 0;
  const fault = (operation: string): undefined => {
    if (operation === 'listObjectGrants') reads += 1;
  };
  const ruled = await openLarge({ fault });
  assert.equal(await ruled.check('user:many member team:1'), false);
  const before = reads;
  assert.ok(before > COUNT / SMALL_PAGES.pageLimits.rowsPerListing, `${before} reads`);
  for (const each of numbered('user:b')) assert.equal(await ruled.check(`${each} member team:1`), false);
  await ruled.write([grantOf('team:2#member member team:1'), grantOf('user:b007 member team:2')]);
  assert.equal(await ruled.check('user:b007 member team:1'), true);
  await ruled.write([grantOf('team:2#member member team:1')], true);
  assert.equal(await ruled.check('user:b007 member team:1'), false);
  // The page of the new group itself.
  assert.ok(reads <= before + 1, `${reads} reads, ${before} before`);
});

test('an object with more groups than a check follows is detected once', async () => {
  let reads = 0;
  const fault = (operation: string): undefined => {
    if (operation === 'listObjectGrants') reads += 1;
  };
  const others = Array.from({ length: 10_500 }, (_, index) => index);
  const ruled = await RuledSlot.open(
    { rules: [], groups: true, public: [] },
    [
      ...others.map((index) => grantOf(`user:many viewer document:${index}`)),
      ...others.map((index) => grantOf(`team:${index}#member viewer document:large`)),
    ],
    { hooks: { fault } },
  );
  await ruled.goCold();
  const isRefused = () =>
    assert.rejects(ruled.check('user:many viewer document:large'), { code: 'evaluation-too-large' });
  await isRefused();
  const before = reads;
  for (let again = 0; again < 3; again += 1) await isRefused();
  assert.equal(reads, before);
});

test('a name that follows from hundreds of relations is decided on an entity with more grants than a page holds', async () => {
  const relations = Array.from({ length: 250 }, (_, index) => `r${index}`);
  const names = ['some', 'more', 'others'];
  const parts = names.map((name, at) => ({ name, any_of: relations.slice(100 * at, 100 * at + 100) }));
  const rules = [...parts, { name: 'can_read', any_of: names }].map((each) => ({ namespace: 'document', ...each }));
  const ruled = await RuledSlot.open(
    { relations, rules, groups: true },
    [
      ...relations.map((relation) => `user:${relation} ${relation} document:1`),
      ...numbered('document:b').map((each) => `user:many r0 ${each}`),
    ].map(grantOf),
    SMALL_PAGES,
  );
  await ruled.goCold();
  assert.equal(await ruled.check('user:many can_read document:1'), false);
  assert.deepEqual(
    await ruled.holders('document:1', 'can_read', 1000, 'user'),
    relations.map((relation) => `user:${relation}`).toSorted(),
  );
});
