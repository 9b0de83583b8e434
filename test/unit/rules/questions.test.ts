// The message about a name that a tenant does not have.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompiledRules } from '../../../src/rules/compiled-rules.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { undefinedName } from '../../../src/rules/questions.ts';
import { NO_RULES, type RuleSet } from '../../../src/rules/rule-set.ts';

/** Longer messages are cut on their way between processes. */
const MESSAGE_LENGTH_MAX = 1000;

const messageOf = (ruleSet: RuleSet, name: string, object: string): string =>
  undefinedName(name, new CompiledRules(ruleSet, undefined, new Map()).askableOn(object), object).message;

const rulesNamed = (namespace: string, names: readonly string[]): RuleSet['rules'] =>
  names.map((name) => ({ namespace, name, anyOf: [{ name: 'viewer', from: undefined }] }));

const numbered = (count: number, prefix: string): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

test('a misspelled name is refused with the nearest one, and those of the namespace come first', () => {
  const ruleSet = parseRuleSet({
    relations: ['assignee', 'org'],
    rules: [
      { namespace: 'doc', name: 'can_clone', any_of: ['viewer'] },
      { namespace: 'ticket', name: 'can_close', any_of: [{ all_of: ['assignee'] }, 'admin from org'] },
    ],
  });
  assert.equal(
    messageOf(ruleSet, 'can_clos', 'ticket:18'),
    '"relation" must be one of the names that the tenant has; "can_clos" is none of them. Did you mean "can_close"? Names on ticket: assignee, org, can_close. Others: owner, admin, manager, editor, commenter, viewer, member, guest, parent, can_clone.',
  );
  assert.match(
    messageOf(ruleSet, 'frobnicate', 'thing:1'),
    /none of them\. The names are owner, .*, can_clone, can_close\.$/,
  );
  assert.match(messageOf(NO_RULES, 'veiwer', 'doc:1'), /Did you mean "viewer"\? The names are owner, .*, parent\.$/);
});

test('of very many names, a message lists the first, and says how many more there are', () => {
  const many = { ...NO_RULES, rules: [...rulesNamed('a', numbered(500, 'can_')), ...rulesNamed('b', ['can_see'])] };
  const there = messageOf(many, 'nothing', 'b:1');
  assert.match(there, /Names on b: viewer, can_see\. Others: owner, .*, can_19 and 480 more\.$/);
  assert.match(messageOf(many, 'nothing', 'a:1'), /Names on a: viewer, can_0, .*, can_28 and 480 more\.$/);
  const long = { ...NO_RULES, rules: rulesNamed('a', numbered(500, `can_${'x'.repeat(56)}`)) };
  for (const name of ['n', 'n'.repeat(64), `can_${'x'.repeat(55)}1`]) {
    assert.ok(messageOf(long, name, 'a:1').length < MESSAGE_LENGTH_MAX);
  }
});
