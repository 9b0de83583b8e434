// The reason of a denial: what an API shows, in one sentence and as the grants that it names.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCallContext } from '../../../../src/core/call-context.ts';
import type { JsonObject } from '../../../../src/core/json-members.ts';
import { grantOf, RuledSlot } from './ruled-slot.ts';

const RULES = {
  relations: ['restricted', 'blocked', 'approved', 'cleared', 'team_editor'],
  states: ['archived', 'published'],
  groups: true,
  public: ['user'],
  conditions: [{ name: 'allowed', parameters: { allowed: 'bool' }, expression: 'allowed' }],
  types: [
    { namespace: 'doc', relation: 'team_editor', subjects: ['team#member'] },
    { namespace: 'team', relation: 'member', subjects: ['user'] },
  ],
  rules: [
    {
      namespace: 'folder',
      name: 'can_read',
      any_of: [
        { any_of: ['viewer', 'can_read from parent'], but_not: [{ any_of: ['restricted'], but_not: ['cleared'] }] },
      ],
    },
    { namespace: 'doc', name: 'can_read', any_of: ['viewer', 'can_read from parent'] },
    {
      namespace: 'doc',
      name: 'can_edit',
      any_of: [{ any_of: ['editor'], but_not: ['blocked', 'blocked from parent'] }],
    },
    { namespace: 'doc', name: 'can_publish', any_of: [{ all_of: ['editor', 'approved'] }] },
    { namespace: 'doc', name: 'can_format', any_of: ['team_editor'] },
    { namespace: 'doc', name: 'can_audit', any_of: ['all of approved from parent'] },
    { namespace: 'folder', name: 'frozen', any_of: ['archived'] },
    { namespace: 'doc', name: 'frozen', any_of: ['archived', 'frozen from parent'] },
    { namespace: 'doc', name: 'can_write', any_of: [{ any_of: ['editor'], but_not: ['frozen', 'blocked'] }] },
    { namespace: 'doc', name: 'can_cite', any_of: ['published'] },
    { namespace: 'doc', name: 'can_release', any_of: [{ all_of: ['editor', 'published'] }] },
    { namespace: 'doc', name: 'can_move', any_of: ['can_read from parent'] },
  ],
};

const ROWS: readonly (readonly [what: string, grants: readonly string[], asked: string, text: string])[] = [
  [
    'a grant on the way',
    [
      'user:bob viewer folder:top',
      'folder:top parent folder:secret',
      'folder:secret parent doc:x',
      'user:* restricted folder:secret',
    ],
    'user:bob can_read doc:x',
    '`user:* restricted folder:secret` excludes user:bob from can_read of folder:secret, from which doc:x inherits.',
  ],
  [
    'the same through two folders more',
    [
      'user:bob viewer folder:top',
      'folder:top parent folder:a',
      'folder:a parent folder:b',
      'folder:b parent doc:x',
      'team:x#member restricted folder:a',
      'user:bob member team:x',
    ],
    'user:bob can_read doc:x',
    '`team:x#member restricted folder:a` excludes user:bob from can_read of folder:a, from which doc:x inherits.',
  ],
  [
    'several grants, each once',
    [
      'user:bob editor doc:x',
      'user:bob blocked doc:x',
      'user:* blocked doc:x',
      'folder:a parent doc:x',
      'user:bob blocked folder:a',
    ],
    'user:bob can_edit doc:x',
    '`user:bob blocked doc:x`, `user:* blocked doc:x` and `user:bob blocked folder:a` exclude user:bob from can_edit of doc:x.',
  ],
  [
    'nothing',
    [],
    'user:bob can_edit doc:x',
    'No grant leads from user:bob to can_edit of doc:x; `user:bob editor doc:x` would suffice.',
  ],
  [
    'nothing, of two names the lesser one',
    ['folder:a parent doc:x'],
    'user:bob can_read doc:x',
    'No grant leads from user:bob to can_read of doc:x; `user:bob viewer doc:x` would suffice.',
  ],
  [
    'a part of what it takes',
    ['user:bob editor doc:x'],
    'user:bob can_publish doc:x',
    'No grant leads from user:bob to can_publish of doc:x; `user:bob approved doc:x` would suffice.',
  ],
  [
    'nothing, and besides excluded',
    ['user:bob blocked doc:x'],
    'user:bob can_edit doc:x',
    '`user:bob blocked doc:x` excludes user:bob from can_edit of doc:x; `user:bob editor doc:x` is missing.',
  ],
  [
    'a relation that only groups have: one that has it',
    ['team:a#member team_editor doc:x'],
    'user:bob can_format doc:x',
    'No grant leads from user:bob to can_format of doc:x; `user:bob member team:a` would suffice.',
  ],
  [
    'a relation that only groups have: one of the subject',
    ['user:bob member team:b'],
    'user:bob can_format doc:x',
    'No grant leads from user:bob to can_format of doc:x; `team:b#member team_editor doc:x` would suffice.',
  ],
  [
    'a relation that only groups have: none',
    [],
    'user:bob can_format doc:x',
    'No grant leads from user:bob to can_format of doc:x; it takes team_editor.',
  ],
  [
    'a name from a parent alone: a parent that it may read',
    ['user:bob viewer folder:a'],
    'user:bob can_move doc:x',
    'No grant leads from user:bob to can_move of doc:x; `folder:a parent doc:x` would suffice.',
  ],
  [
    'all of no parents',
    [],
    'user:bob can_audit doc:x',
    'No grant leads from user:bob to can_audit of doc:x; it takes all of approved from parent.',
  ],
  [
    'a state',
    ['user:bob editor doc:x', '* archived doc:x'],
    'user:bob can_write doc:x',
    'doc:x is archived, which takes can_write away.',
  ],
  [
    'a state of a subject that no rule knows, and of what the object inherits from',
    ['link:z editor doc:x', '* archived folder:a', 'folder:a parent doc:x'],
    'link:z can_write doc:x',
    'folder:a is archived, which takes away can_write of doc:x.',
  ],
  [
    'a state, and a grant to the subject',
    ['user:bob editor doc:x', 'user:bob blocked doc:x', '* archived doc:x'],
    'user:bob can_write doc:x',
    'doc:x is archived, which takes can_write away; `user:bob blocked doc:x` excludes user:bob from can_write of doc:x.',
  ],
  [
    'two states in one clause',
    ['user:bob editor doc:x', '* archived doc:x', '* archived folder:a', 'folder:a parent doc:x'],
    'user:bob can_write doc:x',
    'doc:x is archived and folder:a is archived, which take away can_write of doc:x.',
  ],
  [
    'a state that is missing',
    ['user:bob editor doc:x'],
    'user:bob can_release doc:x',
    'No grant leads from user:bob to can_release of doc:x; `doc:x is published` would suffice.',
  ],
  [
    'what only a state gives',
    ['user:bob member team:b', '* archived team:b'],
    'user:bob can_cite doc:x',
    'No grant leads from user:bob to can_cite of doc:x; `doc:x is published` would suffice.',
  ],
  [
    'a relation that only groups have: none of a state',
    ['* archived team:b', 'user:bob guest team:b'],
    'user:bob can_format doc:x',
    'No grant leads from user:bob to can_format of doc:x; it takes team_editor.',
  ],
  [
    'a namespace without rules',
    ['user:bob editor doc:x'],
    'user:bob can_edit dco:x',
    'No grant can give can_edit of dco:x: no rule defines it for the namespace "dco".',
  ],
];

