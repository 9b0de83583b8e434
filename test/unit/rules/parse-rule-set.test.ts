// What a PUT of rules refuses, and how it names the place.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GrantdError } from '../../../src/core/errors.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { textOfRules } from '../../../src/rules/rule-set.ts';

const numbered = <Item>(count: number, of: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => of(index));

function problemsOf(body: unknown): readonly string[] {
  try {
    parseRuleSet(body);
  } catch (error) {
    if (!(error instanceof GrantdError) || error.code !== 'invalid-request') throw error;
    return error.message.split('\n');
  }
  return [];
}

function nested(depth: number): unknown {
  return depth === 0 ? 'viewer' : { any_of: [nested(depth - 1)] };
}

const rule = (...elements: readonly unknown[]) => ({ namespace: 'doc', name: 'can_read', any_of: elements });
const condition = (change: object) => ({ name: 'c', parameters: { now: 'timestamp' }, expression: 'true', ...change });

const WHOLE = {
  relations: ['blocked', 'tenant'],
  conditions: [{ name: 'office_hours', parameters: { now: 'timestamp' }, expression: 'now.getHours() >= 9' }],
  types: [
    { namespace: 'doc', relation: 'viewer', subjects: ['user', 'user:*', 'team#member', 'user with office_hours'] },
    { namespace: 'doc', relation: 'blocked', subjects: [] },
  ],
  rules: [
    {
      namespace: 'doc',
      name: 'can_read',
      any_of: [
        'viewer',
        'can_read from parent',
        'all of member from tenant',
        { all_of: ['member from tenant', { any_of: ['owner', 'editor'] }], but_not: ['blocked'] },
      ],
    },
    { namespace: 'doc', name: 'blocked', any_of: ['blocked from parent'] },
  ],
  groups: true,
  public: ['user'],
};

/** Members of a body, and all that is wrong with them. */
const REFUSED: readonly (readonly [object, ...RegExp[]])[] = [
  [{ rules: [rule({ all_of: [] })] }, /^"rules\[0\]\.any_of\[0\]\.all_of" is empty/],
  [{ rules: [rule({ any_of: ['viewer'], but_not: [] })] }, /^"rules\[0\]\.any_of\[0\]\.but_not" is empty/],
  [{ rules: [rule({ but_not: ['viewer'] })] }, /^"rules\[0\]\.any_of\[0\]" must have either "any_of" or "all_of"\.$/],
  [{ rules: [rule({ any_of: ['viewer'], all_of: ['viewer'] })] }, /must have either "any_of" or "all_of"\.$/],
  [{ rules: [rule({ any_of: ['viewer'], butnot: ['owner'] })] }, /^"rules\[0\]\.any_of\[0\]\.butnot" is unknown/],
  [{ rules: [rule({ any_of: 'viewer' })] }, /^"rules\[0\]\.any_of\[0\]\.any_of" must be an array, but is a string\.$/],
  [{ rules: [rule('all of viewer')] }, /^"rules\[0\]\.any_of\[0\]" must be a name, .*; it is "all of viewer"\.$/],
  [{ rules: [rule(['viewer'])] }, /^"rules\[0\]\.any_of\[0\]" must be a name, .*; it is not a string\.$/],
  [{ rules: [rule(nested(6))] }, /lies inside of 5 others; more are not allowed\.$/],
  [
    { rules: [rule({ any_of: numbered(50, () => 'viewer'), but_not: numbered(51, () => 'owner') })] },
    /^"rules\[0\]" has 101 names, those inside of others included; at most 100 are allowed\.$/,
  ],
  [
    { rules: [rule('viewer from folder')] },
    /^"rules\[0\]\.any_of\[0\]" follows "folder"; after "from" stands a built-in relation .* or an own one\.$/,
  ],
  [
    { relations: ['blocked'], rules: [rule({ any_of: ['viewer'], but_not: [{ all_of: ['owner', 'bloked'] }] })] },
    /^"rules\[0\]\.any_of\[0\]\.but_not\[0\]\.all_of\[1\]" uses "bloked": .* Did you mean "blocked"\?$/,
  ],
  [{ relations: ['tenant'], rules: [rule('viewer from tenent')] }, /follows "tenent"; .* Did you mean "tenant"\?$/],
  [{ rules: [rule('viewer'), rule('owner')] }, /^"rules\[1\]" .*"rules\[0\]"/],
  [{ relations: ['viewer'] }, /^"relations\[0\]" is "viewer", a built-in relation, which is always there\.$/],
  [{ relations: ['a b'] }, /^"relations\[0\]" must be a letter, then .*; it is "a b"\.$/],
  [{ relations: ['one', 'two', 'one'] }, /^"relations\[2\]" is the same as "relations\[0\]"\.$/],
  [
    { relations: numbered(1001, (index) => `r${index}`) },
    /^"relations" has 1001 elements; at most 1000 are allowed\.$/,
  ],
  [{ relations: 'blocked' }, /^"relations" must be an array, but is a string\.$/],
  [{ conditions: [condition({ name: '1' })] }, /^"conditions\[0\]\.name" must be a letter/],
  [{ conditions: [condition({ expression: ' ' })] }, /^"conditions\[0\]\.expression" must be an expression in CEL/],
  [{ conditions: [condition({ expression: 'é'.repeat(1025) })] }, /takes 2050 bytes; at most 2048 are allowed\.$/],
  [{ conditions: [condition({ parameters: [] })] }, /^"conditions\[0\]\.parameters" must be an object/],
  [
    { conditions: [condition({ parameters: { now: 1 } })] },
    /^"conditions\[0\]\.parameters\.now" must be the name of a/,
  ],
  [
    { conditions: [condition({ parameters: Object.fromEntries(numbered(51, (index) => [`p${index}`, 'int'])) })] },
    /^"conditions\[0\]\.parameters" has 51 members; at most 50 are allowed\.$/,
  ],
  [{ conditions: [condition({}), condition({})] }, /^"conditions\[1\]" has the name of "conditions\[0\]"\.$/],
  [
    { types: [{ namespace: 'doc', relation: 'can_read', subjects: ['user'] }], rules: [rule('viewer')] },
    /^"types\[0\]\.relation" is "can_read", which cannot be granted/,
  ],
  [
    { types: [{ namespace: 'doc', relation: 'viewr', subjects: [] }] },
    /^"types\[0\]\.relation" is "viewr", .* Did you mean "viewer"\?$/,
  ],
  [
    { types: numbered(2, () => ({ namespace: 'doc', relation: 'viewer', subjects: [] })) },
    /^"types\[1\]" restricts the relation of "types\[0\]"; put both into one\.$/,
  ],
  ...['user:', 'user:1', 'user#', '*', 'user:*#member', 'user with', 1].map((subject): readonly [object, RegExp] => [
    { types: [{ namespace: 'doc', relation: 'viewer', subjects: [subject] }] },
    /^"types\[0\]\.subjects\[0\]" must be a kind of subjects/,
  ]),
  [
    { types: [{ namespace: 'doc', relation: 'viewer', subjects: ['team#membr'] }] },
    /^"types\[0\]\.subjects\[0\]" names "membr": .* Did you mean "member"\?$/,
  ],
  [
    {
      conditions: [condition({ name: 'office_hours' })],
      types: [{ namespace: 'doc', relation: 'viewer', subjects: ['user', 'user with office_hour'] }],
    },
    /^"types\[0\]\.subjects\[1\]" names the condition "office_hour", .* Did you mean "office_hours"\?$/,
  ],
  [{ groups: 1 }, /^"groups" must be true or false\.$/],
  [
    { rules: [rule('a b', 'viewer'), { namespace: '1', name: '', any_of: [{}] }], relations: ['owner'], groups: 1 },
    /^"rules\[0\]\.any_of\[0\]"/,
    /^"rules\[1\]\.namespace"/,
    /^"rules\[1\]\.name"/,
    /^"rules\[1\]\.any_of\[0\]"/,
    /^"groups"/,
    /^"relations\[0\]"/,
  ],
];

