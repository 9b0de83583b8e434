// `grantd import --from`: files of OpenFGA and SpiceDB against the operator's API on a front in memory. Tuples keep
// their meaning; those that grantd cannot express are refused by line, and never become a grant that allows more.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import { type ConsoleService, OPERATOR_TOKEN, startConsole } from '../../kit/console-service.ts';
import { type CliRun, runCli } from '../cli/cli-run.ts';

const FILES = join(import.meta.dirname, 'files');
let service: ConsoleService;
let directory: string;

before(async () => {
  service = await startConsole({ clock: systemClock, random: systemRandom });
  directory = await mkdtemp(join(tmpdir(), 'grantd-peer-'));
});
after(async () => {
  await service.close();
  await rm(directory, { recursive: true });
});

const grantd = (...args: readonly string[]): Promise<CliRun> =>
  runCli(args, { target: { url: service.url, token: OPERATOR_TOKEN } });

async function createTenant(): Promise<string> {
  return JSON.parse((await grantd('tenants', 'create', 'Acme', '--json')).stdout).tenant_id;
}

interface Imported extends CliRun {
  readonly tenant: string;
  readonly grants: readonly string[];
}

/** Of the models below; the import sets no rules. */
const RELATIONS = ['reader', 'writer', 'folder', 'direct_secret', 'timed', 'boss'];

/** Imports a file of that name and text into a new tenant, and exports the tenant. */
async function importText(name: string, text: string | Buffer, ...args: readonly string[]): Promise<Imported> {
  const file = join(directory, name);
  await writeFile(file, text);
  return importFile(file, ...args);
}

async function importFile(file: string, ...args: readonly string[]): Promise<Imported> {
  const tenant = await createTenant();
  const rules = join(directory, 'rules.json');
  await writeFile(rules, JSON.stringify({ relations: RELATIONS, rules: [] }));
  assert.equal((await grantd('rules', 'set', rules, '--tenant', tenant, '--yes')).code, 0);
  const run = await grantd('import', file, '--tenant', tenant, ...args);
  const { stdout } = await grantd('export', '--tenant', tenant);
  return { ...run, tenant, grants: stdout.split('\n').filter((line) => line !== '') };
}

const importBackup = async (name: string, ...args: readonly string[]): Promise<Imported> =>
  importText(name, gunzipSync(await readFile(join(FILES, `${name}.gz`))), ...args);

const STORE = `name: Documents
model: |
  model
    schema 1.1
  type user
  type group
    relations
      define member: [user, group#member]
  type document
    relations
      define folder: [document]
      define reader: [user, user:*, group#member]
      define writer: [user]
      define secret: [user] but not reader
      define timed: [user with in_time]
      define can_read: reader or writer or can_read from folder
  condition in_time(now: timestamp) {
    now < timestamp("2030-01-01T00:00:00Z")
  }
tuples:
  - user: user:ann
    relation: member
    object: group:eng
  - {user: "group:eng#member", relation: reader, object: "document:plan"}
  - user: user:*
    relation: reader
    object: document:open
  - user: user:bob
    relation: writer
    object: document:plan
  - user: document:top
    relation: folder
    object: document:plan
`;

const UNFIT = `  - user: user:cid
    relation: timed
    object: document:plan
    condition:
      name: in_time
  - user: user:cid
    relation: secret
    object: document:plan
  - user: user:cid
    relation: can_read
    object: document:plan
  - user: user:*
    relation: writer
    object: document:plan
  - user: user:cid
    relation: reader
    object: document:plan
    condition: {}
  - user: cid
    relation: reader
    object: document:plan
`;

const STORE_GRANTS = [
  'document:top\tfolder\tdocument:plan',
  'group:eng#member\treader\tdocument:plan',
  'user:*\treader\tdocument:open',
  'user:ann\tmember\tgroup:eng',
  'user:bob\twriter\tdocument:plan',
];
/** Its subjects are excluded by a gate. */
const SECRET_GRANT = 'user:cid\tdirect_secret\tdocument:plan';

