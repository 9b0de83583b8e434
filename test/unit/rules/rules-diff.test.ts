// What differs between two rule sets, and on which grants they depend.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { NO_RULES, revisionOfRules, textOfRules } from '../../../src/rules/rule-set.ts';
import { diffRules, publicChanged, relationsUsed, renderRuleSet } from '../../../src/rules/rules-diff.ts';

const ruleSet = parseRuleSet({
  rules: [
    { namespace: 'doc', name: 'viewer', any_of: ['editor', 'viewer from parent'] },
    { namespace: 'doc', name: 'can_read', any_of: ['viewer', 'owner', 'can_read from parent'] },
    { namespace: 'folder', name: 'can_read', any_of: ['viewer'] },
  ],
  groups: true,
  public: ['user'],
});

test('the order of rules and elements makes no difference', () => {
  const other = parseRuleSet({
    rules: [
      { namespace: 'folder', name: 'can_read', any_of: ['viewer'] },
      { namespace: 'doc', name: 'can_read', any_of: ['owner', 'can_read from parent', 'viewer'] },
      { namespace: 'doc', name: 'viewer', any_of: ['viewer from parent', 'editor'] },
    ],
    groups: true,
    public: ['user'],
  });
  assert.deepEqual(diffRules(ruleSet, other), []);
});

test('each different rule and switch is listed, with both versions', () => {
  const other = parseRuleSet({
    rules: [
      { namespace: 'doc', name: 'viewer', any_of: ['editor'] },
      { namespace: 'doc', name: 'can_edit', any_of: ['editor'] },
      { namespace: 'folder', name: 'can_read', any_of: ['viewer'] },
    ],
    public: ['team', 'user'],
  });
  assert.deepEqual(diffRules(ruleSet, other), [
    '+ doc can_edit = editor',
    '- doc can_read = viewer or owner or can_read from parent',
    '- doc viewer = editor or viewer from parent',
    '+ doc viewer = editor',
    '- groups: on',
    '+ groups: off',
    '+ public: team',
  ]);
  assert.deepEqual(publicChanged(ruleSet, other), ['team']);
  assert.deepEqual(publicChanged(other, NO_RULES).toSorted(), ['team', 'user']);
});

test('a rule set uses the built-in relations on its own objects', () => {
  assert.deepEqual(relationsUsed(ruleSet), [
    { namespace: 'doc', relation: 'editor' },
    { namespace: 'doc', relation: 'parent' },
    { namespace: 'doc', relation: 'viewer' },
    { namespace: 'doc', relation: 'owner' },
    { namespace: 'folder', relation: 'viewer' },
  ]);
  assert.deepEqual(relationsUsed(NO_RULES), []);
});

const whole = {
  relations: ['blocked'],
  conditions: [{ name: 'open', parameters: { now: 'timestamp' }, expression: 'now.getHours() >=\n 9' }],
  types: [{ namespace: 'doc', relation: 'blocked', subjects: ['user', 'team#member with open'] }],
  rules: [{ namespace: 'doc', name: 'can_read', any_of: [{ all_of: ['viewer', 'editor'], but_not: ['blocked'] }] }],
};

test('gates, conditions and types stand in a line of the difference each', () => {
  const changed = parseRuleSet({
    ...whole,
    conditions: [{ name: 'open', parameters: {}, expression: 'true' }],
    types: [],
    rules: [{ namespace: 'doc', name: 'can_read', any_of: [{ all_of: ['viewer', 'editor'] }] }],
  });
  assert.deepEqual(diffRules(parseRuleSet(whole), changed), [
    '- doc can_read = viewer and editor but not blocked',
    '+ doc can_read = viewer and editor',
    '- condition open(now: timestamp) = now.getHours() >= 9',
    '+ condition open() = true',
    '- doc blocked: team#member with open, user',
  ]);
  const spaced = { ...whole, conditions: [{ ...whole.conditions[0], expression: 'now.getHours() >= 9' }] };
  assert.equal(diffRules(parseRuleSet(whole), parseRuleSet(spaced)).length, 2);
  assert.deepEqual(diffRules(parseRuleSet(whole), parseRuleSet(whole)), []);
});

test('a rule set rendered as text parses to the same rule set', () => {
  for (const each of [ruleSet, NO_RULES, parseRuleSet(whole)]) {
    const read = parseRuleSet(JSON.parse(renderRuleSet(each)));
    assert.equal(revisionOfRules(textOfRules(read)), revisionOfRules(textOfRules(each)));
  }
});
