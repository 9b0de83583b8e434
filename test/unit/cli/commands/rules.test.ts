// `grantd rules`, and the rules of a tenant in exports and imports.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { noChanges } from '../../../../src/rules/access-changes.ts';
import { RULE_SET_MEMBERS } from '../../../../src/rules/parse-rule-set.ts';
import { revisionOfRules } from '../../../../src/rules/rule-set.ts';
import { useDirectory } from '../../../kit/directory.ts';
import { type CliRun, useOperatorCli } from '../cli-run.ts';

const RULES = {
  rules: [
    { namespace: 'doc', name: 'viewer', any_of: ['editor', 'viewer from parent'] },
    { namespace: 'doc', name: 'can_read', any_of: ['viewer'] },
  ],
  groups: true,
  public: ['user'],
};
const PRINTED = `groups: on
public: user

namespace doc
  viewer = editor or viewer from parent
  can_read = viewer
`;
const REVISION = revisionOfRules(JSON.stringify(RULES));
const EMPTY = { rules: [], groups: false, public: [] };
const NONE = {
  groupSubjects: 0,
  publicGrants: 0,
  notFollowed: 0,
  outsideTypes: 0,
  ungranted: [],
  vanishing: [],
  access: noChanges(),
  scannedGrants: 0,
  complete: true,
};

const { service, grantd, createTenant } = await useOperatorCli();
const directory = useDirectory();

