// `grantd rules convert`: its output, files, messages and exit codes. It calls no service.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { MODEL_BYTES_MAX } from '../../../packages/convert/src/model/source-model.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { RulesText } from '../../../src/rules/rules-text.ts';
import { type CliRun, runCli } from '../cli/cli-run.ts';
import { CHANNEL_FGA, CHAT_FGA, DRIVE_FGA, DRIVE_ZED } from './samples.ts';

const GATED_FGA = `model
  schema 1.1
type user
type doc
  relations
    define blocked: [user]
    define viewer: [user] but not blocked
`;

const COMMENTED_FGA = `# The drive.
model
  schema 1.1
# people
type user
type group
  relations
    define member: [user, group#member] # nested at will
# folders of all
type folder
  relations
    define owner: [user]
    define parent: [folder]
    # may see
    define viewer: [user, user:*, group#member with hours] or owner or viewer from parent
    define blocked: [user]
    define can_view: viewer but not blocked
# office
condition hours(now: timestamp) {
  now.getHours("UTC") > 8 # early
}
# end
`;

const CONVERTED_FGA = `# The drive.
# people
namespace group
  # nested at will
  member: user, group#member

# folders of all
namespace folder
  owner: user
  parent: folder
  # may see
  viewer: user, user:*, group#member with hours
  viewer = owner or viewer from parent
  blocked: user
  can_view = viewer but not blocked

# office
# early
condition hours(now: timestamp) = now.getHours("UTC") > 8
# end
`;

const COMMENTED_ZED = `/** People. */
definition user {}
/**
 * A folder.
 * With lines.
 */
definition folder {
  // who owns
  relation owner: user // one
  relation parent: folder
  /* may see */ permission view = owner + parent->view
}
caveat hours(now timestamp) {
  // in the office
  now.getHours("UTC") > 8
}
// the end
`;

const CONVERTED_ZED = `groups: on

# People.
# A folder.
# With lines.
namespace folder
  # who owns
  # one
  owner: user
  parent: folder
  # may see
  view = owner or view from parent

condition hours(now: timestamp) =
  // in the office
    now.getHours("UTC") > 8
# the end
`;

/** With parts that have no counterpart. */
const UNFIT_ZED = `use self
caveat odd(a int) { a.odd() }
definition user {
  permission me = self
}
definition team {
  relation member: user | user with odd
}
definition doc {
  relation parent: team | team#member
  permission view = parent->member
}
`;

let directory = '';

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'grantd-rules-'));
});
after(() => rm(directory, { recursive: true }));

const inDirectory = (name: string): string => join(directory, name);

async function save(name: string, text: string | Uint8Array): Promise<string> {
  const file = inDirectory(name);
  await writeFile(file, text);
  return file;
}

const convert = (args: readonly string[], stdin = ''): Promise<CliRun> =>
  runCli(['rules', 'convert', ...args], {
    target: { url: 'http://127.0.0.1:1', token: 'x' },
    stdin,
    fetch: () => assert.fail('It calls the service.'),
  });

