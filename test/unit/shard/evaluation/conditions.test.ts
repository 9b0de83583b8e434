// Conditions in checks and listings: what they see, what cannot be decided, what they may cost. That answers are right
// is compared with the definition of rules (definition.test.ts).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CallContext, parseCallContext } from '../../../../src/core/call-context.ts';
import { parseCondition } from '../../../../src/core/grant-terms.ts';
import type { JsonObject } from '../../../../src/core/json-members.ts';
import { isRelationName, type Relation } from '../../../../src/core/tuples.ts';
import type { NamedAnswer } from '../../../../src/shard/shard.ts';
import { grantOf, RuledSlot } from './ruled-slot.ts';

const CONDITIONS = [
  { name: 'in_zone', parameters: { zone: 'string', home: 'string' }, expression: 'zone == home' },
  { name: 'ratio', parameters: { parts: 'int', of: 'int' }, expression: 'of / parts > 1' },
  // Each of the elements costs some steps.
  { name: 'in_list', parameters: { list: 'list<int>', id: 'int' }, expression: 'list.exists(each, each + id == 0)' },
];
const RULES = {
  conditions: CONDITIONS,
  rules: [
    { namespace: 'doc', name: 'can_read', any_of: ['viewer', 'viewer from parent'] },
    { namespace: 'doc', name: 'can_edit', any_of: [{ all_of: ['editor', 'can_read'], but_not: ['guest'] }] },
  ],
  groups: true,
};

const relationOf = (text: string): Relation => {
  assert.ok(isRelationName(text));
  return text;
};

interface Conditional {
  readonly name: string;
  readonly context?: JsonObject;
}

async function write(ruled: RuledSlot, grants: Readonly<Record<string, Conditional | null>>): Promise<void> {
  const writes = Object.entries(grants).map(([text, condition]) => {
    const { subject, relation, object } = grantOf(text);
    return { subject, relation: relationOf(relation), object, revoke: false, ...parseCondition(condition) };
  });
  for (let start = 0; start < writes.length; start += 1000) {
    const some = writes.slice(start, start + 1000);
    await ruled.slot.connection.writeGrants(ruled.handle, ruled.slot.attempt(), some);
  }
}

const callOf = (context?: JsonObject, contextGrants?: readonly object[]): CallContext =>
  parseCallContext({
    ...(context === undefined ? {} : { context }),
    ...(contextGrants === undefined ? {} : { context_grants: contextGrants }),
  });

const ask = (ruled: RuledSlot, text: string, call: CallContext = {}, explain = false): Promise<NamedAnswer> =>
  ruled.named([grantOf(text)], explain, false, call);

const holds = async (ruled: RuledSlot, text: string, call?: CallContext): Promise<boolean> =>
  (await ask(ruled, text, call)).authorized[0] === true;

for (const cold of [false, true]) {
  test(`what a grant stores wins over what the call sends: ${cold ? 'from the store' : 'in memory'}`, async () => {
    const ruled = await RuledSlot.open(RULES);
    await write(ruled, {
      'user:ann viewer doc:1': { name: 'in_zone', context: { home: 'CET' } },
      'user:ann parent doc:2': null,
    });
    if (cold) await ruled.goCold();
    assert.equal(await holds(ruled, 'user:ann can_read doc:1', callOf({ zone: 'CET' })), true);
    assert.equal(await holds(ruled, 'user:ann can_read doc:1', callOf({ zone: 'UTC' })), false);
    assert.equal(await holds(ruled, 'user:ann can_read doc:1', callOf({ zone: 'UTC', home: 'UTC', other: 1 })), false);
    assert.deepEqual(await ruled.objects('user:ann', 'can_read', 10, 'doc', callOf({ zone: 'CET' })), ['doc:1']);
    assert.deepEqual(await ruled.objects('user:ann', 'can_read', 10, 'doc', callOf({ zone: 'UTC' })), []);
    const holders = (zone: string) => ruled.holders('doc:1', 'can_read', 10, 'user', false, [], callOf({ zone }));
    assert.deepEqual([await holders('CET'), await holders('UTC')], [['user:ann'], []]);
    const { authorized } = await ruled.slot.connection.checkNamed(ruled.handle, {
      checks: Array.from({ length: 3 }, () => grantOf('user:ann can_read doc:1')),
      contexts: ['{"zone":"CET"}', '{"zone":"UTC"}', '{"zone":"CET"}'],
      list: 'evaluations',
      explain: false,
      denyUndefined: false,
    });
    assert.deepEqual(authorized, [true, false, true]);
  });
}