const fileOf = (content: unknown): string => {
  const file = join(directory, 'rules.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
};

const shown = async (id: string): Promise<unknown> =>
  JSON.parse((await grantd(['rules', 'show', '--tenant', id, '--json'])).stdout).rule_set;

const set = (id: string, rules: unknown, ...options: readonly string[]): Promise<CliRun> =>
  grantd(['rules', 'set', fileOf(rules), '--tenant', id, ...options]);

const exported = (id: string, format: string) => grantd(['export', '--tenant', id, '--format', format]);

const imported = (id: string, text: string, format = 'ndjson') =>
  grantd(['import', '-', '--format', format, '--tenant', id, '--json'], { stdin: text });

describe('rules set, show and diff', () => {
  test('what is set is shown, and set again as it was shown', async () => {
    const id = await createTenant();
    assert.deepEqual(await shown(id), EMPTY);
    const run = await set(id, RULES);
    assert.equal(run.code, 0, run.stderr);
    assert.equal(run.stdout, `The rules are set. Their revision is ${REVISION}.\n`);
    const json = JSON.parse((await grantd(['rules', 'show', '--tenant', id, '--json'])).stdout);
    assert.deepEqual(json, { revision: REVISION, rule_set: RULES });
    assert.equal((await set(id, RULES)).stdout, 'The tenant has these rules already.\n');
    const { stdout } = await grantd(['rules', 'show', '--tenant', id]);
    assert.equal(stdout, PRINTED);
    const text = `# Ours.\n${stdout}`;
    const asText = await grantd(['rules', 'set', '-', '--tenant', id], { stdin: text });
    assert.match(
      asText.stdout,
      /^They mean the same as the present rules: only comments, the layout or the form differ\.\nThe rules are set\./,
    );
    assert.equal((await grantd(['rules', 'show', '--tenant', id])).stdout, text);
    const again = await grantd(['rules', 'set', '-', '--tenant', id], { stdin: text });
    assert.equal(again.stdout, 'The tenant has these rules already.\n');
    assert.deepEqual(await shown(id), RULES);
  });

  test('a dry run says what would change, and changes nothing', async () => {
    const id = await createTenant();
    service.operator.preview = {
      ...NONE,
      groupSubjects: 1234,
      publicGrants: 5,
      notFollowed: 0,
      outsideTypes: 0,
      ungranted: [{ namespace: 'doc', relation: 'parent' }],
      vanishing: [
        { name: 'can_edit', askedAtMs: Date.now() - 5 * 60_000 },
        { name: 'can_sign', askedAtMs: undefined },
      ],
      access: {
        ...noChanges('everyone'),
        lost: {
          ...{ subjects: 2, objects: 7, rowsLeft: 0, byName: true },
          rows: [
            {
              ...{ subjects: ['user:ann', 'user:bob'], subjectCount: 2, isGroup: false, members: 0 },
              ...{ names: ['can_edit'], objects: ['doc:1', 'doc:2'], objectCount: 7 },
            },
          ],
        },
      },
      complete: false,
      scannedGrants: 100_000,
    };
    try {
      const run = await set(id, RULES, '--dry-run');
      assert.equal(run.code, 0, run.stderr);
      assert.match(run.stdout, /at least 1,234 subjects of the form namespace:id#name/);
      assert.match(run.stdout, /at least 5 grants to namespace:\*/);
      assert.match(run.stdout, /The rules use grants of which none was found: doc parent\.\n/);
      assert.match(
        run.stdout,
        /Applications asked about these names in the last day, and would be refused: can_edit \(5 minutes ago\)\.\nChecks of these names would be refused, about which nobody asked in the last day: can_sign\.\n/,
      );
      assert.match(
        run.stdout,
        /It is not known how many lose access: it concerns everyone of a public namespace:\n {2}can_edit: user:ann, user:bob, on some of doc:1, doc:2 and 5 more\n/,
      );
      assert.match(run.stdout, /Only 100,000 grants were looked at/);
      assert.match(run.stdout, /Nothing was changed\.\n$/);
      const json = JSON.parse((await set(id, RULES, '--dry-run', '--json')).stdout);
      assert.deepEqual([json.changed, json.group_subjects], [true, 1234]);
      assert.deepEqual(await shown(id), EMPTY);
    } finally {
      service.operator.preview = NONE;
    }
  });

  test('rules that give grants another meaning are set only after a yes', async () => {
    const id = await createTenant();
    for (const preview of [
      { ...NONE, groupSubjects: 1 },
      { ...NONE, publicGrants: 1 },
      { ...NONE, complete: false },
    ]) {
      service.operator.preview = preview;
      const asked = await set(id, RULES);
      assert.equal(asked.code, 2);
      assert.match(asked.stderr, /stored grants mean something else.*pass --yes/s);
      assert.deepEqual(await shown(id), EMPTY);
    }
    service.operator.preview = { ...NONE, groupSubjects: 1 };
    assert.equal((await set(id, RULES, '--yes')).code, 0);
    service.operator.preview = NONE;
    assert.deepEqual(await shown(id), RULES);
  });

  test('rules without names that applications ask about are set only after a yes', async () => {
    const id = await createTenant();
    try {
      service.operator.preview = { ...NONE, vanishing: [{ name: 'can_sign', askedAtMs: Date.now() }] };
      const asked = await set(id, RULES);
      assert.equal(asked.code, 2);
      assert.match(asked.stderr, /names are missing that applications ask about.*pass --yes/s);
      assert.deepEqual(await shown(id), EMPTY);
      service.operator.preview = { ...NONE, vanishing: [{ name: 'can_sign', askedAtMs: undefined }] };
      assert.equal((await set(id, RULES)).code, 0);
    } finally {
      service.operator.preview = NONE;
    }
  });

  test('rules are replaced only if they are those that were named', async () => {
    const id = await createTenant();
    const refused = await set(id, RULES, '--if-match', REVISION);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /precondition-failed.*grantd rules show/s);
    await set(id, RULES);
    assert.equal((await set(id, EMPTY, '--if-match', REVISION)).code, 0);
    assert.deepEqual(await shown(id), EMPTY);
  });

  test('a difference and a failure have exit codes of their own', async () => {
    const id = await createTenant();
    await set(id, RULES);
    const diff = (content: unknown) => grantd(['rules', 'diff', fileOf(content), '--tenant', id]);
    const same = await diff({ ...RULES, rules: RULES.rules.toReversed() });
    assert.deepEqual([same.code, same.stdout], [0, '']);
    const differs = await diff({ ...EMPTY, groups: true });
    assert.equal(differs.code, 1);
    assert.equal(
      differs.stdout,
      '- doc can_read = viewer\n- doc viewer = editor or viewer from parent\n- public: user\n',
    );
    for (const content of ['{', '[]', { rules: [], extra: 1 }, ' '.repeat(300 * 1024)]) {
      const failed = await diff(content);
      assert.equal(failed.code, 2, failed.stderr);
      assert.match(failed.stderr, /^grantd: \S*rules\.json(:1:\d+: |: The rules take \d+ bytes)/);
    }
    const missing = await grantd(['rules', 'diff', join(directory, 'none.json'), '--tenant', id]);
    assert.deepEqual([missing.code, missing.stdout], [2, '']);
    assert.equal((await grantd(['rules', 'diff', fileOf(EMPTY), '--tenant', 'ten_x'])).code, 2);
  });

  test('the audit log tells a change of rules in a few words', async () => {
    const id = await createTenant();
    await set(id, RULES);
    const { stdout } = await grantd(['audit-log', '--tenant', id, '--action', 'rules.updated']);
    assert.match(stdout, /rules\.updated +rules=2 rules, groups, 1 public \(before: 0 rules\) +req_/);
    const entries = JSON.parse((await grantd(['audit-log', '--tenant', id, '--json'])).stdout);
    assert.deepEqual(entries[0].change, { action: 'rules.updated', rules: RULES, former: EMPTY });
  });
});

describe('rules history and rollback', () => {
  const onto = (id: string, ...args: readonly string[]) => grantd(['rules', ...args, '--tenant', id]);
  const SMALL = { ...EMPTY, rules: RULES.rules.slice(0, 1) };

  test('each change is a version, which is listed, shown and compared', async () => {
    const id = await createTenant();
    const none = await onto(id, 'history', '--json');
    assert.deepEqual([none.code, JSON.parse(none.stdout)], [0, []]);
    await set(id, SMALL);
    await set(id, RULES);
    const listed = (await onto(id, 'history')).stdout;
    assert.match(
      listed,
      /^VERSION +AT +ACTOR +LINES +REQUEST\n2 .+ operator:\w+ +\+3 -1 +req_\w+\n1 .+ \+1 -0 +req_\w+\n$/,
    );
    const [newest] = JSON.parse((await onto(id, 'history', '--json')).stdout);
    assert.deepEqual([newest.version, newest.revision], [2, REVISION]);
    assert.deepEqual(JSON.parse((await onto(id, 'show', '1', '--json')).stdout).rule_set, SMALL);
    assert.deepEqual(JSON.parse((await onto(id, 'show', '2', '--json')).stdout), {
      revision: REVISION,
      rule_set: RULES,
    });
    const forth = '+ doc can_read = viewer\n- groups: off\n+ groups: on\n+ public: user\n';
    for (const args of [
      ['--from', '1'],
      ['--from', '1', '--to', '2'],
    ]) {
      const { code, stdout } = await onto(id, 'diff', ...args);
      assert.deepEqual([code, stdout], [1, forth]);
    }
    const back = await onto(id, 'diff', '--to', '1', '--json');
    assert.deepEqual([back.code, JSON.parse(back.stdout).length], [1, 4]);
    const file = await onto(id, 'diff', fileOf(SMALL), '--from', '1');
    assert.deepEqual([file.code, file.stdout], [0, '']);
  });

  test('a rollback shows the difference, asks, and makes a new version', async () => {
    const id = await createTenant();
    await set(id, SMALL);
    await set(id, RULES);
    const difference = /^- doc can_read = viewer\n- groups: on\n\+ groups: off\n- public: user\n/;
    const tried = await onto(id, 'rollback', '1', '--dry-run');
    assert.equal(tried.code, 0, tried.stderr);
    assert.match(tried.stdout, difference);
    assert.match(tried.stdout, /Nothing was changed\.\n$/);
    const asked = await onto(id, 'rollback', '1');
    assert.equal(asked.code, 2);
    assert.match(asked.stderr, /This replaces the present rules\. .*pass --yes/);
    const refused = await onto(id, 'rollback', '1', '--yes', '--if-match', '0'.repeat(32));
    assert.match(refused.stderr, /precondition-failed/);
    assert.deepEqual(await shown(id), RULES);
    const done = await onto(id, 'rollback', '1', '--yes');
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout, /The rules are set\. Their revision is [0-9a-f]{32}\.\n$/);
    assert.deepEqual(await shown(id), SMALL);
    const versions: { version: number; revision: string }[] = JSON.parse((await onto(id, 'history', '--json')).stdout);
    assert.deepEqual(
      versions.map(({ version }) => version),
      [3, 2, 1],
    );
    assert.equal(versions[0]?.revision, versions[2]?.revision);
    const again = await onto(id, 'rollback', '3');
    assert.deepEqual([again.code, again.stdout.split('\n').at(-2)], [0, 'The tenant has these rules already.']);
  });

  test('stored grants that stricter types exclude stay if --outside-types says so, also in a rollback', async () => {
    const id = await createTenant();
    const typed = { ...EMPTY, types: [{ namespace: 'doc', relation: 'viewer', subjects: ['user'] }] };
    await set(id, typed);
    await set(id, EMPTY);
    await grantd(['grants', 'add', 'bot:a', 'viewer', 'doc:1', '--tenant', id]);
    const keep = ['--outside-types', 'keep'];
    for (const write of [
      (...more: readonly string[]) => set(id, typed, '--yes', ...more),
      (...more: readonly string[]) => onto(id, 'rollback', '1', '--yes', ...more),
    ]) {
      const refused = await write();
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /exclude 1 stored grant: bot:a viewer doc:1\./);
      assert.deepEqual(await shown(id), EMPTY);
      const kept = await write(...keep);
      assert.equal(kept.code, 0, kept.stderr);
      assert.deepEqual(await shown(id), typed);
      assert.equal((await grantd(['check', 'bot:a', 'viewer', 'doc:1', '--tenant', id])).stdout, 'authorized true\n');
      await set(id, EMPTY, '--yes');
    }
    assert.equal((await set(id, typed, '--outside-types', 'drop')).code, 2);
  });

  test('a version that is none, or not kept, is named with what to do', async () => {
    const id = await createTenant();
    for (const args of [
      ['show', '1'],
      ['rollback', '1', '--yes'],
    ]) {
      const run = await onto(id, ...args);
      assert.equal(run.code, 1);
      assert.match(run.stderr, /rules-version-not-found.*grantd rules history/s);
    }
    assert.equal((await onto(id, 'diff', '--from', '1')).code, 2);
    for (const args of [
      ['show', 'x'],
      ['show', '0'],
      ['rollback'],
      ['rollback', '-1'],
      ['diff'],
      ['diff', '--to', '1.5'],
    ]) {
      assert.equal((await onto(id, ...args)).code, 2, args.join(' '));
    }
    const both = await onto(id, 'diff', fileOf(EMPTY), '--to', '1');
    assert.match(both.stderr, /either a file or --to/);
  });
});

