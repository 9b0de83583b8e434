// Own relations at the owner of a tenant: granted once they are declared, refused in the order of the log, counted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RELATIONS } from '../../../../src/core/tuples.ts';
import type { GrantResult } from '../../../../src/shard/shard.ts';
import { grantOf, RuledSlot, relationOf } from '../evaluation/ruled-slot.ts';

const RULES = {
  relations: ['assignee', 'blocked'],
  rules: [{ namespace: 'doc', name: 'viewer', any_of: ['assignee', 'viewer from assignee'] }],
  groups: true,
};
const WITHOUT = { rules: [], groups: true };
const BUILT_IN = `"relation" must be one of ${RELATIONS.join(', ')}`;

const tupleOf = (text: string) => {
  const { subject, relation, object } = grantOf(text);
  return { subject, relation: relationOf(relation), object };
};

async function write({ slot, handle }: RuledSlot, text: string, revoke = false): Promise<GrantResult> {
  const [result] = await slot.connection.writeGrants(handle, slot.attempt(), [{ ...tupleOf(text), revoke }]);
  return result ?? assert.fail();
}

const bulk = (
  { slot, handle }: RuledSlot,
  lists: { grants?: string[]; revocations?: string[]; preconditions?: string[] },
) =>
  slot.connection.writeBulk(handle, slot.attempt(), {
    grants: (lists.grants ?? []).map(tupleOf),
    revocations: (lists.revocations ?? []).map(tupleOf),
    preconditions: (lists.preconditions ?? []).map((text) => ({ ...tupleOf(text), exists: true })),
  });

test('an own relation is granted, asked about, listed and followed like a built-in one', async () => {
  const ruled = await RuledSlot.open(RULES, ['user:a assignee doc:1', 'doc:1 assignee doc:2'].map(grantOf));
  for (const cold of [false, true]) {
    if (cold) await ruled.goCold();
    assert.equal(await ruled.check('user:a assignee doc:1'), true);
    assert.equal(await ruled.check('user:a viewer doc:2'), true);
    assert.equal(await ruled.check('user:b viewer doc:2'), false);
    assert.equal(await ruled.check('user:a viewer doc:1'), true);
    assert.equal(await ruled.check('user:a blocked doc:1'), false);
    assert.deepEqual(await ruled.objects('user:a', 'assignee'), ['doc:1']);
    assert.deepEqual(await ruled.holders('doc:1', 'assignee'), ['user:a']);
    const { items } = await ruled.slot.connection.listGrants(ruled.handle, {
      of: { subject: 'user:a' },
      relation: relationOf('assignee'),
      limit: 10,
      cursor: undefined,
    });
    assert.deepEqual(
      items.map(({ relation, object }) => `${relation} ${object}`),
      ['assignee doc:1'],
    );
    const direct = { subject: 'user:a', relation: 'assignee', namespace: undefined, direct: true, limit: 10 };
    assert.deepEqual((await ruled.slot.connection.listObjects(ruled.handle, { ...direct, cursor: undefined })).items, [
      'doc:1',
    ]);
  }
  assert.equal((await write(ruled, 'user:a assignee doc:1', true)).kind, 'revoked');
  assert.equal(await ruled.check('user:a assignee doc:1'), false);
});

test('a page of many own and built-in relations lists them in the order of their bytes', async () => {
  const relations = ['Zeta', ...Array.from({ length: 40 }, (_, index) => `own${index}`)];
  const ruled = await RuledSlot.open({ relations, rules: [] });
  const texts = ['viewer', 'admin', ...relations].map((relation) => `user:a ${relation} doc:1`);
  await ruled.write(texts.map(grantOf));
  const expected = ['viewer', 'admin', ...relations].sort();
  for (const cold of [false, true]) {
    if (cold) await ruled.goCold();
    const query = { of: { subject: 'user:a' }, relation: undefined, limit: 100, cursor: undefined };
    const { items } = await ruled.slot.connection.listGrants(ruled.handle, query);
    assert.deepEqual(
      items.map(({ relation }) => relation),
      expected,
    );
    for (const text of texts) assert.equal(await ruled.check(text), true, text);
    assert.equal(await ruled.check('user:a own1 doc:2'), false);
  }
});