test('a denial begins with the fewest grants that decide it', async () => {
  for (const [what, grants, asked, text] of ROWS) {
    const ruled = await RuledSlot.open(RULES, grants.map(grantOf));
    for (const isCold of [false, true]) {
      if (isCold) await ruled.goCold();
      const { authorized, reasons, because } = await ruled.named([grantOf(asked)], true);
      assert.deepEqual(authorized, [false], what);
      assert.deepEqual(because, [[]], what);
      assert.equal(JSON.parse(reasons[0] ?? '').text, text, `${what}${isCold ? ', cold' : ''}`);
    }
  }
});

test('the grants of a reason are those of its sentence, with what conditions saw', async () => {
  const ruled = await RuledSlot.open(RULES, [grantOf('user:ann editor doc:x'), grantOf('user:ann blocked doc:x')]);
  const condition = { condition: 'undefined' } as const;
  await ruled.write([{ ...grantOf('user:bob viewer doc:x'), ...condition }, grantOf('folder:a parent doc:x')]);
  const reasonOf = async (asked: string, context: JsonObject) => {
    const answer = await ruled.named([grantOf(asked)], true, false, parseCallContext(context));
    assert.deepEqual(answer.authorized, [false], asked);
    return JSON.parse(answer.reasons[0] ?? '');
  };
  const excluded = await reasonOf('user:ann can_edit doc:x', {});
  assert.deepEqual(Object.keys(excluded), ['text', 'excluded_by', 'unmet', 'missing']);
  const [grant] = excluded.excluded_by;
  assert.match(grant.grant_id, /^grt_/);
  assert.deepEqual(grant.excludes, { name: 'can_edit', object: 'doc:x' });
  const unmet = await reasonOf('user:bob can_read doc:x', { context: { allowed: false } });
  assert.equal(unmet.text, 'The condition of `user:bob viewer doc:x` is not met: it saw {"allowed":false}.');
  assert.deepEqual(unmet.unmet[0].condition_saw, { allowed: false });
  const sent = { subject: 'user:*', relation: 'blocked', object: 'folder:a' };
  await ruled.write([grantOf('user:cem editor doc:x')]);
  const bySent = await reasonOf('user:cem can_edit doc:x', { context_grants: [sent] });
  assert.deepEqual(bySent.excluded_by, [
    { ...sent, context_grant: true, excludes: { name: 'can_edit', object: 'doc:x' } },
  ]);
});

test('without rules, the grant itself is missing', async () => {
  const ruled = await RuledSlot.open({ rules: [] });
  const { reasons } = await ruled.named([grantOf('user:bob viewer doc:x')], true);
  assert.deepEqual(JSON.parse(reasons[0] ?? ''), {
    text: 'No grant leads from user:bob to viewer of doc:x; `user:bob viewer doc:x` would suffice.',
    excluded_by: [],
    unmet: [],
    missing: [{ subject: 'user:bob', relation: 'viewer', object: 'doc:x' }],
  });
});
