// `grantd apply` against the operator's API on a front in memory: tenants become as declared, a second time changes
// nothing, and nothing is lost by mistake.

import assert from 'node:assert/strict';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { systemClock, systemRandom } from '../../../../src/roles/process/system.ts';
import { type ConsoleService, OPERATOR_TOKEN, startConsole } from '../../../kit/console-service.ts';
import { useDirectory } from '../../../kit/directory.ts';
import { type CliRun, type CliRunOptions, runCli } from '../cli-run.ts';

let service: ConsoleService;
const directory = useDirectory();
let file: string;
let keys: string;

before(async () => {
  file = join(directory, 'tenants.yaml');
  keys = join(directory, 'keys.ndjson');
});
beforeEach(async () => {
  await service?.close();
  service = await startConsole({ clock: systemClock, random: systemRandom });
  await rm(keys, { force: true });
});
after(() => service.close());

const grantd = (args: readonly string[], options: Partial<CliRunOptions> = {}): Promise<CliRun> =>
  runCli(args, { target: { url: service.url, token: OPERATOR_TOKEN }, ...options });

async function apply(
  text: string,
  args: readonly string[] = ['--keys-file', keys],
  options: Partial<CliRunOptions> = {},
): Promise<CliRun> {
  await writeFile(file, text);
  return grantd(['apply', '-f', file, ...args], options);
}

interface Shown {
  readonly tenant_id: string;
  readonly name: string;
  readonly plan: string;
  readonly state: string;
  readonly readers: number | null;
}

const tenants = async (): Promise<readonly Shown[]> => JSON.parse((await grantd(['tenants', 'list', '--json'])).stdout);
const idOf = async (name: string): Promise<string> =>
  (await tenants()).find((tenant) => tenant.name === name)?.tenant_id ?? '';
const keysOf = async (name: string): Promise<readonly { name: string; scopes: string[]; key_id: string }[]> =>
  JSON.parse((await grantd(['keys', 'list', '--tenant', await idOf(name), '--json'])).stdout);
const keptKeys = async () =>
  (await readFile(keys, 'utf8').catch(() => ''))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
const writes = (): string[] =>
  service.operator.calls.map(({ name }) => name).filter((name) => !/^(read|list|tenant$)/.test(name));

const FILE = `tenants:
  - name: acme
    plan: scale
    rules:
      rules:
        - {namespace: document, name: viewer, any_of: [editor, viewer from parent]}
      groups: true
    keys:
      - name: web
        scopes: [grant:write, check:read]
      - name: admin
        scopes: [admin]
  - name: "Globex, Inc."
    state: suspended
`;

