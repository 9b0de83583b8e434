// The definition of rules against models whose answers a reader sees.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { textOfRules } from '../../../src/rules/rule-set.ts';
import { type NaiveGrant, naiveHeld, naiveModel, naiveSubjects, type Truth } from '../../kit/naive-rules.ts';
import { randomCase } from './random-rules.ts';

/** `subject relation object`, and ` if true`, ` if false` or ` if undefined`: the value of its condition. */
function grantOf(text: string): NaiveGrant {
  const [subject = '', relation = '', object = '', , value] = text.split(' ');
  if (value === undefined) return { subject, relation, object };
  return { subject, relation, object, condition: value === 'undefined' ? value : value === 'true' };
}

interface Model {
  readonly rules?: Readonly<Record<string, readonly unknown[]>>;
  readonly grants: readonly string[];
}

/** `namespace name` to the elements of a rule. */
const ruleSetOf = ({ rules = {} }: Model) =>
  parseRuleSet({
    relations: ['blocked', 'approver', 'tenant'],
    rules: Object.entries(rules).map(([key, elements]) => {
      const [namespace, name] = key.split(' ');
      return { namespace, name, any_of: elements };
    }),
    groups: true,
    public: ['user'],
  });

/** `subject name object`, each with what is expected. */
function assertTruths(model: Model, expected: Readonly<Record<string, Truth>>): void {
  const ruleSet = ruleSetOf(model);
  const grants = model.grants.map(grantOf);
  const found = Object.keys(expected).map((question) => {
    const { subject, relation, object } = grantOf(question);
    const truth = naiveModel(ruleSet, grants, subject).truthOf(relation, object);
    assert.equal(naiveHeld(ruleSet, grants, subject).has(`${relation} ${object}`), truth === true, question);
    return [question, truth];
  });
  assert.deepEqual(Object.fromEntries(found), expected);
}