describe('import --from openfga', () => {
  test('maps the tuples of a store as "rules convert" maps its model, and says what they need', async () => {
    const run = await importText('store.fga.yaml', STORE, '--from', 'openfga');
    assert.equal(run.code, 0, run.stderr);
    assert.deepEqual(run.grants, STORE_GRANTS);
    assert.match(run.stderr, /1 grant is to groups .*"groups": true/);
    assert.match(run.stderr, /1 grant is to user:\*, .*"public": \["user"\]/);
    const again = await grantd(
      'import',
      join(directory, 'store.fga.yaml'),
      '--tenant',
      run.tenant,
      '--from',
      'openfga',
    );
    assert.match(again.stdout, /: 0 created, 0 changed, 5 unchanged, 0 refused/);
  });

  test('reads the model of a store from the file that it names', async () => {
    const [head, tuples] = STORE.split('tuples:\n');
    const model = (head ?? '').replace(/^name:.*\nmodel: \|\n/, '').replaceAll(/^ {2}/gm, '');
    await writeFile(join(directory, 'named.fga'), model);
    const run = await importText('named.fga.yaml', `model_file: named.fga\ntuples:\n${tuples}`, '--from', 'openfga');
    assert.equal(run.code, 0, run.stderr);
    assert.deepEqual(run.grants, STORE_GRANTS);
    const gone = await importText('gone.fga.yaml', `model_file: gone.fga\ntuples:\n${tuples}`, '--from', 'openfga');
    assert.deepEqual([gone.code, gone.grants], [1, []]);
  });

  test('refuses by its line whatever would allow more than it did', async () => {
    const run = await importText('unfit.yaml', `${STORE}${UNFIT}`, '--from', 'openfga');
    assert.equal(run.code, 4, run.stderr);
    assert.deepEqual(run.grants, [...STORE_GRANTS, SECRET_GRANT]);
    const lineOf = (text: string): number => `${STORE}${UNFIT}`.split(text)[0]?.split('\n').length ?? 0;
    const first = lineOf('  - user: user:cid');
    for (const [line, pattern] of [
      [first, /"in_time", which the rules do not declare/],
      [first + 8, /"document#can_read" only follows from others/],
      [first + 11, /does not allow "user:\*" as the subject of "document#writer"/],
      [first + 14, /"condition" must be an object with a "name"/],
      [first + 18, /"user" must be type:id/],
    ] as const) {
      const told = run.stderr.split('\n').find((each) => each.startsWith(`  line ${line}:`)) ?? '';
      assert.match(told, pattern, run.stderr);
    }
  });

  test('a dry run writes nothing and says the same', async () => {
    const run = await importText('dry.yaml', `${STORE}${UNFIT}`, '--from', 'openfga', '--dry-run');
    assert.equal(run.code, 4);
    assert.deepEqual(run.grants, []);
    assert.equal(run.stdout, 'Dry run of 11 lines: 7 would be imported, 4 refused; nothing was written\n');
    const json = await importText('dry.yaml', STORE, '--from', 'openfga', '--dry-run', '--json');
    const { dry_run: dryRun, fit, refused } = JSON.parse(json.stdout);
    assert.deepEqual([json.code, dryRun, fit, refused], [0, true, 5, 0]);
  });

  test('reads tuples as YAML, JSON, lines of JSON and CSV, with the relation map of the model', async () => {
    const map = join(directory, 'map.json');
    const names = {
      'document#reader': 'reader',
      'document#writer': 'writer',
      'document#folder': 'folder',
      'group#member': 'member',
    };
    await writeFile(map, JSON.stringify({ relation_map: names }));
    const tuples = [
      { user: 'user:ann', relation: 'member', object: 'group:eng' },
      { user: 'group:eng#member', relation: 'reader', object: 'document:plan' },
      { user: 'user:*', relation: 'reader', object: 'document:open' },
      { user: 'user:bob', relation: 'writer', object: 'document:plan' },
      { user: 'document:top', relation: 'folder', object: 'document:plan' },
    ];
    const unknown = { user: 'user:cid', relation: 'secret', object: 'document:plan' };
    const conditional = { ...tuples[3], user: 'user:cid', condition: { name: 'in_time', context: {} } };
    const all = [...tuples, unknown, conditional];
    const csv = [
      'user_type,user_id,user_relation,relation,object_type,object_id,condition_name,condition_context',
      'user,ann,,member,group,eng,,',
      'group,eng,member,reader,document,plan,,',
      'user,*,,reader,document,open,,',
      'user,bob,,writer,document,plan,,',
      'document,top,,folder,document,plan,,',
      'user,cid,,secret,document,plan,,',
      'user,cid,,writer,document,plan,in_time,"{""a"":1}"',
    ].join('\n');
    for (const [name, text] of [
      ['tuples.json', JSON.stringify(all, undefined, 2)],
      ['response.json', JSON.stringify({ tuples: all.map((key) => ({ key, timestamp: '2024-01-01T00:00:00Z' })) })],
      ['tuples.yaml', all.map((tuple) => `- ${JSON.stringify(tuple)}\n`).join('')],
      ['tuples.jsonl', all.map((tuple) => `${JSON.stringify(tuple)}\n`).join('')],
      ['tuples.csv', csv],
    ] as const) {
      const run = await importText(name, text, '--from', 'openfga', '--relation-map', map);
      assert.equal(run.code, 4, `${name}: ${run.stderr}`);
      assert.deepEqual(run.grants, STORE_GRANTS, name);
      assert.match(run.stderr, /"document#secret" is not in the relation map/, name);
      assert.match(run.stderr, /"in_time", which the rules do not declare/, name);
    }
  });

  test('refuses a tuple with a member that it does not know', async () => {
    const tuple = { user: 'user:bob', relation: 'writer', object: 'document:plan' };
    const wrong = [
      { ...tuple, conditions: { name: 'in_time' } },
      { key: { ...tuple, expires: 1 }, timestamp: '2024-01-01T00:00:00Z' },
      { key: tuple, condition: { name: 'in_time' } },
    ];
    for (const [name, text] of [
      ['tuples.json', JSON.stringify(wrong)],
      ['tuples.jsonl', wrong.map((each) => `${JSON.stringify(each)}\n`).join('')],
    ] as const) {
      const run = await importText(name, text, '--from', 'openfga', '--map', 'writer=editor');
      assert.equal(run.code, 4, `${name}: ${run.stderr}`);
      for (const pattern of [
        /"conditions" is unknown; the nearest known name is "condition"/,
        /"key\.expires" is unknown/,
        /"condition" is unknown; known here: "key", "timestamp"/,
      ]) {
        assert.match(run.stderr, pattern, name);
      }
      assert.deepEqual(run.grants, [], name);
    }
  });

  test('never lets two relations become one', async () => {
    const tuples = [
      { user: 'user:ann', relation: 'viewer', object: 'document:a' },
      { user: 'user:ann', relation: 'reader', object: 'document:b' },
      { user: 'user:ann', relation: 'watcher', object: 'document:c' },
      { user: 'team:a#viewer', relation: 'owner', object: 'document:d' },
    ];
    const text = tuples.map((tuple) => `${JSON.stringify(tuple)}\n`).join('');
    const bare = await importText('two.jsonl', text, '--from', 'openfga');
    assert.deepEqual(bare.grants, ['team:a#viewer\towner\tdocument:d', 'user:ann\tviewer\tdocument:a']);
    assert.match(bare.stderr, /"reader" is not a built-in relation: .* --map reader=RELATION/);
    const one = await importText('two.jsonl', text, '--from', 'openfga', '--map', 'reader=viewer');
    assert.deepEqual(one.grants, ['user:ann\tviewer\tdocument:b']);
    assert.match(one.stderr, /"viewer" and "reader" of "document" would both be "viewer"/);
    assert.match(one.stderr, /"viewer" and "reader" of "team" would both be "viewer"/);
    const both = await importText('two.jsonl', text, '--from', 'openfga', '--map', 'reader=guest,watcher=guest');
    assert.deepEqual(both.grants, bare.grants);
    const apart = ['--map', 'reader=guest', '--map', 'document#watcher=member'];
    const right = await importText('two.jsonl', text, '--from', 'openfga', ...apart);
    assert.deepEqual(right.grants, [
      'team:a#viewer\towner\tdocument:d',
      'user:ann\tguest\tdocument:b',
      'user:ann\tmember\tdocument:c',
      'user:ann\tviewer\tdocument:a',
    ]);
  });

  test('warns where an export has probably stopped early', async () => {
    const tuples = (count: number): string =>
      Array.from(
        { length: count },
        (_, index) => `  - {user: "user:${index}", relation: viewer, object: "doc:a"}\n`,
      ).join('');
    const warning = /exactly 100 tuples, which is where "fga store export" stops by default/;
    const cut = await importText('cut.yaml', `name: x\ntuples:\n${tuples(100)}`, '--from', 'openfga');
    assert.match(cut.stderr, warning);
    assert.equal(cut.grants.length, 100);
    for (const count of [99, 101]) {
      const whole = await importText('whole.yaml', `name: x\ntuples:\n${tuples(count)}`, '--from', 'openfga');
      assert.doesNotMatch(whole.stderr, warning);
    }
    const page = await importText('page.json', '{"tuples":[],"continuation_token":"abc"}', '--from', 'openfga');
    assert.match(page.stderr, /one page of a listing/);
    const files = await importText('files.yaml', 'name: x\ntuple_file: more.csv\n', '--from', 'openfga');
    assert.match(files.stderr, /further files of tuples/);
  });

  test('reads nothing more behind a value of several lines in CSV', async () => {
    const head = 'user_type,user_id,relation,object_type,object_id,condition_name,condition_context\n';
    const hidden = `${head}user,ann,viewer,doc,a,,\nuser,bob,viewer,doc,a,c,"{\nuser,eve,owner,doc,a,,\n}"\n`;
    const run = await importText('hidden.csv', hidden, '--from', 'openfga');
    assert.equal(run.code, 1);
    assert.match(run.stderr, /Line 3 has a quote that is not closed/);
    assert.ok(!run.grants.some((line) => line.includes('eve')));
    for (const head of ['user_type,user_id\n', 'subject,relation,object\n', 'user_type,user_type\n']) {
      assert.equal((await importText('head.csv', head, '--from', 'openfga')).code, 1);
    }
  });
});