describe('apply', () => {
  test('creates what is declared, and the second time changes nothing', async () => {
    const first = await apply(FILE);
    assert.equal(first.code, 0, first.stderr);
    assert.equal(
      first.stdout,
      `+ tenant acme
    + plan: scale
    + rule document viewer = editor or viewer from parent
    - rule groups: off
    + rule groups: on
    + key web: check:read, grant:write
    + key admin: admin
+ tenant "Globex, Inc."
    + state: suspended

2 tenants created, 2 keys created
`,
    );
    assert.deepEqual(
      (await tenants()).map(({ name, plan, state }) => [name, plan, state]),
      [
        ['acme', 'scale', 'active'],
        ['Globex, Inc.', 'free', 'suspended'],
      ],
    );
    assert.deepEqual(
      new Set((await keysOf('acme')).map(({ name, scopes }) => `${name}: ${scopes}`)),
      new Set(['web: check:read,grant:write', 'admin: admin']),
    );
    const kept = await keptKeys();
    assert.deepEqual(
      kept.map(({ tenant, name }) => [tenant, name]),
      [
        ['acme', 'web'],
        ['acme', 'admin'],
      ],
    );
    assert.ok(kept.every(({ key, key_id: id }) => /^gk1_/.test(key) && /^key_/.test(id)));
    assert.equal((await stat(keys)).mode & 0o777, 0o600);
    assert.ok(!`${first.stdout}${first.stderr}`.includes('gk1_'), 'no secret is printed');

    const before = writes().length;
    const second = await apply(FILE, []);
    assert.deepEqual([second.code, second.stdout], [0, 'no change\n']);
    const json = await apply(FILE, ['--json', '--prune', '--yes']);
    assert.deepEqual(JSON.parse(json.stdout), { dry_run: false, changes: [] });
    assert.equal(writes().length, before);
  });

  test('changes what differs and leaves alone what is not declared', async () => {
    await apply(FILE);
    const acme = await idOf('acme');
    await grantd(['tenants', 'create', 'other']);
    const changed = `tenants:
  - name: acme
    plan: free
    state: suspended
    rules: {}
  - name: "Globex, Inc."
    state: active
    readers: 3
`;
    const dry = await apply(changed, ['--dry-run']);
    const told = `~ tenant acme (${acme})
    ~ plan: scale -> free
    ~ state: active -> suspended
    - rule document viewer = editor or viewer from parent
    - rule groups: on
    + rule groups: off
~ tenant "Globex, Inc." (${await idOf('Globex, Inc.')})
    ~ state: suspended -> active
    ~ readers: plan -> 3

`;
    assert.equal(dry.stdout, `${told}2 tenants to change\n`);
    assert.equal((await tenants())[0]?.plan, 'scale');
    const real = await apply(changed, []);
    assert.deepEqual([real.code, real.stdout], [0, `${told}2 tenants changed\n`]);
    assert.deepEqual(
      (await tenants()).map(({ name, plan, state }) => [name, plan, state]),
      [
        ['acme', 'free', 'suspended'],
        ['Globex, Inc.', 'free', 'active'],
        ['other', 'free', 'active'],
      ],
    );
    assert.equal((await keysOf('acme')).length, 2);
    assert.equal((await apply(changed, [])).stdout, 'no change\n');
    const planned = await apply(changed.replace('readers: 3', 'readers: plan'), ['--json']);
    const tenantId = await idOf('Globex, Inc.');
    assert.deepEqual(JSON.parse(planned.stdout).changes, [
      { action: 'update', name: 'Globex, Inc.', tenant_id: tenantId, readers: 'plan' },
    ]);
    assert.equal((await tenants()).find(({ tenant_id: id }) => id === tenantId)?.readers, null);
    await apply(changed.replace('readers: 3', 'readers: auto'), []);
    assert.equal((await tenants()).find(({ tenant_id: id }) => id === tenantId)?.readers, 'auto');
    const created = await apply('tenants: [{name: new, readers: 0}]\n', []);
    assert.equal(created.stdout, '+ tenant new\n    + readers: 0\n\n1 tenant created\n');
    assert.equal((await tenants()).find(({ name }) => name === 'new')?.readers, 0);
  });

  test('deletes and revokes only with --prune, a typed answer and within its bound', async () => {
    await apply(FILE);
    for (const name of ['old', 'older']) await grantd(['tenants', 'create', name]);
    const less = FILE.replace(/ {6}- name: admin\n.*\n/, '');
    assert.equal((await apply(less, [])).stdout, 'no change\n');
    const unconfirmed = await apply(less, ['--prune']);
    assert.equal(unconfirmed.code, 2);
    assert.match(unconfirmed.stderr, /permanently deletes 2 tenants .*\(old, older\) and permanently revokes 1 key/);
    const tooMany = await apply(less, ['--prune', '--yes', '--prune-max', '1']);
    assert.equal(tooMany.code, 1);
    assert.match(tooMany.stderr, /would delete 2 tenants, and --prune-max allows 1/);
    const empty = await apply('tenants: []\n', ['--prune', '--yes']);
    assert.equal(empty.code, 1);
    assert.match(empty.stderr, /declares no tenant: --prune would delete all of them/);
    const declined = await apply(less, ['--prune'], { terminal: true, stdin: 'yes\n' });
    assert.deepEqual([declined.code, (await tenants()).length, (await keysOf('acme')).length], [1, 4, 2]);

    const typed = await apply(less, ['--prune'], { terminal: true, stdin: 'delete 2 tenants and revoke 1 key\n' });
    assert.equal(typed.code, 0, typed.stderr);
    assert.match(typed.stdout, /^- tenant old \(ten_.*\)$/m);
    assert.match(typed.stdout, /\n\n1 tenant changed, 2 tenants deleted, 1 key revoked\n$/);
    assert.deepEqual(
      (await keysOf('acme')).map(({ name }) => name),
      ['web'],
    );
    assert.deepEqual(
      (await tenants()).filter(({ state }) => state !== 'deleting').map(({ name }) => name),
      ['acme', 'Globex, Inc.'],
    );
    assert.equal((await apply(less, ['--prune'])).stdout, 'no change\n');
  });

  test('creates no key that would be kept nowhere', async () => {
    const nowhere = await apply(FILE, []);
    assert.equal(nowhere.code, 1);
    assert.match(nowhere.stderr, /2 keys are to be created, and a key is shown only once/);
    const unwritable = await apply(FILE, ['--keys-file', join(directory, 'missing', 'keys')]);
    assert.equal(unwritable.code, 1);
    assert.match(unwritable.stderr, /Cannot write /);
    await writeFile(keys, '', { mode: 0o644 });
    const open = await apply(FILE);
    assert.equal(open.code, 1);
    assert.match(open.stderr, /Others may read or write .*: run "chmod 600" on it first/);
    await rm(keys);
    const both = await apply(FILE, ['--keys-file', keys, '--keys-secret', 'a/b']);
    assert.equal(both.code, 2);
    const unfit = await apply(FILE.replace('name: web', 'name: w e b'), ['--keys-secret', 'a/b']);
    assert.equal(unfit.code, 2);
    assert.match(unfit.stderr, /tenants\.yaml:9: tenants\[0\]\.keys\[0\] would be "acme\.w e b" in the Secret/);
    assert.deepEqual(writes(), []);
    const dry = await apply(FILE, ['--dry-run']);
    assert.match(dry.stdout, /^2 tenants to create, 2 keys to create$/m);
    assert.deepEqual(writes(), []);
  });

  test('goes on after a failure, and revokes a key whose response was lost', async () => {
    let posts = 0;
    let puts = 0;
    const lossy: typeof fetch = async (input, init) => {
      const isKey = init?.method === 'POST' && String(input).endsWith('/keys');
      if (isKey) posts += 1;
      // What the service says to a repeat of a creation whose first response never came.
      if (isKey && posts === 2) {
        const type = 'https://errors.example/errors/already-created';
        return new Response(JSON.stringify({ type, title: 'x', detail: 'x' }), { status: 409 });
      }
      const response = await fetch(input, init);
      if (isKey && posts === 1) throw new TypeError('fetch failed');
      if (init?.method === 'PUT') {
        puts += 1;
        if (puts === 1) throw new TypeError('fetch failed');
      }
      return response;
    };
    const run = await apply(FILE, ['--keys-file', keys], { fetch: lossy });
    assert.equal(run.code, 0, run.stderr);
    assert.equal(puts, 2);
    const kept = await keptKeys();
    assert.deepEqual(
      (await keysOf('acme')).map(({ key_id: id }) => id).toSorted(),
      kept.map(({ key_id: id }) => id).toSorted(),
    );
    assert.equal((await apply(FILE, [])).stdout, 'no change\n');

    // Nothing after the failure is done, and the next run does it.
    const refused: typeof fetch = async (input, init) =>
      init?.method === 'PATCH' ? new Response('{}', { status: 400 }) : fetch(input, init);
    const more = `${FILE}  - name: third\n`.replace('plan: scale', 'plan: free');
    const failed = await apply(more, [], { fetch: refused });
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /Stopped after 0 of 2 tenants\. Run the same command again/);
    assert.equal((await tenants()).length, 2);
    assert.match((await apply(more, [])).stdout, /1 tenant created, 1 tenant changed/);
  });

  test('stored grants that stricter types exclude stay if --outside-types says so', async () => {
    const declared = (types: string): string =>
      `tenants:\n  - name: acme\n    rules: {rules: [], groups: true, types: [${types}]}\n`;
    const typed = declared('{namespace: doc, relation: viewer, subjects: [user]}');
    assert.equal((await apply(declared(''))).code, 0);
    const ofTenant = ['--tenant', await idOf('acme')];
    await grantd(['grants', 'add', 'bot:a', 'viewer', 'doc:1', ...ofTenant]);
    const typesNow = async () =>
      JSON.parse((await grantd(['rules', 'show', ...ofTenant, '--json'])).stdout).rule_set.types?.length ?? 0;
    const refused = await apply(typed);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /exclude 1 stored grant: bot:a viewer doc:1\./);
    assert.equal(await typesNow(), 0);
    const kept = await apply(typed, ['--outside-types', 'keep']);
    assert.equal(kept.code, 0, kept.stderr);
    assert.equal(await typesNow(), 1);
  });

  test('refuses what cannot be meant, with file, line and path, and changes nothing', async () => {
    await apply(FILE);
    const before = writes().length;
    const cases: readonly (readonly [string, RegExp])[] = [
      ['tenants:\n  - plan: free\n', /tenants\.yaml:2: tenants\[0\] has no "name"/],
      ['tenants:\n  - name: a\n    plan: gold\n', /:3: tenants\[0\]\.plan must be one of the plans/],
      ['tenants:\n  - name: a\n    state: gone\n', /:3: tenants\[0\]\.state must be active or suspended/],
      ...['17', '-1', '1.5', 'none', '"3"', 'null'].map(
        (readers) =>
          [
            `tenants:\n  - name: a\n    readers: ${readers}\n`,
            /:3: tenants\[0\]\.readers must be a whole number from 0 to 16, auto or plan/,
          ] as const,
      ),
      ['tenants:\n  - name: a\n  - name: a\n', /:3: tenants\[1\] is called "a", as is tenants\[0\]/],
      [
        'tenants:\n  - name: a\n    colour: red\n',
        /:3: tenants\[0\] has a key "colour", which is unknown; known here: "name"/,
      ],
      ['tenants:\n  - name: 5\n', /:2: tenants\[0\]\.name must be a text/],
      ['tenants:\n  - name: a\n    keys:\n      - {name: k, scopes: []}\n', /:4: tenants\[0\]\.keys\[0\]\.scopes must/],
      ['tenants:\n  - name: a\n    keys:\n      - {name: k, scopes: [all]}\n', /:4: .*scopes\[0\] must be one of/],
      ['tenants:\n  - name: a\n    rules:\n      rules: [{}]\n', /:4: tenants\[0\]\.rules are not valid rules/],
      [
        'tenant:\n  - name: a\n',
        /:2: The file has a key "tenant", which is unknown; the nearest known name is "tenants"/,
      ],
      ['- name: a\n', /:1: The file must be a map with tenants/],
      ['tenants: [{name: &n a}, {name: *n}]\n', /:1: Aliases are not allowed/],
      [
        'tenants:\n  - name: acme\n    keys: [{name: web, scopes: [admin]}]\n',
        /:3: .* has other scopes than the key key_/,
      ],
    ];
    for (const [text, pattern] of cases) {
      const run = await apply(text);
      assert.equal(run.code, 1, text);
      assert.match(run.stderr, pattern, text);
    }
    assert.equal(writes().length, before);
    await grantd(['tenants', 'create', 'acme']);
    const twice = await apply(FILE);
    assert.equal(twice.code, 1);
    assert.match(twice.stderr, /tenants\.yaml:2: tenants\[0\] is the name of 2 tenants: ten_.*, ten_/);
  });
});
