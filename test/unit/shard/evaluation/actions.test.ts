// What a subject may do on an object, and checks of names that no rule defines: answered at one moment, by the rules of
// that moment.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RELATIONS } from '../../../../src/core/tuples.ts';
import { readAll } from '../../../kit/store/read-all.ts';
import { turns } from '../tools.ts';
import { grantOf, RuledSlot } from './ruled-slot.ts';

const RULES = {
  rules: [
    { namespace: 'document', name: 'viewer', any_of: ['editor'] },
    { namespace: 'document', name: 'write', any_of: ['editor'] },
    { namespace: 'document', name: 'read', any_of: ['viewer', 'write'] },
    { namespace: 'document', name: 'delete', any_of: ['owner'] },
    { namespace: 'folder', name: 'viewer', any_of: ['editor'] },
  ],
  groups: true,
  public: ['user'],
};
const GRANTS = [
  'user:a editor document:1',
  'group:g#member viewer document:1',
  'user:b member group:g',
  'user:* owner document:2',
  'user:a editor folder:1',
];

const namesOf = (ruled: RuledSlot, subject: string, object: string, limit = 100): Promise<readonly string[]> =>
  readAll((cursor) => ruled.slot.connection.listNames(ruled.handle, { subject, object, limit, cursor }));

for (const cold of [false, true]) {
  test(`actions are the derived names of a namespace, or the relations: ${cold ? 'cold' : 'warm'}`, async () => {
    const ruled = await RuledSlot.open(RULES, GRANTS.map(grantOf));
    if (cold) await ruled.goCold();
    assert.deepEqual(await namesOf(ruled, 'user:a', 'document:1'), ['read', 'write']);
    assert.deepEqual(await namesOf(ruled, 'user:b', 'document:1'), ['read']);
    assert.deepEqual(await namesOf(ruled, 'user:c', 'document:1'), []);
    assert.deepEqual(await namesOf(ruled, 'user:c', 'document:2'), ['delete']);
    assert.deepEqual(await namesOf(ruled, 'user:a', 'folder:1'), ['editor', 'viewer']);
    assert.deepEqual(await namesOf(ruled, 'user:a', 'spaceship:1'), []);
  });
}

test('actions come in pages, ascending, each once, and a cursor is one of its own query', async () => {
  const ruled = await RuledSlot.open({ rules: [] }, [
    ...RELATIONS.map((relation) => ({ subject: 'user:a', relation, object: 'document:1' })),
    grantOf('user:a viewer document:2'),
  ]);
  for (const limit of [1, 2, 8, 9, 1000]) {
    assert.deepEqual(await namesOf(ruled, 'user:a', 'document:1', limit), [...RELATIONS].sort(), `limit ${limit}`);
  }
  const query = { subject: 'user:a', object: 'document:1', limit: 1 };
  const { nextCursor: cursor } = await ruled.slot.connection.listNames(ruled.handle, { ...query, cursor: undefined });
  assert.ok(cursor !== undefined);
  for (const other of [{ subject: 'user:b' }, { object: 'document:2' }]) {
    const asked = ruled.slot.connection.listNames(ruled.handle, { ...query, ...other, cursor });
    await assert.rejects(asked, { code: 'invalid-cursor' });
  }
});

test('actions are those of the rules at the moment of the answer', async () => {
  const ruled = await RuledSlot.open(RULES, GRANTS.map(grantOf));
  await ruled.goCold();
  ruled.slot.faults.turn('hold', ['listGrants', 'listObjectGrants']);
  const names = namesOf(ruled, 'user:a', 'document:1');
  await turns(20);
  assert.ok(ruled.slot.faults.heldCalls() > 0);
  await ruled.setRules({ rules: [{ namespace: 'document', name: 'amend', any_of: ['editor'] }] });
  ruled.slot.faults.restore(['listGrants', 'listObjectGrants']);
  assert.deepEqual(await names, ['amend']);
});

test('a name that no rule defines is denied on request, and reported', async () => {
  for (const rules of [RULES, { rules: [] }]) {
    const ruled = await RuledSlot.open(rules, GRANTS.map(grantOf));
    const asked = ['user:a fly document:1', 'user:a editor document:1', 'user:a edtior document:1'].map(grantOf);
    for (const cold of [false, true]) {
      if (cold) await ruled.goCold();
      const { authorized, undefinedAt, hints } = await ruled.named(asked, false, true);
      assert.deepEqual({ authorized, undefinedAt }, { authorized: [false, true, false], undefinedAt: [0, 2] });
      assert.equal(hints.length, 2);
      assert.match(hints[0] ?? '', /^(?:Names on document: |The names are )/);
      assert.match(hints[1] ?? '', /^Did you mean "editor"\? (?:Names on document: |The names are )/);
      await assert.rejects(ruled.named(asked), { code: 'invalid-relation' });
    }
    ruled.slot.kill();
  }
});