describe('rules in exports and imports', () => {
  test('an export in NDJSON has the rules before the grants, and an import restores them', async () => {
    const id = await createTenant();
    await grantd(['grants', 'add', 'user:ann', 'viewer', 'doc:1', '--tenant', id]);
    await set(id, RULES);
    const { stdout, stderr } = await exported(id, 'ndjson');
    const [head = '', rules = '', grant = '', ...rest] = stdout.split('\n');
    assert.deepEqual(JSON.parse(head), { export: { tenant_id: id } });
    assert.deepEqual(JSON.parse(rules), { rules: RULES });
    assert.equal(JSON.parse(grant).subject, 'user:ann');
    assert.deepEqual([rest, stderr], [['{"end":{"grants":1}}', ''], '']);
    const copy = await createTenant();
    const run = await imported(copy, stdout);
    assert.equal(run.code, 0, run.stderr);
    assert.deepEqual([JSON.parse(run.stdout).created, JSON.parse(run.stdout).refused], [2, 0]);
    assert.deepEqual(await shown(copy), RULES);
    // Again: nothing is new.
    assert.equal(JSON.parse((await imported(copy, stdout)).stdout).unchanged, 2);
  });

  test('without rules, an export has grants alone', async () => {
    const id = await createTenant();
    await grantd(['grants', 'add', 'user:ann', 'viewer', 'doc:1', '--tenant', id]);
    const { stdout } = await exported(id, 'ndjson');
    const [, grant = '', end] = stdout.split('\n');
    assert.deepEqual([Object.keys(JSON.parse(grant))[0], end], ['grant_id', '{"end":{"grants":1}}']);
    assert.deepEqual(await exported(id, 'tsv'), { code: 0, stdout: 'user:ann\tviewer\tdoc:1\n', stderr: '' });
  });

  test('an export in TSV says that it lacks the rules', async () => {
    const id = await createTenant();
    await set(id, RULES);
    const { code, stdout, stderr } = await exported(id, 'tsv');
    assert.deepEqual([code, stdout], [0, '']);
    assert.match(stderr, /has rules, which TSV cannot hold/);
  });

  const DOC_1 = '{"subject":"user:ann","relation":"viewer","object":"doc:1"}';
  const DOC_2 = '{"subject":"user:ann","relation":"viewer","object":"doc:2"}';

  test('an import never replaces other rules, and sends nothing that stands behind them', async () => {
    const id = await createTenant();
    await set(id, { ...EMPTY, groups: true });
    const run = await imported(id, `${DOC_1}\n${JSON.stringify({ rules: RULES })}\n${DOC_2}\n`);
    assert.equal(run.code, 1);
    const { complete, created, first_refused: refused } = JSON.parse(run.stdout);
    assert.deepEqual([complete, created, refused.length], [false, 1, 1]);
    assert.deepEqual([refused[0].line, refused[0].code], [2, 'precondition-failed']);
    assert.match(refused[0].detail, /an import never replaces/);
    assert.match(run.stderr, /The rules in line 2 were refused, so nothing behind them was sent/);
    assert.deepEqual(await shown(id), { ...EMPTY, groups: true });
    assert.equal((await exported(id, 'tsv')).stdout, 'user:ann\tviewer\tdoc:1\n');
  });

  test('nothing is sent behind a line of rules that cannot be read, whatever is wrong with it', async () => {
    for (const [line, reason] of [
      ['{"rules":{"rules":[{}]}}', /"rules\[0\]\.namespace" must be a namespace/],
      ['{"rules":{"rules":[],"rules":[]}}', /The line gives "rules" twice/],
      ['{"rules":{"rules":[]},"revision":"1"}', /"revision" is unknown/],
      ['{"rules":{"rules":[]}', /not valid JSON/],
      [` { "rules": ${' '.repeat(200_000)}{"rules":[]}}`, /longer than 128 KiB/],
      [`{"rules":1}`, /must be a JSON object/],
    ] as const) {
      const id = await createTenant();
      const run = await imported(id, `${DOC_1}\n${line}\n${DOC_2}\n`);
      assert.equal(run.code, 1, line.slice(0, 50));
      assert.match(JSON.parse(run.stdout).first_refused[0].detail, reason);
      assert.match(run.stderr, /The rules in line 2 were refused/);
      assert.equal((await exported(id, 'tsv')).stdout, 'user:ann\tviewer\tdoc:1\n', line.slice(0, 50));
    }
  });

  test('a grant that only speaks of rules is a grant', async () => {
    const id = await createTenant();
    const lines = [DOC_1.replace('doc:1', 'doc:\\"rules\\"'), '{"subject":"user:x","rules":1}', DOC_2];
    const run = await imported(id, `${lines.join('\n')}\n`);
    assert.deepEqual([run.code, JSON.parse(run.stdout).created], [4, 2]);
  });

  test('grants before the rules are stored before them, and grants behind them only once they are', async () => {
    const id = await createTenant();
    const rules = { ...EMPTY, relations: ['blocked'] };
    const grants = (relation: string): string =>
      Array.from(
        { length: 2500 },
        (_, index) => `{"subject":"user:${index}","relation":"${relation}","object":"doc:1"}\n`,
      ).join('');
    const events: string[] = [];
    /** Holds the answer to the rules back for as long as anything else is sent. */
    const slow: typeof fetch = async (...parameters) => {
      const [url, init] = parameters;
      const method = init?.method ?? 'GET';
      const what = `${method} ${new URL(String(url)).pathname.split('/').at(-1)}`;
      events.push(what);
      const response = await fetch(...parameters);
      if (what === 'PUT rules') for (let turn = 0; turn < 1000; turn += 1) await new Promise(setImmediate);
      events.push(`${what} answered`);
      return response;
    };
    const text = `${grants('viewer')}${JSON.stringify({ rules })}\n${grants('blocked')}`;
    const run = await grantd(['import', '-', '--format', 'ndjson', '--tenant', id, '--json'], {
      stdin: text,
      fetch: slow,
    });
    assert.equal(run.code, 0, run.stderr);
    assert.equal(JSON.parse(run.stdout).created, 5001);
    const begun = events.indexOf('GET rules');
    const stored = events.indexOf('PUT rules answered');
    const count = (part: readonly string[], what: string) => part.filter((each) => each === what).length;
    assert.equal(count(events.slice(0, begun), 'POST import answered'), 3);
    assert.equal(count(events.slice(begun, stored), 'POST import'), 0);
    assert.equal(count(events.slice(stored), 'POST import'), 3);
  });
});

