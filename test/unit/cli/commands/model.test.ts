// `grantd model test`: files of tests of all three kinds, run against a shard in this process.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { useDirectory } from '../../../kit/directory.ts';
import { type CliRun, runCli } from '../cli-run.ts';

const directory = useDirectory();

const fileOf = (name: string, text: string): string => {
  const file = join(directory, name);
  writeFileSync(file, text);
  return file;
};
/** No service is there. */
const grantd = (...args: readonly string[]): Promise<CliRun> =>
  runCli(['model', 'test', ...args], { target: { url: 'http://127.0.0.1:1', token: '' } });

const DOCUMENTS = `
rules:
  relations: [tenant, approved, blocked]
  rules:
    - namespace: document
      name: can_read
      any_of: [owner, {all_of: [member from tenant, approved], but_not: [blocked]}]
  groups: true
  public: [user]
grants:
  - user:ann member tenant:acme
  - user:eve member tenant:acme
  - tenant:acme tenant document:plan
  - user:* approved document:plan
  - {subject: user:eve, relation: blocked, object: document:plan}
`;

describe('model test', () => {
  test('answers as expected: each kind of question, and the grants of a test are its own', async () => {
    const file = fileOf(
      'right.yaml',
      `${DOCUMENTS}
tests:
  - name: members read
    checks:
      - {subject: user:ann, relation: can_read, object: document:plan, expected: true}
      - {subject: user:eve, object: document:plan, relations: {can_read: false, blocked: true}}
      - {subject: user:ann, relation: can_raed, object: document:plan, expected: invalid-relation}
    objects:
      - {subject: user:ann, relation: can_read, namespace: document, expected: [document:plan]}
    subjects:
      - {object: document:plan, relation: can_read, expected: [user:ann]}
      - {object: document:plan, relation: approved, expected: ["user:*"], excluded: []}
  - name: a new member
    grants: [user:new member tenant:acme]
    checks:
      - {subject: user:new, relation: can_read, object: document:plan, expected: true}
  - name: not there before
    checks:
      - {subject: user:new, relation: can_read, object: document:plan, expected: false}
`,
    );
    const run = await grantd(file, '--coverage');
    assert.deepEqual(run, {
      code: 0,
      stdout: `${file}: 9 of 9 answers as expected; 0 of 3 tests failed\n2 of 2 names, gates and conditions were decided both ways.\n`,
      stderr: '',
    });
  });

  test('differences with their lines and reasons, in text and JSON', async () => {
    const file = fileOf(
      'wrong.yaml',
      `${DOCUMENTS}
tests:
  - name: wrong
    checks:
      - {subject: user:eve, relation: can_read, object: document:plan, expected: true}
    subjects:
      - {object: document:plan, relation: can_read, expected: [user:eve]}
`,
    );
    const { code, stdout } = await grantd(file, '--coverage');
    assert.equal(code, 1);
    assert.equal(
      stdout,
      `${file}:18: wrong
  ${file}:20: user:eve can_read document:plan: expected true, answered false
    \`user:eve blocked document:plan\` excludes user:eve from can_read of document:plan.
  ${file}:22: subjects that hold can_read on document:plan: not as expected
    - user:eve
    + user:ann

${file}: 0 of 2 answers as expected; 1 of 1 tests failed
1 of 2 names, gates and conditions were decided both ways:
  document (member from tenant and approved but not blocked): never true
`,
    );
    const json = await grantd(file, '--json');
    assert.equal(json.code, 1);
    const [report] = JSON.parse(json.stdout);
    assert.deepEqual(
      report.tests[0].differences.map(({ expected, answer }: Record<string, unknown>) => [expected, answer]),
      [
        [true, false],
        [['user:eve'], ['user:ann']],
      ],
    );
  });

  test('without gates, the grants of a yes and what a no lacks', async () => {
    const file = fileOf(
      'union.json',
      JSON.stringify({
        rules: { rules: [{ namespace: 'doc', name: 'can_read', any_of: ['viewer', 'viewer from parent'] }] },
        grants: ['user:ann viewer folder:a', 'folder:a parent doc:x'],
        tests: [
          {
            name: 'all wrong',
            checks: [
              { subject: 'user:ann', relation: 'can_read', object: 'doc:x', expected: false },
              { subject: 'user:bob', relation: 'can_read', object: 'doc:x', expected: true },
            ],
          },
        ],
      }),
    );
    const { stdout } = await grantd(file);
    assert.match(stdout, /answered true\n {4}user:ann viewer folder:a\n {4}folder:a parent doc:x\n/);
    assert.match(
      stdout,
      /answered false\n {4}No grant leads from user:bob to can_read of doc:x; `user:bob viewer doc:x` would suffice\.\n/,
    );
  });

  test('rules and grants in files of their own', async () => {
    mkdirSync(join(directory, 'parts'), { recursive: true });
    fileOf('parts/rules.json', '{"rules":[{"namespace":"doc","name":"can_read","any_of":["viewer"]}]}');
    fileOf('parts/grants.csv', 'subject,relation,object\nuser:ann,viewer,doc:x\n');
    const text = (rules: string) => `
rules_file: ${rules}
grants_file: parts/grants.csv
tests:
  - name: reads
    checks: [{subject: user:ann, relation: can_read, object: doc:x, expected: true}]
`;
    assert.equal((await grantd(fileOf('named.yaml', text('parts/rules.json')))).code, 0);
    fileOf(
      'parts/model.fga',
      'model\n  schema 1.1\ntype user\ntype doc\n  relations\n    define viewer: [user]\n    define can_read: viewer\n',
    );
    assert.equal((await grantd(fileOf('named.yaml', text('parts/model.fga')))).code, 0);
    const outside = await grantd(fileOf('named.yaml', text('/etc/passwd')));
    assert.deepEqual([outside.code, /named\.yaml:2: rules_file is not followed/.test(outside.stderr)], [2, true]);
  });

  test('conditions: contexts of a test and of a question, grants sent along, missing parameters', async () => {
    const file = fileOf(
      'conditions.yaml',
      `
rules:
  conditions:
    - {name: office, parameters: {hour: int, from: int}, expression: "hour >= from && hour < 17"}
    - {name: never, parameters: {hour: int}, expression: "hour > 24"}
  rules: []
grants:
  - {subject: user:ann, relation: viewer, object: doc:x, condition: {name: office, context: {from: 9}}}
tests:
  - name: at ten
    context: {hour: 10}
    checks:
      - {subject: user:ann, relation: viewer, object: doc:x, expected: true}
      - {subject: user:ann, relation: viewer, object: doc:x, context: {hour: 8}, expected: false}
      - {subject: user:bob, relation: viewer, object: doc:x, context_grants: [user:bob viewer doc:x], expected: true}
      - subject: user:bob
        relation: viewer
        object: doc:x
        context_grants: [{subject: user:bob, relation: viewer, object: doc:x, condition: {name: never}}]
        expected: false
    subjects:
      - {object: doc:x, relation: viewer, expected: [user:ann]}
  - name: at no time
    checks:
      - {subject: user:ann, relation: viewer, object: doc:x, expected: context-incomplete}
`,
    );
    const { code, stdout } = await grantd(file, '--coverage');
    assert.equal(code, 0, stdout);
    assert.match(
      stdout,
      /1 of 2 names, gates and conditions were decided both ways:\n {2}condition never: never true\n$/,
    );
  });

  const OPENFGA =
    'model: |\n  model\n    schema 1.1\n  type user\n  type doc\n    relations\n      define viewer: [user]\ntuples: []\n';
  const WRONG: readonly (readonly [what: string, text: string, message: RegExp])[] = [
    ['no tests', 'grants: []\n', /The file has no "tests"/],
    ['YAML that breaks', 'tests: [\n', /wrong\.yaml:2: /],
    [
      'a rule',
      'rules:\n  rules:\n    - namespace: doc\n      name: a\n      any_of: [b]\ntests: []\n',
      /wrong\.yaml:5: rules are not valid rules: "rules\[0\]\.any_of\[0\]"/,
    ],
    ['a grant', 'tests: []\ngrants:\n  - user:ann viewer\n', /wrong\.yaml:3: grants\[0\] is wrong/],
    [
      'an undeclared relation',
      'tests: [{name: a, checks: [{subject: user:ann, relation: viewer, object: doc:x, expected: true}]}]\ngrants:\n  - user:ann reviewer doc:x\n',
      /wrong\.yaml:3: "relation" must be one of/,
    ],
    [
      'an expectation',
      'tests:\n  - name: a\n    checks:\n      - {subject: user:ann, relation: viewer, object: doc:x, expected: yes}\n',
      /wrong\.yaml:4: tests\[0\]\.checks\[0\] is wrong: "expected" must be true, false/,
    ],
    ['a file that asks nothing', 'tests: []\n', /wrong\.yaml asks nothing: it has no tests/],
    ['a store of OpenFGA without tests', `${OPENFGA}tests: []\n`, /wrong\.yaml asks nothing: it has no tests/],
    ['a store with a test without checks', `${OPENFGA}tests:\n  - name: a\n`, /wrong\.yaml:\d+: .*"a" asks nothing/],
    [
      'a store with a test without assertions',
      `${OPENFGA}tests:\n  - name: a\n    check:\n      - {user: "user:ann", object: "doc:x", assertions: {}}\n`,
      /wrong\.yaml:\d+: tests\[0\]\.check\[0\]\.assertions asks nothing/,
    ],
    [
      'a store with a check without assertions beside another',
      `${OPENFGA}tests:\n  - name: a\n    list_objects:\n      - {user: "user:ann", type: doc, assertions: {}}\n    check:\n      - {user: "user:ann", object: "doc:x", assertions: {viewer: true}}\n`,
      /wrong\.yaml:\d+: tests\[0\]\.list_objects\[0\]\.assertions asks nothing/,
    ],
    [
      'a check of Permify without assertions beside another',
      'schema: |-\n  entity user {}\n  entity doc { relation viewer @user }\nscenarios:\n  - name: a\n    checks:\n      - {entity: "doc:x", subject: "user:ann", assertions: {viewer: false}}\n      - {entity: "doc:x", subject: "user:ann", assertions: {viewer: }}\n',
      /wrong\.yaml:\d+: scenarios\[0\]\.checks\[1\]\.assertions asks nothing/,
    ],
    [
      'a validation file of SpiceDB without assertions',
      'schema: |-\n  definition user {}\n  definition doc { relation viewer: user }\nrelationships: ""\nassertions: {}\n',
      /asks nothing/,
    ],
    ['a test that asks nothing', 'tests:\n  - name: a\n', /wrong\.yaml:2: tests\[0\] asks nothing/],
    [
      'all that is wrong, at once',
      'rules:\n  rules:\n    - namespace: doc\n      name: a\n      any_of: [b]\n    - namespace: doc\n      any_of: [viewer]\ngrants:\n  - user:ann viewer\n  - user:ann viewer doc:x\n  - user:ann veiwer doc\ntests:\n  - name: a\n    checks:\n      - {subject: ann, relation: viewer, object: doc:x, expected: true}\n      - {subject: user:ann, relation: viewer, object: doc:x, expected: 1}\n  - nam: b\n    checks: []\n',
      /wrong\.yaml:6: rules .*\n.*:9: grants\[0\] .*\n.*:11: grants\[2\] .*\n.*:15: tests\[0\].*\n.*:16: tests\[0\].*\n.*:17: tests\[1\] has a key "nam"/,
    ],
    [
      'grants that the rules do not allow',
      'tests: [{name: a, checks: [{subject: user:ann, relation: viewer, object: doc:x, expected: true}]}]\ngrants:\n  - user:ann reviewer doc:x\n  - user:ann viewer doc:x\n  - user:ann author doc:x\n',
      /wrong\.yaml:3: "relation" .*\n.*wrong\.yaml:5: "relation" /,
    ],
    [
      'a misspelled member',
      'tests:\n  - name: a\n    check: []\n',
      /wrong\.yaml:3: tests\[0\] has a key "check", which is unknown; the nearest known name is "checks"/,
    ],
  ];
  for (const [what, text, message] of WRONG) {
    test(`exit code 2, with the line: ${what}`, async () => {
      const { code, stderr } = await grantd(fileOf('wrong.yaml', text));
      assert.equal(code, 2);
      assert.match(stderr, message);
    });
  }
});