test('what cannot be decided is refused with what is missing, or wrong, and where', async () => {
  const ruled = await RuledSlot.open(RULES);
  await write(ruled, {
    'user:ann viewer doc:1': { name: 'in_zone', context: { home: 'CET' } },
    'user:ann viewer doc:2': { name: 'ratio' },
    'user:ann viewer doc:3': { name: 'in_zone' },
    'user:bob viewer doc:1': null,
    'team:1#member viewer doc:1': { name: 'ratio' },
    'user:bob member team:1': null,
    'user:eve editor doc:1': null,
    'user:eve guest doc:1': { name: 'in_zone', context: { home: 'CET' } },
  });
  const missing = {
    code: 'context-incomplete',
    message: /^"context" lacks (.*, )?"zone", on which the answer may depend through the conditions "in_zone"/,
  };
  await assert.rejects(ask(ruled, 'user:ann can_read doc:1'), missing);
  await assert.rejects(ask(ruled, 'user:ann viewer doc:1'), missing);
  await assert.rejects(ask(ruled, 'user:ann can_read doc:1', callOf({ home: 'CET' }), true), missing);
  await assert.rejects(ask(ruled, 'user:ann can_read doc:3'), { message: /^"context" lacks "home", .*"zone", on/ });
  await assert.rejects(ruled.objects('user:ann', 'can_read'), { code: 'context-incomplete' });
  await assert.rejects(ruled.holders('doc:1', 'can_read'), { code: 'context-incomplete' });
  await assert.rejects(ask(ruled, 'user:ann can_read doc:2', callOf({ parts: 0, of: 1 })), {
    code: 'condition-failed',
    message: /^The condition "ratio" fails: .*zero/,
  });
  const wrong = { code: 'invalid-request', message: /"context\.zone"/ };
  await assert.rejects(ask(ruled, 'user:ann can_read doc:1', callOf({ zone: 5 })), wrong);
  // Nothing of it matters: the answer is the same whatever the parameters are.
  assert.equal(await holds(ruled, 'user:bob can_read doc:1'), true);
  assert.equal(await holds(ruled, 'user:zoe can_read doc:4'), false);
  assert.equal(await holds(ruled, 'user:eve can_edit doc:1'), false);
  assert.equal(await holds(ruled, 'user:ann can_edit doc:1'), false);
});

test('a proof shows the values that a condition saw, and which grants the call brought along', async () => {
  const ruled = await RuledSlot.open(RULES);
  await write(ruled, { 'user:ann editor doc:1': { name: 'in_zone', context: { home: 'CET' } } });
  const viewer = { subject: 'team:1#member', relation: 'viewer', object: 'doc:1' };
  const member = { subject: 'user:ann', relation: 'member', object: 'team:1' };
  const call = callOf({ zone: 'CET', more: 1 }, [viewer, member]);
  const { because, proofs } = await ask(ruled, 'user:ann can_edit doc:1', call, true);
  assert.deepEqual(
    because[0]?.map(({ subject, relation }) => [subject, relation]),
    [['user:ann', 'editor']],
  );
  const proof = JSON.parse(proofs[0] ?? '');
  const [editor, read] = proof.gate.all_of;
  assert.deepEqual(editor.because[0].condition_saw, { zone: 'CET', home: 'CET' });
  assert.deepEqual(read.because, [
    { ...member, context_grant: true },
    { ...viewer, context_grant: true },
  ]);
  const denied = JSON.parse((await ask(ruled, 'user:ann can_edit doc:2', call, true)).proofs[0] ?? '');
  assert.equal(denied.holds, false);
  assert.equal(denied.gates[0].gate, '(editor and can_read but not guest)');
});

