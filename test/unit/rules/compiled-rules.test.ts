// How compiled rules read subjects.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRelation, relationNumber } from '../../../src/core/tuples.ts';
import { bitOf, CompiledRules, parseGroup, unfollowedReason } from '../../../src/rules/compiled-rules.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';

test('a subject is one of a group if a name follows its last "#"', () => {
  for (const subject of ['team:a#member', 'team:a#b#member', 'team:#x#can_read', 'team:ü😀#m.-_1']) {
    assert.ok(parseGroup(subject) !== undefined, subject);
  }
  for (const subject of ['team:a', 'team:#member', 'team:a#', 'team:a#1', 'team:a#a:b', 'team:a# member']) {
    assert.ok(parseGroup(subject) === undefined, subject);
  }
});

const RULES = [
  { namespace: 'document', name: 'can_read', any_of: ['viewer', 'can_read from parent', 'member from admin', 'admin'] },
  { namespace: 'folder', name: 'can_read', any_of: ['viewer', 'owner from owner'] },
];

function reasonOf(text: string, of: object = {}): string | undefined {
  const [subject = '', relation = '', object = ''] = text.split(' ');
  assert.ok(isRelation(relation));
  const rules = new CompiledRules(parseRuleSet({ rules: RULES, groups: true, public: ['user'], ...of }));
  return unfollowedReason(rules, { subject, relation, object });
}

test('rules follow no group and no public subject', () => {
  assert.equal(reasonOf('folder:2#parent parent document:1'), 'no-entity');
  assert.equal(reasonOf('user:* parent document:1'), 'no-entity');
  assert.equal(reasonOf('folder:2 parent document:1'), undefined);
  // An admin can read without a grant of its own, so the relation leads to more than entities.
  assert.equal(reasonOf('team:1#member admin document:1'), undefined);
  assert.equal(reasonOf('user:* admin document:1'), undefined);
  // No rule of the namespace follows it, and it counts by itself.
  assert.equal(reasonOf('folder:2#parent parent folder:1'), undefined);
  assert.equal(reasonOf('user:* owner folder:1'), undefined);
});

test('a group needs groups, and a name that a subject can hold', () => {
  assert.equal(reasonOf('team:1#member viewer document:1', { groups: false }), 'groups-off');
  assert.equal(reasonOf('team:1#member viewer document:1'), undefined);
  assert.equal(reasonOf('folder:1#can_read viewer document:1'), undefined);
  assert.equal(reasonOf('team:1#can_read viewer document:1'), 'unknown-name');
  assert.equal(reasonOf('team:1#membr viewer document:1'), 'unknown-name');
  // No group: nothing before the "#", or no name behind it.
  assert.equal(reasonOf('team:1# viewer document:1', { groups: false }), undefined);
});

test('a public subject needs a public namespace', () => {
  assert.equal(reasonOf('user:* viewer document:1'), undefined);
  assert.equal(reasonOf('team:* viewer document:1'), 'not-public');
  assert.equal(reasonOf('user:ann viewer document:1', { public: [] }), undefined);
});

test('an all_of is listed by its first plain relation, or else by its first element', () => {
  const relationsOf = (allOf: readonly string[], of: object = {}): readonly number[] => {
    const rules = [
      { namespace: 'doc', name: 'editor', any_of: ['owner'] },
      { namespace: 'doc', name: 'both', any_of: [{ all_of: allOf }] },
    ];
    const compiled = new CompiledRules(parseRuleSet({ rules, ...of }));
    return compiled.wantedAtMost('doc:1', bitOf(compiled.numberOf('both') ?? 0)).relations;
  };
  const numbers = (...relations: readonly string[]) => relations.map((relation) => relationNumber(relation));
  assert.deepEqual(relationsOf(['member from parent', 'editor', 'guest', 'viewer']), numbers('guest'));
  assert.deepEqual(relationsOf(['editor', 'member from parent']), numbers('owner', 'editor'));
  assert.deepEqual(relationsOf(['viewer', 'guest'], { public: ['user'] }), numbers('viewer', 'guest'));
});