describe('parsing of a rule set', () => {
  it('keeps all of it, and what it writes parses to the same', () => {
    const parsed = parseRuleSet(WHOLE);
    assert.deepEqual(JSON.parse(textOfRules(parsed)), WHOLE);
    assert.deepEqual(parseRuleSet(JSON.parse(textOfRules(parsed))), parsed);
  });

  it('takes gates five deep, 100 names in a rule, and the own relations of others as names', () => {
    assert.deepEqual(problemsOf({ rules: [rule(nested(5))] }), []);
    assert.deepEqual(problemsOf({ rules: [rule({ all_of: numbered(99, () => 'viewer'), but_not: ['owner'] })] }), []);
    const relations = numbered(1000, (index) => `r${index}`);
    assert.deepEqual(problemsOf({ relations, rules: [{ ...rule('r1', 'r2 from r3'), name: 'r0' }] }), []);
  });

  for (const [change, ...problems] of REFUSED) {
    it(`refuses ${JSON.stringify(change).slice(0, 100)}`, () => {
      const found = problemsOf({ rules: [], ...change });
      assert.equal(found.length, problems.length, found.join('\n'));
      for (const [index, problem] of problems.entries()) assert.match(found[index] ?? '', problem);
    });
  }

  it('names the first 20 problems and counts the rest', () => {
    const found = problemsOf({ rules: [rule(...numbered(100, (index) => `unknown${index}`))] });
    assert.equal(found.length, 21);
    assert.match(found[19] ?? '', /^"rules\[0\]\.any_of\[19\]" uses "unknown19"/);
    assert.equal(found[20], 'And 80 more.');
  });

  it('refuses more than 128 KiB, before it searches for names', () => {
    const long = (index: number) => `n${index}_`.padEnd(64, 'x');
    const found = problemsOf({
      rules: numbered(200, (index) => ({ ...rule(...numbered(90, long)), name: long(index) })),
    });
    assert.equal(found.length, 1);
    assert.match(found[0] ?? '', /^The rules take \d+ bytes; at most 131072 are allowed\.$/);
  });
});

it('"self" is an element, and no name of a rule or a relation', () => {
  const rules = (name: string, element: string) => ({ rules: [{ namespace: 'user', name, any_of: [element] }] });
  for (const element of ['self', 'self from owner', 'all of self from owner']) {
    assert.equal(textOfRules(parseRuleSet(rules('can_edit', element))).includes(`"${element}"`), true);
  }
  for (const body of [
    rules('self', 'owner'),
    { relations: ['self'], rules: [] },
    rules('can_edit', 'owner from self'),
  ]) {
    assert.throws(() => parseRuleSet(body), /"self"/);
  }
});