test('a relation that is not declared is refused everywhere, as before for a tenant that declares none', async () => {
  const ruled = await RuledSlot.open(WITHOUT);
  const none = `${BUILT_IN}; it is "assignee", which is not one of them; names that rules define are asked about, and cannot be granted.`;
  const refused = { kind: 'refused', code: 'invalid-relation', message: none };
  assert.deepEqual(await write(ruled, 'user:a assignee doc:1'), refused);
  assert.deepEqual(await write(ruled, 'user:a assignee doc:1', true), refused);
  const at = (place: string) => ({ ...refused, message: none.replace('"relation"', `"${place}.relation"`) });
  const fine = 'user:a viewer doc:1';
  assert.deepEqual(await bulk(ruled, { grants: [fine, 'user:a assignee doc:1'] }), at('grants[1]'));
  assert.deepEqual(await bulk(ruled, { revocations: ['user:a assignee doc:1'] }), at('revocations[0]'));
  assert.deepEqual(await bulk(ruled, { grants: [fine], preconditions: ['user:a assignee doc:1'] }), at('if[0]'));
  const { slot, handle } = ruled;
  const filter = { of: { subject: 'user:a' }, relation: relationOf('assignee') };
  const invalid = { code: 'invalid-relation', message: none };
  await assert.rejects(slot.connection.revokeGrants(handle, slot.attempt(), filter), invalid);
  await assert.rejects(slot.connection.listGrants(handle, { ...filter, limit: 1, cursor: undefined }), invalid);
  await assert.rejects(ruled.named([grantOf('user:a assignee doc:1')]), { code: 'invalid-relation' });
  await assert.rejects(ruled.objects('user:a', 'assignee'), { code: 'invalid-relation' });
  const mixed = [fine, 'user:b assignee doc:1', 'user:c viewer doc:1'].map((text) => ({
    ...tupleOf(text),
    revoke: false,
  }));
  const results = await slot.connection.writeGrants(handle, slot.attempt(), mixed);
  assert.deepEqual(
    results.map(({ kind }) => kind),
    ['created', 'refused', 'created'],
  );
});

test('a misspelled relation is refused with what may have been meant', async () => {
  const ruled = await RuledSlot.open(RULES);
  const result = await write(ruled, 'user:a asignee doc:1');
  assert.equal(
    result.kind === 'refused' && result.message,
    `${BUILT_IN}, assignee, blocked; it is "asignee", which is not one of them; did you mean "assignee"?`,
  );
});

test('a relation with grants cannot be removed, whoever owns the slot; without grants it can', async () => {
  const ruled = await RuledSlot.open(RULES, ['user:a assignee doc:1', 'user:b assignee doc:1'].map(grantOf));
  const inUse = (count: number) => ({
    code: 'relation-in-use',
    message: `"relations" lacks relations that still have grants: "assignee" has ${count}. Revoke them first, or keep the relations. Nothing was changed.`,
  });
  await assert.rejects(ruled.setRules(WITHOUT), inUse(2));
  await ruled.goCold();
  await assert.rejects(ruled.setRules(WITHOUT), inUse(2));
  await write(ruled, 'user:a assignee doc:1', true);
  // Not in the state tables yet: the count is replayed.
  ruled.slot = await ruled.slot.restart();
  ruled.handle = await ruled.slot.handle(ruled.tenantId);
  await assert.rejects(ruled.setRules(WITHOUT), inUse(1));
  await write(ruled, 'user:b assignee doc:1', true);
  await ruled.setRules(WITHOUT);
  assert.equal((await write(ruled, 'user:b assignee doc:1')).kind, 'refused');
  await ruled.setRules(RULES);
  assert.equal((await write(ruled, 'user:b assignee doc:1')).kind, 'created');
  assert.equal(await ruled.check('user:a assignee doc:1'), false);
});