test('a proof of "all of" names the grants that make its parents, so that the grants suffice', async () => {
  const rules = { rules: [{ namespace: 'doc', name: 'can_read', any_of: ['all of viewer from parent'] }] };
  const grants = [
    'user:ann viewer folder:1',
    'user:ann viewer folder:2',
    'folder:1 parent doc:1',
    'folder:2 parent doc:1',
  ];
  const ruled = await RuledSlot.open(rules, grants.map(grantOf));
  const { because, proofs } = await ask(ruled, 'user:ann can_read doc:1', {}, true);
  const textOf = (each: { subject: string; relation: string; object: string }) =>
    `${each.subject} ${each.relation} ${each.object}`;
  assert.deepEqual(because[0]?.map(textOf).sort(), grants.toSorted());
  const proof = JSON.parse(proofs[0] ?? '');
  assert.deepEqual(proof.gate.parents.map(textOf).sort(), ['folder:1 parent doc:1', 'folder:2 parent doc:1']);
});

for (const ruled of [true, false]) {
  test(`grants of a call count for it alone, ${ruled ? 'with' : 'without'} rules`, async () => {
    const slot = await RuledSlot.open(ruled ? RULES : { rules: [] }, [grantOf('user:ann viewer doc:1')]);
    const added = callOf(undefined, [{ subject: 'user:ann', relation: 'viewer', object: 'doc:2' }]);
    for (let times = 0; times < 2; times += 1) {
      assert.equal(await holds(slot, 'user:ann viewer doc:2', added), true);
      assert.equal(await holds(slot, 'user:ann viewer doc:2'), false);
      for (const direct of [false, true]) {
        const objects = { subject: 'user:ann', relation: 'viewer', direct, namespace: undefined, limit: 9 };
        const list = (call: CallContext) =>
          slot.slot.connection.listObjects(slot.handle, { ...objects, ...call, cursor: undefined });
        assert.deepEqual((await list(added)).items, ['doc:1', 'doc:2']);
        assert.deepEqual((await list({})).items, ['doc:1']);
        const subjects = { object: 'doc:2', relation: 'viewer', direct, namespace: undefined, limit: 9 };
        const who = (call: CallContext) =>
          slot.slot.connection.listHolders(slot.handle, { ...subjects, ...call, cursor: undefined });
        assert.deepEqual((await who(added)).items, ['user:ann']);
        assert.deepEqual((await who({})).items, []);
      }
    }
    const undeclared = [{ subject: 'user:ann', relation: 'approver', object: 'doc:2' }];
    await assert.rejects(ask(slot, 'user:ann viewer doc:2', callOf(undefined, undeclared)), {
      code: 'invalid-relation',
      message: /context_grants\[0\]/,
    });
    const condition = { name: 'nobody_knows' };
    const unknown = [{ subject: 'user:ann', relation: 'viewer', object: 'doc:2', condition }];
    await assert.rejects(ask(slot, 'user:ann viewer doc:2', callOf(undefined, unknown)), {
      code: 'invalid-condition',
      message: /context_grants\[0\]\.condition\.name/,
    });
  });
}