const VALIDATION = `schema: |-
  definition user {}
  caveat weekday(day string) { day != "sunday" }
  definition group {
    relation member: user | group#member
  }
  definition document {
    relation reader: user | user:* | group#member | user with expiration | user with weekday and expiration
    relation writer: user
    permission view = reader + writer
  }
relationships: |-
  // who is where
  group:eng#member@user:ann
  document:plan#reader@group:eng#member

  document:open#reader@user:*
  document:plan#writer@user:bob#...
  document:plan#reader@user:cid[expiration:2099-01-31T12:00:00Z]
  document:plan#reader@user:dan[weekday:{"day":"monday"}]
  document:plan#reader@user:eve[weekday][expiration:2099-01-31T12:00:00Z]
  document:plan#reader@user:fay[expiration:2001-01-31T12:00:00Z]
  document:plan#view@user:gus
  nonsense
  document:plan#reader@user:hal[9][expiration:2099-01-31T12:00:00Z]
  document:plan#reader@user:ida[weekday:{]
  document:plan#reader@user:jan[expiration:2099-01-31T12:00:00Z][weekday:{"day":"monday"}]
assertions:
  assertTrue: []
`;
const VALIDATION_GRANTS = [
  'group:eng#member\treader\tdocument:plan',
  'user:*\treader\tdocument:open',
  'user:ann\tmember\tgroup:eng',
  'user:bob\twriter\tdocument:plan',
  'user:cid\treader\tdocument:plan\t2099-01-31T12:00:00.000Z',
];