describe('rules convert', () => {
  test('prints rules that the service takes, and the relation map beside them', async () => {
    const { code, stdout, stderr } = await convert([await save('drive.fga', DRIVE_FGA)]);
    assert.equal(code, 0, stderr);
    assert.equal(new RulesText(stdout).ruleSet.rules.length, 4);
    assert.equal(stderr, '');
    const gated = await convert([await save('gated.fga', GATED_FGA)]);
    assert.match(
      gated.stderr,
      /^IN THE MODEL +IN GRANTD +BECAUSE OF\ndoc#viewer +direct_viewer +grants alone do not suffice$/m,
    );
  });

  test('prints them as text with the comments of the model, each where what it is about is', async () => {
    const fga = await convert([await save('commented.fga', COMMENTED_FGA)]);
    assert.deepEqual([fga.code, fga.stdout], [0, CONVERTED_FGA], fga.stderr);
    const zed = await convert([await save('commented.zed', COMMENTED_ZED)]);
    assert.deepEqual([zed.code, zed.stdout], [0, CONVERTED_ZED], zed.stderr);
    const json = await convert([inDirectory('commented.zed'), '--json']);
    assert.deepEqual(new RulesText(json.stdout).ruleSet, parseRuleSet(JSON.parse(json.stdout)));
    const { source, ...printed } = new RulesText(zed.stdout).ruleSet;
    assert.equal(source, zed.stdout);
    assert.deepEqual(printed, new RulesText(json.stdout).ruleSet);
  });

  test('knows the language by the name of the file, or is told', async () => {
    for (const [name, text] of [
      ['drive.FGA', DRIVE_FGA],
      ['drive.zed', DRIVE_ZED],
      ['drive.json', '{"type_definitions": [{"type": "user"}]}'],
    ] as const) {
      const { code, stderr } = await convert([await save(name, text)]);
      assert.equal(code, 0, stderr);
    }
    assert.equal((await convert(['-', '--from', 'spicedb'], DRIVE_ZED)).code, 0);
    assert.equal((await convert(['-', '--from', 'openfga'], DRIVE_FGA)).code, 0);
    const unknown = await convert([await save('drive.txt', DRIVE_FGA)]);
    assert.deepEqual([unknown.code, unknown.stdout], [2, '']);
    assert.match(unknown.stderr, /pass --from openfga, --from spicedb, --from permify\.$/m);
    const mixed = await convert([inDirectory('drive.FGA'), inDirectory('drive.zed')]);
    assert.deepEqual([mixed.code, mixed.stderr], [2, 'grantd: The files are of different systems.\n']);
  });

  const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');

  test('reads a model in YAML, and names the lines of the file', async () => {
    for (const [name, text] of [
      ['inline.fga.yaml', `name: Drive\nmodel: |\n${indented(DRIVE_FGA)}\ntuples: []\n`],
      ['named.fga.yml', 'model_file: ./named.fga\ntuples: []\n'],
      ['inline.yaml', `schema: |-\n${indented(DRIVE_ZED)}\nrelationships: ""\n`],
      ['named.yaml', '---\nschemaFile: "named.zed"\n'],
    ] as const) {
      await save('named.fga', DRIVE_FGA);
      await save('named.zed', DRIVE_ZED);
      const { code, stdout, stderr } = await convert([await save(name, text)]);
      assert.equal(code, 0, `${name}: ${stderr}`);
      const plain = await convert([inDirectory(/fga/.test(name) ? 'named.fga' : 'named.zed')]);
      assert.equal(stdout, plain.stdout, name);
    }
    const wrong = await convert([
      await save('wrong.fga.yaml', 'name: x\nmodel: |\n  model\n    schema 1.1\n  typo user\n'),
    ]);
    assert.deepEqual([wrong.code, wrong.stdout], [1, '']);
    assert.match(wrong.stderr, /wrong\.fga\.yaml:5:/);
    const both = await save('both.yaml', `model: |\n${indented(DRIVE_FGA)}\nschema: |\n${indented(DRIVE_ZED)}\n`);
    assert.equal((await convert([both])).code, 2);
    for (const from of ['openfga', 'spicedb']) assert.equal((await convert([both, '--from', from])).code, 0);
  });

  test('reads the modules that a list of them names', async () => {
    await save('chat.fga', CHAT_FGA);
    await save('channels.fga', CHANNEL_FGA);
    const list = await save('fga.mod', "schema: '1.2'\ncontents:\n  - chat.fga\n  - ./channels.fga\n");
    const store = await save('modular.fga.yaml', 'model_file: fga.mod\n');
    for (const file of [list, store]) {
      const { code, stdout, stderr } = await convert([file, '--map', 'legacy_admin=owner,channels_admin=admin']);
      assert.equal(code, 0, stderr);
      assert.equal(new RulesText(stdout).ruleSet.rules.length, 4);
    }
  });

  test('follows only what YAML may name, and no further than a model goes', async () => {
    await save('secret.env', 'model\n  schema 1.1\ntype user\n');
    const long = await save('long.fga', `${'#'.repeat(MODEL_BYTES_MAX - 10)}\n`);
    for (const [name, text, reason] of [
      ['absolute.yaml', `model_file: ${long}\n`, /absolute\.yaml:1: .* is not followed: it must be a relative path/],
      ['other.yaml', 'name: x\nmodel_file: secret.env\n', /other\.yaml:2: "secret\.env" is not followed/],
      ['chain.yaml', 'model_file: other.yaml\n', /"other\.yaml" is not followed/],
      ['zed.yaml', 'schemaFile: named.fga\n', /"named\.fga" is not followed/],
      ['list.mod', "schema: '1.2'\ncontents: [secret.env]\n", /list\.mod:2: "secret\.env" is not followed/],
      ['nested.mod', "schema: '1.2'\ncontents: [list.mod]\n", /nested\.mod:2: "list\.mod" is not followed/],
      ['empty.mod', "schema: '1.2'\n", /lists no modules: it has no "contents"/],
      ['bare.mod', 'contents: []\n', /bare\.mod lists no modules: its "contents" is empty/],
      ['many.mod', `contents: [${'void.fga, '.repeat(1001)}]\n`, /at most 1000 modules/],
      ['twice.mod', 'contents: [long.fga, long.fga]\n', /is too long: a model may have 1024 KiB, all files together/],
      ['gone.yaml', 'model_file: gone.fga\n', /Cannot read \S+gone\.fga: /],
      ['two.yaml', 'model: x\nmodel_file: chat.fga\n', /two\.yaml:2: "model" and "model_file" cannot both be there/],
      ['none.yaml', 'tuples: []\n', /none\.yaml has no model: a store of OpenFGA has "model" or "model_file"/],
      ['items.yaml', '- a\n', /items\.yaml has no model: it is not a map/],
      ['folder.yaml', 'model_file: [chat.fga]\n', /folder\.yaml:1: "model_file" must be a text/],
    ] as const) {
      await save('void.fga', '');
      const { code, stdout, stderr } = await convert([await save(name, text)]);
      assert.deepEqual([code, stdout], [1, ''], name);
      assert.match(stderr, reason, name);
    }
  });

  test('prints rules in JSON and YAML as text, and text as it is or as JSON', async () => {
    const text = 'relations: blocked\n\nnamespace doc\n  can_read = viewer but not blocked\n';
    const record = {
      relations: ['blocked'],
      rules: [{ namespace: 'doc', name: 'can_read', any_of: ['viewer'], but_not: ['blocked'] }],
    };
    const yaml =
      'relations: [blocked]\nrules:\n- {namespace: doc, name: can_read, any_of: [viewer], but_not: [blocked]}\n';
    const commented = `# Who reads.\n${text}`;
    const json = await save('own.json', JSON.stringify(record));
    for (const [file, expected] of [
      [json, text],
      [await save('own.yaml', yaml), text],
      [await save('own.grantd', commented), commented],
    ] as const) {
      const { code, stdout, stderr } = await convert([file, '--from', 'grantd']);
      assert.deepEqual([code, stdout, stderr], [0, expected, '']);
    }
    const { stdout } = await convert([inDirectory('own.grantd'), '--from', 'grantd', '--json']);
    assert.deepEqual(parseRuleSet(JSON.parse(stdout)), parseRuleSet(record));
    const written = inDirectory('own-text.grantd');
    assert.equal((await convert([json, '--from', 'grantd', '--output', written])).code, 0);
    assert.equal(await readFile(written, 'utf8'), text);
    assert.equal((await convert([json, written, '--from', 'grantd'])).code, 2);
    assert.equal((await convert([json, '--from', 'grantd', '--partial'])).code, 2);
    assert.match((await convert([json])).stderr, /Rules of grantd need --from grantd\.$/m);
  });

  test('joins the files of modules', async () => {
    const files = [await save('chat.fga', CHAT_FGA), await save('channels.fga', CHANNEL_FGA)];
    const { code, stdout, stderr } = await convert([...files, '--map', 'legacy_admin=owner,channels_admin=admin']);
    assert.equal(code, 0, stderr);
    assert.equal(new RulesText(stdout).ruleSet.rules.length, 4);
    assert.match(stderr, /^workspace#legacy_admin +owner +--map$/m);
  });

  test('prints no rules if something does not fit, but each of it with its place', async () => {
    const { code, stdout, stderr } = await convert([await save('unfit.zed', UNFIT_ZED)]);
    assert.deepEqual([code, stdout], [1, '']);
    const told = [...stderr.matchAll(/^\S+?:(?<place>\d+:\d+): .* With --partial, .* is left out\.$/gm)];
    assert.deepEqual(
      told.map(({ groups }) => groups?.place),
      ['2:8', '7:27', '11:21'],
      stderr,
    );
    assert.match(stderr, /^grantd: 3 parts of the model cannot be converted: .* No rules are printed\./m);
  });

  test('leaves it out with --partial', async () => {
    const { code, stdout, stderr } = await convert([inDirectory('unfit.zed'), '--partial', '--json']);
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), {
      types: [
        { namespace: 'team', relation: 'member', subjects: ['user'] },
        { namespace: 'doc', relation: 'parent', subjects: ['team', 'team#member'] },
      ],
      rules: [
        { namespace: 'user', name: 'me', any_of: ['self'] },
        { namespace: 'doc', name: 'view', any_of: ['member from parent'] },
      ],
      groups: true,
      public: [],
    });
    assert.match(stderr, / Left out: what follows from those\.$/m);
  });

  test('writes both files with --output, and nothing if it fails', async () => {
    const drive = await save('drive.zed', DRIVE_ZED);
    const { code, stdout, stderr } = await convert([drive, '--output', inDirectory('out.json')]);
    assert.deepEqual([code, stdout], [0, ''], stderr);
    assert.equal(parseRuleSet(JSON.parse(await readFile(inDirectory('out.json'), 'utf8'))).rules.length, 4);
    const map = await readFile(inDirectory('out.relation-map.json'), 'utf8');
    assert.equal(JSON.parse(map).relation_map['document#reader'], 'reader');
    assert.match(stderr, /out\.json, and the relation map in \S+out\.relation-map\.json\.$/m);

    const gated = await convert([inDirectory('gated.fga'), '--output', inDirectory('gated.json')]);
    assert.equal(gated.code, 0, gated.stderr);
    assert.deepEqual(JSON.parse(await readFile(inDirectory('gated.relation-map.json'), 'utf8')), {
      relation_map: { 'doc#blocked': 'blocked', 'doc#viewer': 'direct_viewer' },
      name_map: { 'doc#viewer': 'viewer' },
    });

    const former = await readdir(directory);
    const overwriting = await convert([drive, '--output', drive]);
    assert.deepEqual([overwriting.code, await readFile(drive, 'utf8')], [2, DRIVE_ZED]);
    assert.equal((await convert([inDirectory('unfit.zed'), '--output', inDirectory('no.json')])).code, 1);
    const nowhere = await convert([drive, '--output', inDirectory('no/where.json')]);
    assert.match(nowhere.stderr, /Cannot write \S+where\.json: ENOENT/);
    assert.deepEqual([nowhere.code, await readdir(directory)], [1, former]);
  });

  test('refuses what is no model, too long, or cannot be read', async () => {
    const failures: readonly (readonly [string, RegExp])[] = [
      [
        await save('broken.fga', 'model\n  schema 1.1\ntype user\n  relations\n    define a [user]\n'),
        /broken\.fga:5:14: "\[" stands/,
      ],
      [await save('binary.fga', Uint8Array.of(0xff, 0xfe)), /binary\.fga is not valid UTF-8\./],
      [await save('long.fga', 'x'.repeat(MODEL_BYTES_MAX + 1)), /long\.fga is too long: a model may have 1024 KiB/],
      [inDirectory('absent.fga'), /Cannot read \S+absent\.fga: ENOENT/],
      [`${directory}/.fga`, /Cannot read /],
    ];
    for (const [file, message] of failures) {
      const { code, stdout, stderr } = await convert([file]);
      assert.deepEqual([code, stdout], [1, ''], file);
      assert.match(stderr, message);
    }
    const half = await save('half.fga', `model schema 1.1 type user${' '.repeat(MODEL_BYTES_MAX / 2)}`);
    assert.match((await convert([half, half])).stderr, /is too long/);
  });

  test('refuses a --map that means nothing', async () => {
    const drive = inDirectory('drive.zed');
    for (const [map, message] of [
      ['reader', /reader must be NAME=RELATION or TYPE#NAME=RELATION/],
      ['=viewer', /must be NAME=RELATION/],
      ['a#=viewer', /must be NAME=RELATION/],
      ['reader=rea der', /rea der cannot be the name of a relation/],
      ['reader=viewer,reader=guest', /reader is mapped twice/],
    ] as const) {
      const { code, stdout, stderr } = await convert([drive, '--map', map]);
      assert.deepEqual([code, stdout], [2, ''], map);
      assert.match(stderr, message);
    }
    assert.equal((await convert([drive, '--map', 'nobody=guest'])).code, 1);
  });
});