test('grants of a call keep to the types of the rules', async () => {
  const types = [{ namespace: 'doc', relation: 'viewer', subjects: ['user', 'user with in_zone'] }];
  const ruled = await RuledSlot.open({ ...RULES, types });
  const brought = (subject: string, condition?: Conditional) =>
    callOf({ zone: 'CET', home: 'CET' }, [
      { subject, relation: 'viewer', object: 'doc:1', ...(condition === undefined ? {} : { condition }) },
    ]);
  assert.equal(await holds(ruled, 'user:ann can_read doc:1', brought('user:ann')), true);
  assert.equal(await holds(ruled, 'user:ann can_read doc:1', brought('user:ann', { name: 'in_zone' })), true);
  const refused = { code: 'type-not-allowed', message: /^"context_grants\[0\]\.subject"/ };
  await assert.rejects(ask(ruled, 'user:ann can_read doc:1', brought('team:1#member')), refused);
  await assert.rejects(ask(ruled, 'user:ann can_read doc:1', brought('user:ann', { name: 'ratio' })), refused);
});

for (const large of [false, true]) {
  test(`grants listed directly depend on their conditions, too: ${large ? 'large entities' : 'whole pages'}`, async () => {
    const pages = large ? { pageLimits: { rowsMax: 2, rowsPerRead: 1, rowsPerListing: 2 } } : {};
    const ruled = await RuledSlot.open(RULES, [], pages);
    const grants = Array.from({ length: 12 }, (_, index) => {
      const home = ['CET', 'UTC'][index % 2] ?? '';
      return [`user:ann viewer doc:${10 + index}`, { name: 'in_zone', context: { home } }] as const;
    });
    await write(ruled, { ...Object.fromEntries(grants), 'user:bob viewer doc:10': { name: 'ratio' } });
    if (large) await ruled.goCold();
    const call = callOf({ zone: 'UTC' });
    const list = (direct: boolean, of: CallContext) =>
      ruled.slot.connection.listObjects(ruled.handle, {
        ...of,
        subject: 'user:ann',
        relation: 'viewer',
        direct,
        namespace: 'doc',
        limit: 4,
        cursor: undefined,
      });
    for (const direct of [false, true]) {
      assert.deepEqual((await list(direct, call)).items, ['doc:11', 'doc:13', 'doc:15', 'doc:17']);
      await assert.rejects(list(direct, {}), { code: 'context-incomplete' });
    }
    const { connection } = ruled.slot;
    const who = { object: 'doc:10', relation: 'viewer', direct: true, namespace: 'user', limit: 4, cursor: undefined };
    const both = callOf({ zone: 'CET', of: 5, parts: 1 });
    assert.deepEqual((await connection.listHolders(ruled.handle, { ...who, ...both })).items, ['user:ann', 'user:bob']);
  });
}

test('many dear conditions are evaluated in turns, each once for a context, up to the bound of a call', async () => {
  const ruled = await RuledSlot.open(RULES);
  const list = Array.from({ length: 100 }, (_, index) => index);
  const members = Array.from({ length: 200 }, (_, id) => [`user:ann member team:${id}`, null] as const);
  const viewers = Array.from({ length: 200 }, (_, id) => {
    const condition = { name: 'in_list', context: { id: id === 199 ? -99 : id + 1 } };
    return [`team:${id}#member viewer doc:1`, condition] as const;
  });
  await write(ruled, Object.fromEntries([...members, ...viewers]));
  for (const cold of [false, true]) {
    if (cold) await ruled.goCold();
    assert.equal(await holds(ruled, 'user:ann viewer doc:1', callOf({ list })), true);
    assert.equal(await holds(ruled, 'user:ann viewer doc:1', callOf({ list: [1000] })), false);
    assert.deepEqual(await ruled.objects('user:ann', 'viewer', 9, 'doc', callOf({ list })), ['doc:1']);
    const groups = await ruled.holders('doc:1', 'viewer', 9, 'team', false, [], callOf({ list }));
    assert.deepEqual(groups, ['team:199#member']);
    await assert.rejects(ask(ruled, 'user:ann viewer doc:1', callOf({ list: Array(4000).fill(1) })), {
      code: 'evaluation-too-large',
      message: /20000 steps, .* more would be needed, at "in_list"/,
    });
  }
});