test('the guide: its example, and what it shows', async () => {
  const guide = readFileSync(join(import.meta.dirname, '../../../../docs/guides/testing-models.md'), 'utf8');
  const [, example = ''] = /^```yaml\n(.*?)^```$/ms.exec(guide) ?? [];
  const printed = [...guide.matchAll(/^```text\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const right = await grantd(fileOf('documents.yaml', example), '--coverage');
  assert.deepEqual([right.code, right.stdout.replaceAll(`${directory}/`, '')], [0, printed[0]]);
  const wrong = await grantd(fileOf('documents.yaml', example.replace('can_read: false', 'can_read: true')));
  assert.ok(wrong.stdout.replaceAll(`${directory}/`, '').startsWith(`${printed[1]}\n`), wrong.stdout);
});

describe('the models of the cookbook', () => {
  const root = join(import.meta.dirname, '../../../..');
  const models = readdirSync(join(root, 'examples', 'models'));

  for (const model of models) {
    test(`${model}: as its page shows, and every permission is decided both ways`, async () => {
      const page = readFileSync(join(root, 'docs', 'cookbook', `${model}.md`), 'utf8');
      const [, file = '', printed = ''] = /^grantd model test (\S+)\n```\n\n```text\n(.*?)^```$/ms.exec(page) ?? [];
      const { code, stdout } = await grantd(join(root, file), '--coverage');
      assert.equal(code, 0, stdout);
      assert.ok(stdout.replaceAll(`${root}/`, '').startsWith(printed), stdout);
      assert.doesNotMatch(stdout, /\bcan_\w+: never/);
    });
  }
});

