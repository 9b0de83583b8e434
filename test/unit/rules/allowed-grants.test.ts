// To which subjects a relation may be granted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRelationName } from '../../../src/core/tuples.ts';
import { SubjectTypes } from '../../../src/rules/allowed-grants.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';

const CONDITION = { name: 'open', parameters: { zone: 'string' }, expression: 'zone == "CET"' };

function faultOf(subjects: readonly string[], grant: string, condition?: string, place?: string): string | undefined {
  const types = [{ namespace: 'doc', relation: 'viewer', subjects }];
  const ruleSet = parseRuleSet({ conditions: [CONDITION], types, rules: [] });
  const [subject = '', relation = '', object = ''] = grant.split(' ');
  assert.ok(isRelationName(relation));
  return new SubjectTypes(ruleSet).faultOf({ subject, relation, object }, condition, place);
}

test('a type allows the subjects of its kind, and no others', () => {
  const subjects: Readonly<Record<string, readonly string[]>> = {
    user: ['user:ann', 'user:#x', 'user:a#', 'user:a#1', 'user:a:*', 'user:**'],
    'user:*': ['user:*'],
    'user#member': ['user:ann#member', 'user:*#member', 'user:a#b#member'],
    'user#Member': ['user:ann#Member'],
    users: ['users:ann'],
  };
  const kinds = ['user', 'user:*', 'user#member', 'users'].flatMap((kind) => [kind, `${kind} with open`]);
  for (const [single, of] of Object.entries(subjects)) {
    for (const condition of [undefined, 'open', 'open {"zone":"CET with x"}']) {
      const kind = condition === undefined ? single : `${single} with open`;
      for (const subject of of) {
        for (const allowed of kinds) {
          const fault = faultOf([allowed], `${subject} viewer doc:1`, condition);
          assert.equal(fault === undefined, allowed === kind, `${subject} ${condition} as ${allowed}`);
        }
      }
    }
  }
});

test('the fault names the place, the kind and what is allowed', () => {
  const subjects = ['user', 'team#member', 'user with open'];
  assert.equal(
    faultOf(subjects, 'user:* viewer doc:1'),
    '"subject" is of the type "user:*", to which "viewer" is not granted on objects of "doc"; allowed: "user", "team#member", "user with open".',
  );
  assert.match(
    faultOf(subjects, 'team:1 viewer doc:1', 'open', 'grants[3]') ?? '',
    /^"grants\[3\]\.subject" is of the type "team with open"/,
  );
  assert.match(faultOf([], 'user:a viewer doc:1') ?? '', /; the types of the rules allow no subject\.$/);
  const many = Array.from({ length: 100 }, (_, index) => `ns${index}`);
  assert.match(faultOf(many, 'user:a viewer doc:1') ?? '', /"ns19" and others\.$/);
});

test('a relation without a type, on this namespace, may be granted to anyone', () => {
  assert.equal(faultOf(['user'], 'team:1 editor doc:1'), undefined);
  assert.equal(faultOf(['user'], 'team:1 viewer folder:1'), undefined);
  assert.equal(faultOf(['user'], 'team:1 viewer doc:1') === undefined, false);
});
