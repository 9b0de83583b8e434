// What a command prints and standard output does not take is a failure of the command, of every one: this file has a
// table of all commands, and a command that is not in it fails a test.

import assert from 'node:assert/strict';
import { createWriteStream, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, test } from 'node:test';
import { Command } from 'commander';
import { registerCliCommands } from '../../../packages/cli/src/commands.ts';
import { ContextFile } from '../../../packages/cli/src/context-file.ts';
import { EXIT } from '../../../packages/cli/src/failures.ts';
import { joinsOf, ScriptedHistory } from '../../contract/mirror/scripted-history.ts';
import { OPERATOR_TOKEN, useConsole } from '../../kit/console-service.ts';
import { useDirectory } from '../../kit/directory.ts';
import { type CliRun, type CliRunOptions, runCli } from './cli-run.ts';
import { sync } from './scripted-sync.ts';

const directory = useDirectory();
const service = await useConsole();
const contexts = new ContextFile(join(directory, 'contexts.json'));

const grantd = (args: readonly string[], options: Partial<CliRunOptions> = {}): Promise<CliRun> =>
  runCli(args, { target: { url: service.url, token: OPERATOR_TOKEN }, contexts, ...options });
async function recordOf(...args: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const { code, stdout, stderr } = await grantd([...args, '--json']);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}
const fileOf = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};

// ---- the commands ----

interface Invocation {
  readonly args: readonly string[];
  readonly stdin?: string;
}
const newTenant = async (): Promise<string> => (await recordOf('tenants', 'create', 'Acme')).tenant_id ?? '';
const tenant = await newTenant();
const newKey = (): ReturnType<typeof recordOf> =>
  recordOf('keys', 'create', '--tenant', tenant, '--scope', 'check:read');
const of = ['--tenant', tenant];
const GRANT = ['user:ann', 'viewer', 'doc:1'];
const RULES = '{"rules":[{"namespace":"doc","name":"can_read","any_of":["viewer"]}]}';
const OTHER_RULES = RULES.replace('can_read', 'can_see');
assert.equal((await grantd(['grants', 'add', ...GRANT, ...of])).code, 0);
for (const stdin of [OTHER_RULES, RULES]) {
  assert.equal((await grantd(['rules', 'set', '-', '--yes', ...of], { stdin })).code, 0);
}
const file = fileOf('grants.tsv', `${GRANT.join('\t')}\n`);
const model = fileOf(
  'model.yaml',
  `{"rules":${RULES},"tests":[{"name":"x","checks":[{"subject":"user:ann","relation":"viewer","object":"doc:1","expected":false}]}]}`,
);
const schema = fileOf('schema.zed', 'definition user {}\ndefinition doc { relation viewer: user }\n');
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';

/** They say on standard error that they have done it. */
const SILENT: ReadonlySet<string> = new Set(['context add', 'context use', 'context remove', 'sync sqlite']);
/** They need a database or a search engine, and are otherwise as their neighbour. */
const ELSEWHERE = ['sync postgres', 'sync opensearch'];
const mirror = join(directory, 'mirror.db');
const history = new ScriptedHistory(1, 5, joinsOf('r1', ['document:viewer']));

/** Each succeeds if all is well. */
const COMMANDS: Readonly<Record<string, () => Invocation | Promise<Invocation>>> = {
  'tenants create': () => ({ args: ['Acme'] }),
  'tenants list': () => ({ args: [] }),
  'tenants show': () => ({ args: [tenant] }),
  'tenants update': () => ({ args: [tenant, '--name', 'Acme'] }),
  'tenants suspend': async () => ({ args: [await newTenant()] }),
  'tenants resume': async () => ({ args: [await newTenant()] }),
  'tenants delete': async () => ({ args: [await newTenant(), '--yes'] }),
  apply: () => ({ args: ['-f', fileOf('tenants.yaml', 'tenants: [{name: New}]'), '--dry-run'] }),
  'keys create': () => ({ args: ['--scope', 'check:read', ...of] }),
  'keys list': () => ({ args: of }),
  'keys rotate': async () => ({ args: [(await newKey()).key_id ?? '', ...of] }),
  'keys identify': async () => ({ args: [], stdin: (await newKey()).key ?? '' }),
  'keys revoke': async () => ({ args: [(await newKey()).key_id ?? '', '--yes', ...of] }),
  'grants list': () => ({ args: ['user:ann', ...of] }),
  'grants add': () => ({ args: [...GRANT, ...of] }),
  'grants revoke': async () => {
    await grantd(['grants', 'add', 'user:ann', 'viewer', 'doc:9', ...of]);
    return { args: ['user:ann', 'viewer', 'doc:9', ...of] };
  },
  objects: () => ({ args: ['user:ann', 'viewer', ...of] }),
  subjects: () => ({ args: of }),
  'namespaces list': () => ({ args: of }),
  'namespaces create': () => ({ args: ['doc', ...of] }),
  check: () => ({ args: [...GRANT, ...of] }),
  'audit-log': () => ({ args: of }),
  changes: () => ({ args: ['--since', '1h', ...of] }),
  import: () => ({ args: [file, ...of] }),
  export: () => ({ args: of }),
  usage: () => ({ args: of }),
  'rules show': () => ({ args: of }),
  'rules set': () => ({ args: ['-', '--dry-run', ...of], stdin: OTHER_RULES }),
  'rules diff': () => ({ args: ['--from', '1', ...of] }),
  'rules history': () => ({ args: of }),
  'rules rollback': () => ({ args: ['1', '--dry-run', ...of] }),
  'rules format': () => ({ args: ['-'], stdin: RULES }),
  'rules types': () => ({ args: ['--language', 'go', ...of] }),
  'rules convert': () => ({ args: [schema] }),
  'model test': () => ({ args: [model] }),
  plans: () => ({ args: [] }),
  slots: () => ({ args: [] }),
  members: () => ({ args: [] }),
  loads: () => ({ args: [] }),
  'repair-time': () => ({ args: ['--dry-run'] }),
  'context add': () => ({ args: ['dev', '--url', 'http://x', '--token-stdin', '--replace'], stdin: OPERATOR_TOKEN }),
  'context use': async () => {
    await run('context add');
    return { args: ['dev'] };
  },
  'context list': () => ({ args: [] }),
  'context show': () => ({ args: [] }),
  'context remove': async () => {
    await run('context add');
    return { args: ['dev'] };
  },
  'sync sqlite': () => ({ args: ['--join', 'document.can_read', '--file', mirror] }),
  'sync verify': () => ({ args: ['--join', 'document.can_read', '--file', mirror] }),
  'sync sql': () => ({ args: ['document.can_read'] }),
  mcp: () => ({ args: [], stdin: ping }),
  completion: () => ({ args: ['bash'] }),
  complete: () => ({ args: ['--', ''] }),
};
const expected = fileOf('expected.tsv', `${GRANT.join('\t')}\ttrue\n`);
const cursorFile = join(directory, 'cursor');
/** The same commands in other ways of printing. */
const VARIANTS: Readonly<Record<string, Invocation>> = {
  'check -f': { args: [expected, ...of] },
  'check --output csv -f': { args: [expected, ...of] },
  'export --format ndjson': { args: of },
  'rules show --json': { args: of },
  'audit-log --all': { args: [] },
  'audit-log --all --output cloudevents': { args: ['--cursor-file', cursorFile] },
  'tenants list --json': { args: [] },
  'import --json': { args: [file, ...of] },
};
function leavesOf(command: Command, path: readonly string[] = []): string[] {
  if (command.commands.length === 0) return [path.join(' ')];
  return command.commands.flatMap((each) => leavesOf(each, [...path, each.name()]));
}