describe('import --from spicedb', () => {
  test('reads a validation file, keeps expirations and refuses caveats by their lines', async () => {
    const run = await importText('validation.yaml', VALIDATION, '--from', 'spicedb');
    assert.equal(run.code, 4, run.stderr);
    assert.deepEqual(run.grants, VALIDATION_GRANTS);
    for (const [line, pattern] of [
      [20, /requires an expiration for "document#reader"/],
      [21, /"weekday", which the rules do not declare/],
      [22, /must be a moment in the future/],
      [23, /"document#view" only follows from others/],
      [24, /A relationship must be/],
      [25, /neither a caveat nor an expiration/],
      [26, /The context of the caveat/],
      [27, /The expiration must follow the caveat: \[caveat\]\[expiration:…\]/],
    ] as const) {
      assert.match(
        run.stderr.split('\n').find((each) => each.startsWith(`  line ${line}:`)) ?? '',
        pattern,
        run.stderr,
      );
    }
  });

  test('reads relationships as "zed backup parse-relationships" prints them', async () => {
    const [, text = ''] = /relationships: \|-\n([\s\S]*?)\nassertions/.exec(VALIDATION) ?? [];
    const lines = text.replace(/^ {2}/gm, '');
    const run = await importText('lines.txt', lines, '--from', 'spicedb', '--map', 'reader=reader,writer=writer');
    assert.equal(run.code, 4);
    assert.deepEqual(run.grants, VALIDATION_GRANTS);
  });

  test('reads a backup: its schema, and every relationship of all blocks', async () => {
    const run = await importBackup('backup.zedbackup', '--from', 'spicedb');
    assert.equal(run.code, 4, run.stderr);
    assert.equal(run.grants.length, 305);
    assert.deepEqual(
      run.grants.filter((line) => !line.includes('long-name')),
      [
        'team:eng#member\treader\tdocument:plan',
        'user:*\treader\tdocument:plan',
        'user:ann\tmember\tteam:eng',
        'user:bob\treader\tdocument:plan\t2099-01-31T12:00:00.000Z',
        'user:cid\twriter\tdocument:plan',
      ],
    );
    assert.match(run.stderr, /line 6: .*The context of its caveat cannot be read/);
    for (const number of [0, 39, 299]) {
      assert.ok(
        run.grants.includes(`user:person-number-${number}\twriter\tdocument:long-name-of-a-document-${number % 40}`),
      );
    }
  });

  test('refuses what may have had an expiration that an earlier backup leaves out', async () => {
    const run = await importBackup('earlier.zedbackup', '--from', 'spicedb');
    assert.deepEqual(run.grants, [
      'team:eng#member\treader\tdocument:plan',
      'user:*\treader\tdocument:plan',
      'user:ann\tmember\tteam:eng',
      'user:cid\twriter\tdocument:plan',
    ]);
    assert.match(run.stderr, /line 4: .*does not record expirations, and "document#reader" may have one/);
  });
});