describe('the definition of rules', () => {
  it('follows all_of, but_not, and the rest of a document with approvals and a block list', () => {
    const rules = {
      'document can_read': ['owner', { all_of: ['member from tenant', 'approver'], but_not: ['blocked'] }],
    };
    const grants = [
      'user:owner owner document:1',
      'user:owner blocked document:1',
      'tenant:acme tenant document:1',
      'user:both member tenant:acme',
      'user:both approver document:1',
      'user:member member tenant:acme',
      'user:approver approver document:1',
      'user:blocked member tenant:acme',
      'user:blocked approver document:1',
      'group:out#member blocked document:1',
      'user:blocked member group:out',
    ];
    assertTruths(
      { rules, grants },
      {
        'user:owner can_read document:1': true,
        'user:both can_read document:1': true,
        'user:member can_read document:1': false,
        'user:approver can_read document:1': false,
        'user:blocked can_read document:1': false,
        'user:nobody can_read document:1': false,
      },
    );
  });

  it('takes a name away from one subject of all', () => {
    const rules = { 'document can_read': [{ any_of: ['viewer'], but_not: ['blocked'] }] };
    const grants = ['user:* viewer document:1', 'user:bob blocked document:1'];
    assertTruths(
      { rules, grants },
      {
        'user:* can_read document:1': true,
        'user:ann can_read document:1': true,
        'user:bob can_read document:1': false,
        'team:x can_read document:1': false,
      },
    );
  });

  it('requires a name on each of the entities, of which there must be one', () => {
    const rules = { 'document can_read': ['all of member from parent'] };
    const grants = [
      'folder:a parent document:2',
      'folder:b parent document:2',
      'folder:b#member parent document:2',
      'user:* parent document:2',
      'user:both member folder:a',
      'user:both member folder:b',
      'user:one member folder:a',
      'group:x#member parent document:3',
      'user:both member group:x',
    ];
    assertTruths(
      { rules, grants },
      {
        'user:both can_read document:2': true,
        'user:one can_read document:2': false,
        'user:both can_read document:1': false,
        'user:both can_read document:3': false,
      },
    );
  });

  it('makes an "all of" over a condition without a value undefined where it matters', () => {
    const rules = { 'document can_read': ['all of member from parent'] };
    const grants = [
      'folder:a parent document:1',
      'folder:b parent document:1 if undefined',
      'folder:b parent document:2 if undefined',
      'folder:a parent document:3 if false',
      'folder:a parent document:4',
      'folder:b parent document:4 if false',
      'user:both member folder:a',
      'user:both member folder:b',
      'user:a member folder:a',
      'user:b member folder:b',
    ];
    assertTruths(
      { rules, grants },
      {
        'user:both can_read document:1': true,
        'user:a can_read document:1': 'undefined',
        'user:b can_read document:1': false,
        'user:both can_read document:2': 'undefined',
        'user:both can_read document:3': false,
        'user:a can_read document:4': true,
      },
    );
  });

  it('leaves undefined what a grant to a group ties to its own but_not', () => {
    const rules = { 'document can_read': [{ any_of: ['viewer'], but_not: ['blocked'] }] };
    const grants = [
      'user:ann viewer document:1',
      'user:bob viewer document:1',
      'user:bob blocked document:1',
      'document:1#can_read blocked document:1',
    ];
    assertTruths(
      { rules, grants },
      {
        'user:ann can_read document:1': 'undefined',
        'user:ann blocked document:1': 'undefined',
        'user:bob can_read document:1': false,
        'user:cy can_read document:1': false,
      },
    );
  });

  it('leaves undefined which of two names excludes the other, and decides what follows from both', () => {
    const rules = {
      'document can_read': [{ any_of: ['viewer'], but_not: ['blocked'] }],
      'document can_share': [{ all_of: ['editor'], but_not: ['blocked'] }],
    };
    const grants = [
      'user:ann viewer document:1',
      'user:ann viewer document:2',
      'document:1#can_read blocked document:2',
      'document:2#can_read blocked document:1',
      'user:ann editor document:1',
      'user:ann editor document:3',
    ];
    assertTruths(
      { rules, grants },
      {
        'user:ann can_read document:1': 'undefined',
        'user:ann can_read document:2': 'undefined',
        'user:ann can_share document:1': 'undefined',
        'user:ann can_share document:3': true,
      },
    );
  });

  it('decides an even or odd number of negations in a row that ends', () => {
    const rules = { 'document can_read': [{ any_of: ['viewer'], but_not: ['blocked'] }] };
    const chain = [1, 2, 3, 4].flatMap((id) => [
      `user:ann viewer document:${id}`,
      `document:${id + 1}#can_read blocked document:${id}`,
    ]);
    assertTruths(
      { rules, grants: [...chain, 'user:ann viewer document:5'] },
      {
        'user:ann can_read document:5': true,
        'user:ann can_read document:4': false,
        'user:ann can_read document:3': true,
        'user:ann can_read document:2': false,
        'user:ann can_read document:1': true,
      },
    );
  });

  it('follows a but_not inside of a but_not', () => {
    const rules = {
      'document can_read': [{ any_of: ['viewer'], but_not: [{ any_of: ['blocked'], but_not: ['owner'] }] }],
    };
    const grants = [
      'user:ann viewer document:1',
      'user:bob viewer document:1',
      'user:bob blocked document:1',
      'user:cy viewer document:1',
      'user:cy blocked document:1',
      'user:cy owner document:1',
      'user:dee owner document:1',
    ];
    assertTruths(
      { rules, grants },
      {
        'user:ann can_read document:1': true,
        'user:bob can_read document:1': false,
        'user:cy can_read document:1': true,
        'user:dee can_read document:1': false,
      },
    );
  });

  it('leaves undefined a name that two negations lead to itself', () => {
    const rules = {
      'document can_read': [{ any_of: ['viewer'], but_not: [{ any_of: ['blocked'], but_not: ['owner'] }] }],
    };
    const grants = [
      'user:ann viewer document:1',
      'user:ann blocked document:1',
      'document:1#can_read owner document:1',
    ];
    assertTruths({ rules, grants }, { 'user:ann can_read document:1': 'undefined' });
  });

  it('proves nothing by a circle through all_of', () => {
    const rules = {
      'document can_read': [{ all_of: ['viewer', 'editor'] }],
      'document can_share': [{ any_of: ['owner'], but_not: ['can_read'] }],
    };
    const grants = [
      'document:1#can_read viewer document:1',
      'document:1#can_read editor document:1',
      'user:ann owner document:1',
      'document:2#can_read viewer document:2',
      'user:ann viewer document:2',
      'user:ann editor document:2',
    ];
    assertTruths(
      { rules, grants },
      {
        'user:ann can_read document:1': false,
        'user:ann can_share document:1': true,
        'user:ann can_read document:2': true,
      },
    );
  });

  it('decides what no condition without a value can change', () => {
    const rules = {
      'document can_read': ['viewer', 'editor'],
      'document can_share': [{ all_of: ['viewer', 'editor'], but_not: ['blocked'] }],
    };
    const grants = [
      'user:ann viewer document:1 if undefined',
      'user:bob viewer document:1 if undefined',
      'user:bob editor document:1',
      'user:cy viewer document:1 if false',
      'user:dee viewer document:1',
      'user:dee editor document:1 if true',
      'user:dee blocked document:1 if undefined',
      'user:eve viewer document:1',
      'user:eve editor document:1',
      'user:eve blocked document:1 if false',
      'user:fay viewer document:1 if undefined',
      'user:fay editor document:1',
      'user:fay blocked document:1',
    ];
    assertTruths(
      { rules, grants },
      {
        'user:ann can_read document:1': 'undefined',
        'user:ann can_share document:1': false,
        'user:bob can_read document:1': true,
        'user:bob can_share document:1': 'undefined',
        'user:cy can_read document:1': false,
        'user:dee can_share document:1': 'undefined',
        'user:eve can_share document:1': true,
        'user:fay can_share document:1': false,
      },
    );
  });

  it('counts a grant that one of two conditions allows', () => {
    const grants = [
      'user:ann viewer document:1 if undefined',
      'user:ann viewer document:1 if true',
      'user:bob viewer document:1 if false',
      'user:bob viewer document:1 if undefined',
    ];
    assertTruths(
      { grants },
      {
        'user:ann viewer document:1': true,
        'user:bob viewer document:1': 'undefined',
        'user:cy viewer document:1': false,
      },
    );
  });

  it('lists who holds a name, and whom it excludes of all', () => {
    const ruleSet = ruleSetOf({
      rules: { 'document can_read': [{ any_of: ['viewer'], but_not: ['blocked'] }] },
      grants: [],
    });
    const grants = [
      'user:* viewer document:1',
      'user:bob blocked document:1',
      'user:cy blocked document:1 if undefined',
      'robot:1 viewer document:1',
    ].map(grantOf);
    const candidates = ['robot:1', 'robot:2', 'user:*', 'user:ann', 'user:bob', 'user:cy', 'user:x#member'];
    assert.deepEqual(naiveSubjects(ruleSet, grants, { name: 'can_read', object: 'document:1' }, candidates), {
      held: ['robot:1', 'user:*', 'user:ann'],
      excluded: ['user:bob'],
      undefined: ['user:cy'],
    });
  });
});

describe('random cases of the whole model', () => {
  const SEEDS = 200;

  it('are rule sets that parse to themselves, within the bounds, and grants that differ', () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { ruleSet, grants } = randomCase(seed, 'whole');
      assert.deepEqual(parseRuleSet(JSON.parse(textOfRules(ruleSet))), ruleSet, `seed ${seed}`);
      assert.equal(
        new Set(grants.map((each) => `${each.subject} ${each.relation} ${each.object}`)).size,
        grants.length,
      );
    }
  });
});