test('a grant that is decided in one entry with the removal of its relation is refused, or keeps the relation', async () => {
  for (const first of ['rules', 'grant'] as const) {
    const ruled = await RuledSlot.open(RULES);
    const steps = {
      rules: () =>
        ruled.setRules(WITHOUT).then(
          () => 'removed',
          (error: { code?: string }) => error.code,
        ),
      grant: () => write(ruled, 'user:a assignee doc:1').then(({ kind }) => kind),
    };
    const order = first === 'rules' ? [steps.rules, steps.grant] : [steps.grant, steps.rules];
    const before = () => write(ruled, 'user:z viewer doc:9');
    const outcomes = await Promise.all(await ruled.slot.inOneEntry(before, ...order));
    assert.deepEqual(outcomes, first === 'rules' ? ['removed', 'refused'] : ['created', 'relation-in-use']);
  }
});

test('a tenant cannot make the owner remember more than a bounded number of names', async () => {
  const ruled = await RuledSlot.open(WITHOUT);
  const relationsOf = (round: number) => Array.from({ length: 1000 }, (_, index) => `r${round}_${index}`);
  for (let round = 0; round < 4; round += 1) {
    await ruled.setRules({ relations: relationsOf(round), rules: [] });
    await ruled.named([grantOf(`user:a r${round}_0 doc:1`)]);
  }
  await assert.rejects(ruled.setRules({ relations: relationsOf(4), rules: [] }), { code: 'overloaded' });
  await ruled.setRules({ relations: relationsOf(3), rules: [] });
  await ruled.goCold();
  await ruled.setRules({ relations: relationsOf(4), rules: [] });
});

test('500 own relations, each with a type and a rule, are granted, checked, listed, explained and loaded again', async () => {
  const names = Array.from({ length: 500 }, (_, index) => `invoice.p${index}`);
  const rules = {
    relations: names,
    types: names.map((relation) => ({ namespace: 'org', relation, subjects: ['user', 'role#member'] })),
    rules: names.map((relation) => ({
      namespace: 'org',
      name: `can_${relation}`,
      any_of: [relation, 'admin', `can_${relation} from parent`],
    })),
    groups: true,
  };
  const ruled = await RuledSlot.open(rules);
  await ruled.write([
    ...names.map((relation) => grantOf(`user:all ${relation} org:1`)),
    ...names.map((relation, index) => grantOf(`user:u${index} ${relation} org:1`)),
    grantOf('role:r#member invoice.p499 org:1'),
    grantOf('user:m member role:r'),
    grantOf('org:1 parent org:2'),
  ]);
  for (const cold of [false, true]) {
    if (cold) await ruled.goCold();
    for (const index of [0, 1, 62, 63, 64, 255, 256, 499]) {
      const next = (index + 1) % 500;
      assert.equal(await ruled.check(`user:u${index} can_invoice.p${index} org:2`), true);
      assert.equal(await ruled.check(`user:u${index} can_invoice.p${next} org:2`), false);
      assert.equal(await ruled.check(`user:u${index} invoice.p${index} org:1`), true);
      assert.deepEqual(await ruled.objects(`user:u${index}`, `can_invoice.p${index}`), ['org:1', 'org:2']);
      assert.deepEqual(await ruled.objects(`user:u${index}`, `can_invoice.p${next}`), []);
    }
    const holders = await ruled.holders('org:2', 'can_invoice.p7');
    assert.deepEqual(
      holders.filter((holder) => !holder.includes('#')),
      ['user:all', 'user:u7'],
    );
    assert.equal(await ruled.check('user:m can_invoice.p499 org:2'), true);
    assert.equal(await ruled.check('user:m can_invoice.p498 org:2'), false);
    const explained = await ruled.named([grantOf('user:m can_invoice.p499 org:2')], true);
    assert.deepEqual(
      explained.because[0]?.map(({ subject, relation, object }) => `${subject} ${relation} ${object}`),
      ['user:m member role:r', 'role:r#member invoice.p499 org:1', 'org:1 parent org:2'],
    );
  }
  await assert.rejects(ruled.setRules({ ...rules, relations: names.slice(1), types: [], rules: [] }), {
    code: 'relation-in-use',
    message: /lacks relations that still have grants: "invoice\.p0" has 2\./,
  });
});
