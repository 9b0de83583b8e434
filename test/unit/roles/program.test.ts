// The command line: every command has a help of its own, with the settings it reads; wrong usage says what is right.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { describe, it } from 'node:test';
import packageFile from '../../../package.json' with { type: 'json' };
import { ContextFile, contextFilePath } from '../../../packages/cli/src/context-file.ts';
import type { ProgramProcess } from '../../../src/roles/command-line.ts';
import { runProgram } from '../../../src/roles/program.ts';
import { useDirectory } from '../../kit/directory.ts';

interface Ended {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

/** The program in this process, for what ends without a role. */
async function grantd(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const output = { stdout: '', stderr: '' };
  const collect = (name: keyof typeof output): Writable =>
    new Writable({
      write(chunk, _encoding, done) {
        output[name] += chunk;
        done();
      },
    });
  const exited = new Error('the process has ended');
  let ended: Ended | undefined;
  const started: ProgramProcess = Object.create(process, {
    ...Object.getOwnPropertyDescriptors({ argv: ['node', 'grantd', ...args], env }),
    ...Object.getOwnPropertyDescriptors({
      stdin: Readable.from([]),
      stdout: collect('stdout'),
      stderr: collect('stderr'),
    }),
    exitCode: { value: 0, writable: true },
    exit: {
      value: (code: number): never => {
        // What comes after it, no process would do.
        ended ??= { code, ...output };
        throw exited;
      },
    },
  });
  await runProgram(started).catch((error: unknown) => assert.equal(error, exited));
  return ended ?? { code: started.exitCode, ...output };
}

async function help(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await grantd([...args, '--help']);
  assert.deepEqual([code, stderr], [0, '']);
  return stdout;
}

/** The subcommands that a help text lists. */
function commandsOf(text: string): string[] {
  const lists = text.matchAll(/^(?:Commands|Permissions|Tenants|Cluster|This program|Servers):\n((?: {2}.*\n?)+)/gm);
  const list = [...lists].map(([, each = '']) => each).join('');
  return [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help');
}

const CLUSTER_ROLES: readonly string[] = ['front', 'shard', 'console', 'migrate'];
const WITHOUT_DATA: readonly string[] = ['testing', 'watch', ...CLUSTER_ROLES];

describe('--help', async () => {
  const commands = commandsOf(await help());

  it('lists the commands of this version', () => {
    for (const name of ['dev', ...WITHOUT_DATA, 'tenants', 'keys', 'slots', 'check', 'import', 'export'])
      assert.ok(commands.includes(name), name);
  });

  it('begins with what people use most, and does not list what the chart runs', async () => {
    assert.deepEqual([commands[0], commands.indexOf('dev') > commands.indexOf('keys')], ['check', true]);
    assert.equal(commands.includes('secrets'), false);
    assert.match(await help('secrets'), /^Usage: grantd secrets/);
  });

  for (const command of commands) {
    it(`of ${command} shows its usage and the settings it reads`, async () => {
      const text = await help(command);
      assert.match(text, new RegExp(`^Usage: grantd ${command}`));
      assert.equal(/^ {2}GRANTD_DATA_DIR /m.test(text), !WITHOUT_DATA.includes(command));
      assert.equal(/^ {2}GRANTD_HTTP_ADDRESS /m.test(text), ['dev', 'front'].includes(command));
      assert.equal(/^ {2}GRANTD_STORE /m.test(text), ['dev', 'shard', 'watch', 'migrate'].includes(command));
      for (const child of commandsOf(text)) {
        const childText = await help(command, child);
        assert.match(childText, new RegExp(`^Usage: grantd ${command} ${child}`));
        assert.match(childText, /^ {2}GRANTD_OPERATOR_TOKEN/m);
      }
    });
  }
});

describe('the command line', () => {
  it('prints its version', async () => {
    assert.deepEqual(await grantd(['--version']), { code: 0, stdout: `${packageFile.version}\n`, stderr: '' });
  });

  for (const [args, message] of [
    [['dev', '--shards', '0'], /must be a number from 1 to 16/],
    [['dev', '--shards', '17'], /must be a number from 1 to 16/],
    [['dev', '--shards', 'two'], /must be a number from 1 to 16/],
    [['dev', '--threads', '0'], /must be a number from 1 to 16/],
    [['dev', '--threads', '17'], /must be a number from 1 to 16/],
    [['dev', '--shard', '2'], /unknown option '--shard'/],
    [['migrate', '--timeout', '0'], /must be a number of seconds from 1 to 86400/],
    [['completion', 'tcsh'], /bash, zsh, fish/],
    [['serve'], /unknown command 'serve'/],
    [['version'], /unknown command 'version'/],
    [[], /^Usage: grantd/],
  ] as const) {
    it(`refuses: grantd ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await grantd(args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, message);
    });
  }

  for (const [environment, message] of [
    [{ GRANTD_OPERATOR_TOKEN: 'short' }, /GRANTD_OPERATOR_TOKEN must be 32 to/],
    [{ GRANTD_OPERATOR_URL: 'https://x' }, /GRANTD_OPERATOR_URL is set, but not GRANTD_OPERATOR_TOKEN/],
    [{ GRANTD_TENANT: 'acme' }, /GRANTD_TENANT must be a tenant ID/],
  ] as const) {
    it(`reports a wrong ${Object.keys(environment)} as wrong usage of an operator's command`, async () => {
      const { code, stdout, stderr } = await grantd(['subjects', '--json'], environment);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(JSON.parse(stderr).error.message, message);
    });
  }

  it('completes commands, options and values for a shell', async () => {
    const XDG_CONFIG_HOME = useDirectory();
    const staging = { api: 'public', url: 'http://x', secret: 'gk1_x' } as const;
    new ContextFile(contextFilePath({ XDG_CONFIG_HOME }, '/')).write({
      current: undefined,
      named: new Map([['staging', staging]]),
    });
    for (const [words, offered] of [
      [
        ['tenants', ''],
        ['list', 'show', 'create', 'update', 'suspend', 'resume', 'delete', 'help'],
      ],
      [['audit-log', '--fol'], ['--follow']],
      [['audit-log', '--action', 'grant.r'], ['grant.revoked']],
      [['context', 'use', ''], ['staging']],
      [['check', '--use-context', ''], ['staging']],
      [['check', '--use-context=st'], ['staging']],
      [['keys', 'create', '--name', 'ci', '--scope', 'check:'], ['check:read']],
      [['tenants', 'list', 'create', ''], []],
    ] as const) {
      const { stdout } = await grantd(['complete', '--', ...words], { XDG_CONFIG_HOME });
      const lines = stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t')[0]);
      assert.deepEqual(lines, [...offered, ':4']);
    }
  });

  it('names the places where a command did not find the service', async () => {
    const { code, stderr } = await grantd(['slots'], {
      GRANTD_DATA_DIR: join(import.meta.dirname, 'no-such-directory'),
    });
    assert.equal(code, 1);
    assert.match(stderr, /^grantd: There is no .*no-such-directory\/dev\.json\. Start the service.*\n$/);
  });
});