describe('model test of a store of OpenFGA', () => {
  const STORE = `
name: documents
model: |
  model
    schema 1.1
  type user
  type group
    relations
      define member: [user, group#member]
  type document
    relations
      define parent: [document]
      define viewer: [user, user:*, group#member] or viewer from parent
tuple_file: more.json
tuples:
  - {user: user:ann, relation: member, object: group:eng}
  - {user: "group:eng#member", relation: viewer, object: document:plan}
tests:
  - name: viewers
    description: of the plan
    tuples:
      - {user: "user:*", relation: viewer, object: document:open}
    check:
      - users: [user:ann, user:bob]
        object: document:open
        assertions: {viewer: true}
      - user: user:bob
        object: document:plan
        assertions:
          viewer: ANSWER
    list_objects:
      - user: user:ann
        type: document
        assertions:
          viewer: [document:open, document:part, document:plan]
    list_users:
      - object: document:part
        user_filter: [{type: user}]
        assertions: {viewer: {users: [user:ann]}}
      - object: document:part
        user_filter: [{type: group, relation: member}]
        assertions: {viewer: {users: ["group:eng#member"]}}
`;
  const store = (answer: string): Promise<CliRun> => {
    fileOf('more.json', '[{"user":"document:plan","relation":"parent","object":"document:part"}]');
    return grantd(fileOf('store.fga.yaml', STORE.replace('ANSWER', answer)));
  };

  test('all of its questions', async () => {
    const { code, stdout } = await store('false');
    assert.match(stdout, /store\.fga\.yaml: 6 of 6 answers as expected/);
    assert.equal(code, 0);
  });

  test('a difference, with its line', async () => {
    const { code, stdout } = await store('true');
    assert.match(stdout, /store\.fga\.yaml:30: user:bob viewer document:plan: expected true, answered false\n/);
    assert.equal(code, 1);
  });

  test('a name that the model does not define', async () => {
    const text = STORE.replace('viewer: ANSWER', 'viewers: true');
    const { code, stderr } = await grantd(fileOf('store.fga.yaml', text));
    assert.deepEqual([code, /store\.fga\.yaml:30: .*"document#viewers"/.test(stderr)], [2, true]);
  });
});