describe('wrong usage of import', () => {
  test('is refused before the service is asked', async () => {
    const callsBefore = service.operator.calls.length;
    for (const args of [
      ['x.tsv', '--dry-run'],
      ['x.tsv', '--map', 'reader=viewer'],
      ['x.yaml'],
      ['x.tsv', '--format', 'avro'],
      ['x.tsv', '--from', 'openfga'],
      ['x.zedbackup', '--from', 'openfga'],
      ['x.csv', '--from', 'spicedb'],
      ['-', '--from', 'spicedb'],
      ['x.csv', '--from', 'openfga', '--format', 'tsv'],
      ['x.csv', '--from', 'openfga', '--map', 'reader=viewer', '--relation-map', 'map.json'],
      ['x.csv', '--from', 'openfga', '--map', 'reader=non sense'],
    ]) {
      const run = await grantd('import', ...args, '--tenant', 'ten_01k8x0000000000000000000zz');
      assert.equal(run.code, 2, `${args.join(' ')}: ${run.stderr}`);
    }
    assert.equal(service.operator.calls.length, callsBefore);
  });

  test('a relation map that is none, or joins relations, is refused', async () => {
    const map = join(directory, 'wrong.json');
    for (const text of [
      '{',
      '[]',
      '{"relation_map":{"a":"viewer"}}',
      '{"relation_map":{"a#b":"rea der"}}',
      '{"relation_map":{"a#b":"viewer"},"name_map":["a#b"]}',
      '{"relation_map":{"a#b":"viewer","a#c":"viewer"}}',
      '{"relation_map":{"a#b":"viewer","a#b":"owner"}}',
      '{"relation_map":{"a#b":"viewer"},"name_maps":{}}',
      '\u{feff}{"relation_map":{"a#b":"viewer"}}',
      Buffer.from('{"relation_map":{"a\xff#b":"viewer"}}', 'latin1'),
    ]) {
      await writeFile(map, text);
      const run = await importText('x.jsonl', '', '--from', 'openfga', '--relation-map', map);
      assert.equal(run.code, 1, String(text));
      assert.match(run.stderr, /is not a relation map: /);
    }
  });
});
