// Names that depend on themselves through `but_not`.

import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { isRelationName } from '../../../src/core/tuples.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { type NameElement, NO_RULES, type Rule, type SubjectType } from '../../../src/rules/rule-set.ts';
import { findNegativeCycle } from '../../../src/rules/strata.ts';

const numbered = <Item>(count: number, of: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => of(index));

interface Given {
  readonly types?: readonly string[];
  readonly rules: Readonly<Record<string, readonly unknown[]>>;
  readonly groups?: boolean;
  readonly public?: readonly string[];
}

/** Types as `namespace relation subjects…`, rules by `namespace name`. */
const bodyOf = ({ types = [], rules, groups = true, public: namespaces = ['user'] }: Given) => ({
  relations: ['blocked'],
  types: types.map((text) => {
    const [namespace, relation, ...subjects] = text.split(' ');
    return { namespace, relation, subjects };
  }),
  rules: Object.entries(rules).map(([key, elements]) => {
    const [namespace, name] = key.split(' ');
    return { namespace, name, any_of: elements };
  }),
  groups,
  public: namespaces,
});

const butNot = (...names: readonly unknown[]) => ({ any_of: ['viewer'], but_not: names });

const refusal = (rule: number, ...names: readonly string[]) => ({
  code: 'invalid-request',
  message: `"rules[${rule}]" depends on itself through "but not": ${names.join(' > ')}. Such a name has no meaning.`,
});

describe('a name that depends on itself through but_not', () => {
  const cases: readonly (readonly [string, Given['rules'], ReturnType<typeof refusal>])[] = [
    ['at once', { 'd a': [butNot('a')] }, refusal(0, 'd a', 'd a')],
    [
      'by a shortest way',
      { 'd c': ['a'], 'd a': [butNot('b')], 'd b': ['c', 'e'], 'd e': ['a'] },
      refusal(1, 'd a', 'd b', 'd c', 'd a'),
    ],
    [
      'through a relation with a rule',
      { 'd a': [butNot('blocked')], 'd blocked': ['a'] },
      refusal(0, 'd a', 'd blocked', 'd a'),
    ],
    ['inside of an all_of', { 'd a': [{ all_of: ['viewer', butNot('a')] }] }, refusal(0, 'd a', 'd a')],
    ['inside of a but_not of a but_not', { 'd a': [butNot(butNot('a'))] }, refusal(0, 'd a', 'd a')],
    ['on entities of any namespace', { 'd a': [butNot('a from parent')] }, refusal(0, 'd a', 'd a')],
    ['on each of them', { 'd a': [butNot('all of a from parent')] }, refusal(0, 'd a', 'd a')],
    [
      'over another namespace',
      { 'f a': ['a from parent'], 'd a': [butNot('a from parent')] },
      refusal(1, 'd a', 'd a'),
    ],
  ];
  for (const [what, rules, error] of cases) {
    it(`is refused, the circle named: ${what}`, () => {
      assert.throws(() => parseRuleSet(bodyOf({ rules })), error);
    });
  }

  it('is named beside other problems of the rules', () => {
    const rules = { 'd a': [butNot('a')], 'd b': ['nothing'] };
    assert.throws(
      () => parseRuleSet(bodyOf({ rules })),
      ({ message }: Error) => /uses "nothing"/.test(message) && message.includes(refusal(0, 'd a', 'd a').message),
    );
  });

  it('may depend on itself otherwise, and exclude names that do', () => {
    const rules = {
      'd a': ['a from parent', { all_of: ['a', 'viewer'] }],
      'd b': [butNot('a')],
      'd c': [butNot('b', 'a')],
    };
    assert.equal(parseRuleSet(bodyOf({ rules })).rules.length, 3);
  });

  it('may be that of another namespace, where types say so', () => {
    const rules = { 'f a': ['viewer', 'a from parent'], 'd a': [butNot('a from parent')] };
    const types = ['d parent f d#viewer user:*', 'f parent f'];
    assert.equal(parseRuleSet(bodyOf({ types, rules })).rules.length, 2);
    assert.throws(() => parseRuleSet(bodyOf({ types: types.slice(0, 1), rules })), refusal(1, 'd a', 'f a', 'd a'));
    const back = ['d parent f', 'f parent d'];
    assert.throws(() => parseRuleSet(bodyOf({ types: back, rules })), refusal(1, 'd a', 'f a', 'd a'));
  });

  it('is met on groups and on all of a namespace where these are entities', () => {
    const rules = { 'd a': [butNot('a from parent')] };
    for (const subject of ['d#viewer', 'd:*']) {
      const types = [`d parent user ${subject}`];
      assert.equal(parseRuleSet(bodyOf({ types, rules, public: ['d'] })).rules.length, 1);
      assert.throws(
        () => parseRuleSet(bodyOf({ types, rules, groups: false, public: [] })),
        refusal(0, 'd a', 'd a'),
        subject,
      );
    }
  });

  it('is found at the end of a long chain', () => {
    const chain = (last: unknown) =>
      Object.fromEntries(numbered(200, (index) => [`d n${index}`, index === 199 ? [last] : [`n${index + 1}`]]));
    assert.equal(parseRuleSet(bodyOf({ rules: chain('viewer') })).rules.length, 200);
    assert.throws(
      () => parseRuleSet(bodyOf({ rules: chain(butNot('n0')) })),
      refusal(199, 'd n199', ...numbered(200, (index) => `d n${index}`)),
    );
  });
});

test('a name in many namespaces behind many relations takes one step for each pair of names', () => {
  const relations = numbered(50, (index) => `r${index}`);
  const types = relations.map((relation) => ({
    namespace: 'd',
    relation,
    subjects: numbered(100, (index) => `n${index}`),
  }));
  const rules: Rule[] = numbered(100, (index) => ({
    namespace: index === 0 ? 'd' : `n${index}`,
    name: 'a',
    anyOf: relations.flatMap((from): NameElement[] => [
      { name: 'a', from },
      { name: 'a', from, all: true },
    ]),
  }));
  const restricted = types.map(({ subjects, ...type }) => ({
    ...type,
    subjects: subjects.map((namespace): SubjectType => ({ namespace, of: 'single' })),
  }));
  let visited = 0;
  const counted = rules.map((rule) => ({
    ...rule,
    get namespace() {
      visited += 1;
      return rule.namespace;
    },
  }));
  const own = relations.filter(isRelationName);
  assert.equal(findNegativeCycle({ ...NO_RULES, relations: own, types: restricted, rules: counted }), undefined);
  // One for each relation of the rule that types restrict, and namespace that defines the name, and a few a rule.
  assert.ok(visited <= 50 * 100 + 100 * 110, `${visited}`);
});