describe('model test of a validation file of SpiceDB', () => {
  const VALIDATION = `
schema: |-
  definition user {}
  definition group {
    relation member: user
  }
  definition document {
    relation viewer: user | user:* | group#member
    permission view = viewer
  }
relationships: |-
  group:eng#member@user:ann
  document:plan#viewer@group:eng#member
  document:open#viewer@user:*
assertions:
  assertTrue:
    - document:plan#view@user:ann
    - 'document:open#view@user:bob with {"day": "monday"}'
  assertFalse:
    - document:plan#view@user:bob
validation:
  document:plan#view:
    - "[user:ann] is <group:eng#member>"
    - "[group:eng#member] is <document:plan#viewer>"
  document:open#view:
    - "[user:*] is <document:open#viewer>"
`;

  test('its assertions and its lists', async () => {
    const { code, stdout } = await grantd(fileOf('validation.yaml', VALIDATION));
    assert.match(stdout, /validation\.yaml: 5 of 5 answers as expected/);
    assert.equal(code, 0);
  });

  test('a difference, with its line', async () => {
    const text = VALIDATION.replace('document:plan#view@user:bob', 'document:plan#view@user:ann');
    const { code, stdout } = await grantd(fileOf('validation.yaml', text));
    assert.match(stdout, /validation\.yaml:20: user:ann view document:plan: expected false, answered true\n/);
    assert.equal(code, 1);
  });
});

test('rules types of a file, by the ending of what it writes', async () => {
  const target = { url: 'http://127.0.0.1:1', token: '' };
  const rules = fileOf('types.json', '{"rules":[{"namespace":"doc","name":"can_read","any_of":["viewer"]}]}');
  const out = join(directory, 'model.py');
  assert.equal((await runCli(['rules', 'types', '--from-file', rules, '--out', out], { target })).code, 0);
  assert.match(readFileSync(out, 'utf8'), /class Doc:\n(.*\n)+ {4}can_read: Final = "can_read"\n/);
  const go = await runCli(['rules', 'types', '--from-file', rules, '--language', 'go', '--package', 'names'], {
    target,
  });
  assert.match(go.stdout, /package names\n(.*\n)+\tDocCanRead = "can_read"\n/);
  assert.equal((await runCli(['rules', 'types', '--from-file', rules], { target })).code, 2);
  assert.equal((await runCli(['rules', 'types', '--language', 'go'], { target })).code, 2, 'without a tenant');
});