describe('a file of rules', () => {
  const YAML = `# who may read
groups: true
rules:
  - namespace: doc
    name: viewer
    any_of: [editor, viewer from parent]
  - {namespace: doc, name: can_read, any_of: [viewer]} # a comment
public: [user]
`;
  const named = (name: string, text: string): string => {
    const file = join(directory, name);
    writeFileSync(file, text);
    return file;
  };

  test('is JSON or YAML, and may be one of model tests with rules', async () => {
    const tests = `${YAML.replace(/^(?=.)/gm, '  ').replace(/^/, 'rules:\n')}tests: []\n`;
    for (const file of [
      named('own.yaml', YAML),
      named('own.yml', tests),
      named('own.json', JSON.stringify(RULES)),
      named('tests.json', JSON.stringify({ rules: RULES, tests: [] })),
    ]) {
      const id = await createTenant();
      const run = await grantd(['rules', 'set', file, '--tenant', id]);
      assert.deepEqual([run.code, run.stderr], [0, ''], file);
      assert.deepEqual(await shown(id), RULES, file);
    }
    const id = await createTenant();
    const piped = await grantd(['rules', 'set', '-', '--tenant', id], { stdin: YAML });
    assert.equal(piped.code, 0, piped.stderr);
    const format = await grantd(['rules', 'format', named('own.yaml', YAML)]);
    assert.deepEqual([format.code, /is YAML/.test(format.stderr)], [1, true]);
  });

  test('in YAML has every member that the service takes', async () => {
    const whole = {
      relations: ['blocked'],
      states: ['archived'],
      conditions: [{ name: 'small', parameters: { n: 'int' }, expression: 'n < 9' }],
      types: [{ namespace: 'doc', relation: 'viewer', subjects: ['user with small'] }],
      rules: [{ namespace: 'doc', name: 'can_edit', any_of: [{ any_of: ['editor'], but_not: ['archived'] }] }],
      groups: true,
      public: ['user'],
    };
    assert.deepEqual(Object.keys(whole), RULE_SET_MEMBERS);
    const id = await createTenant();
    const run = await grantd(['rules', 'set', named('whole.yaml', JSON.stringify(whole)), '--tenant', id]);
    assert.deepEqual([run.code, run.stderr], [0, '']);
    assert.deepEqual(await shown(id), whole);
  });

  test('is text, in a file of its own or as a value in YAML, and stays as it was written', async () => {
    const text = `# Ours.\n${PRINTED}`;
    const tests = `rules: |\n${text.replaceAll(/^(?=.)/gm, '  ')}tests: []\n`;
    for (const file of [named('own.grantd', text), named('own.txt', text), named('tests.yaml', tests)]) {
      const id = await createTenant();
      const run = await grantd(['rules', 'set', file, '--tenant', id]);
      assert.deepEqual([run.code, run.stderr], [0, ''], file);
      assert.equal((await grantd(['rules', 'show', '--tenant', id])).stdout, text);
      const same = await grantd(['rules', 'diff', file, '--tenant', id]);
      assert.deepEqual([same.code, same.stdout], [0, '']);
    }
    const id = await createTenant();
    await grantd(['rules', 'set', '-', '--tenant', id], { stdin: text });
    const { stdout } = await exported(id, 'ndjson');
    assert.deepEqual(JSON.parse(stdout.split('\n')[1] ?? ''), { rules: text });
    const copy = await createTenant();
    assert.equal((await imported(copy, stdout)).code, 0);
    assert.equal((await grantd(['rules', 'show', '--tenant', copy])).stdout, text);
    const wrong = text.replace('editor or viewer', 'editr or viewer and');
    for (const [file, line] of [
      [named('wrong.grantd', wrong), 'wrong.grantd:6:'],
      [named('wrong.yaml', `rules: |\n${wrong.replaceAll(/^(?=.)/gm, '  ')}tests: []\n`), 'wrong.yaml:7:'],
    ] as const) {
      const refused = await grantd(['rules', 'set', file, '--tenant', id]);
      assert.equal(refused.code, 1);
      assert.ok(refused.stderr.includes(line) && refused.stderr.includes('parentheses'), refused.stderr);
    }
  });

  test('is refused with everything that is wrong, line by line', async () => {
    const wrong = { 'can_read, any_of: [viewer]': 'can_read, any_of: [veiwer]', 'name: viewer': 'nam: viewer' };
    let yaml = YAML;
    for (const [from, to] of Object.entries(wrong)) yaml = yaml.replace(from, to);
    yaml += 'conditions:\n  - name: odd\n    parameters: {n: int}\n    expression: |\n      n > 1 &&\n      m > 2\n';
    const id = await createTenant();
    const refusal = async (name: string, text: string): Promise<string> => {
      const { code, stderr } = await grantd(['rules', 'set', named(name, text), '--tenant', id]);
      assert.equal(code, 1);
      return stderr.replaceAll(`${directory}/`, '');
    };
    assert.match(
      await refusal('own.yaml', yaml),
      /^grantd: own\.yaml:4: "rules\[0\]\.name" .*\nown\.yaml:5: "rules\[0\]\.nam" /,
    );
    const late = yaml.replace('nam: viewer', 'name: viewer');
    assert.match(
      await refusal('own.yaml', late),
      /^grantd: own\.yaml:7: "rules\[1\]\.any_of\[0\]" uses "veiwer".*"viewer"\?\nown\.yaml:14: "conditions\[0\]\.expression", line 2, /,
    );
    const json = JSON.stringify({ rules: [{ namespace: 'doc', name: 'a', any_of: ['veiwer'] }] }, null, 2);
    assert.match(await refusal('own.json', json), /^grantd: own\.json:7:9: "rules\[0\]\.any_of\[0\]" uses "veiwer"/);
    const named_ = await refusal('tests.yaml', 'rules_file: other.json\ntests: []\n');
    assert.match(named_, /^grantd: tests\.yaml:1: rules_file names the file that has the rules/);
  });
});