function allCommands(): readonly string[] {
  const program = new Command('grantd');
  const stream = new Writable();
  registerCliCommands(program, {
    ...{ version: '1', stdin: process.stdin, stdout: stream, stderr: stream, contexts },
    chooseService: () => ({ source: 'none', key: undefined, operator: undefined, tenant: undefined }),
  });
  return leavesOf(program);
}

async function run(name: string, options: Partial<CliRunOptions> = {}): Promise<CliRun> {
  const { args, stdin } = VARIANTS[name] ?? (await COMMANDS[name]?.()) ?? { args: [] };
  const key = { url: service.url, secret: `gk1_${'a'.repeat(81)}` };
  const ofKey: Partial<CliRunOptions> = {
    chooseService: () => ({ source: 'the test', key, operator: undefined, tenant: undefined }),
  };
  if (name.startsWith('sync ')) return sync(history, [name.slice('sync '.length), ...args], options);
  return grantd([...name.split(' '), ...args], { ...options, ...(stdin && { stdin }), ...(name === 'mcp' && ofKey) });
}

/** A pipe whose reader has left. */
const leftPipe = (): Writable =>
  new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
  });

describe('standard output', () => {
  test('has a command of every name in the table', () => {
    assert.deepEqual(allCommands().toSorted(), [...Object.keys(COMMANDS), ...ELSEWHERE].toSorted());
  });

  /** Nothing else has what they print. */
  const needing = new Set(['export', 'export --format ndjson', 'keys create', 'keys rotate']);
  for (const name of [...Object.keys(COMMANDS), ...Object.keys(VARIANTS)]) {
    test(`that is full is a failure of "${name}"`, async () => {
      const whole = await run(name);
      assert.ok(whole.code === 0 || (name === 'rules diff' && whole.code === 1), whole.stderr);
      // What prints to standard error alone loses nothing.
      const prints = whole.stdout !== '';
      assert.equal(prints, !SILENT.has(name));
      const full = await run(name, { stdout: createWriteStream('/dev/full') });
      if (prints) {
        assert.notEqual(full.code, 0, full.stderr);
        assert.match(full.stderr, /The output is incomplete: it cannot be written \(ENOSPC: no space left/);
      } else assert.equal(full.code, whole.code, full.stderr);
      const left = await run(name, { stdout: leftPipe() });
      if (prints && needing.has(name)) {
        assert.equal(left.code, 1);
        assert.match(left.stderr, /The output is incomplete: its reader has left/);
      } else assert.equal(left.code, name.endsWith(' -f') ? EXIT.interrupted : whole.code, left.stderr);
    });
  }

  test('that is full leaves the cursor where it is, so that nothing is left out the next time', async () => {
    const args = ['audit-log', '--all', '--output', 'cloudevents', '--cursor-file', join(directory, 'other-cursor')];
    assert.equal((await grantd(args, { stdout: createWriteStream('/dev/full') })).code, 1);
    assert.ok(!existsSync(join(directory, 'other-cursor')));
    assert.match((await grantd(args)).stdout, /grantd\.audit\.v1/);
    assert.ok(existsSync(join(directory, 'other-cursor')));
  });
});

describe('a file of a command', () => {
  test('that takes nothing is a failure that names it', async () => {
    for (const args of [
      ['import', '-', '--refused', '/dev/full', ...of],
      ['rules', 'types', '--language', 'go', '--out', '/dev/full', ...of],
    ]) {
      const { code, stderr } = await grantd(args, { stdin: 'nonsense\n' });
      assert.equal(code, 1, args.join(' '));
      assert.match(stderr, /Cannot write \/dev\/full: ENOSPC/);
    }
  });
});
