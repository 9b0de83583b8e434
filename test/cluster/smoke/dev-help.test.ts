// The command line: every command has a help of its own, with the settings it reads; wrong usage says what is right.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { BARE_ENVIRONMENT } from '../../kit/bare-environment.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const MAIN = join(ROOT, 'src', 'main.ts');
const help = (...args: string[]): string =>
  execFileSync(process.execPath, [MAIN, ...args, '--help'], { encoding: 'utf8', env: BARE_ENVIRONMENT });

/** The subcommands that a help text lists. */
function commandsOf(text: string): string[] {
  const [, list = ''] = /^Commands:\n((?: {2}.*\n?)+)/m.exec(text) ?? [];
  return [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help');
}

const CLUSTER_ROLES: readonly string[] = ['front', 'shard', 'console', 'migrate'];

describe('--help', () => {
  const commands = commandsOf(help());

  it('lists the commands of this version', () => {
    for (const name of ['dev', ...CLUSTER_ROLES, 'tenants', 'keys', 'slots', 'check', 'import', 'export'])
      assert.ok(commands.includes(name), name);
  });

  for (const command of commands) {
    it(`of ${command} says how it is used and which settings it reads`, () => {
      const text = help(command);
      assert.match(text, new RegExp(`^Usage: grantd ${command}`));
      assert.equal(/^ {2}GRANTD_DATA_DIR /m.test(text), !CLUSTER_ROLES.includes(command));
      assert.equal(/^ {2}GRANTD_HTTP_ADDRESS /m.test(text), ['dev', 'front'].includes(command));
      assert.equal(/^ {2}GRANTD_STORE /m.test(text), ['dev', 'shard', 'migrate'].includes(command));
      for (const child of commandsOf(text)) {
        assert.match(help(command, child), new RegExp(`^Usage: grantd ${command} ${child}`));
        assert.match(help(command, child), /^ {2}GRANTD_OPERATOR_TOKEN/m);
      }
    });
  }
});

describe('the command line', () => {
  it('tells its version', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    assert.equal(execFileSync(process.execPath, [MAIN, '--version'], { encoding: 'utf8' }).trim(), version);
  });

  for (const [args, message] of [
    [['dev', '--shards', '0'], /must be a number from 1 to 16/],
    [['dev', '--shards', '17'], /must be a number from 1 to 16/],
    [['dev', '--shards', 'two'], /must be a number from 1 to 16/],
    [['dev', '--shard', '2'], /unknown option '--shard'/],
    [['serve'], /unknown command 'serve'/],
    [['version'], /unknown command 'version'/],
    [[], /^Usage: grantd/],
  ] as const) {
    it(`refuses: grantd ${args.join(' ')}`, () => {
      const run = spawnSync(process.execPath, [MAIN, ...args], {
        encoding: 'utf8',
        env: BARE_ENVIRONMENT,
        timeout: 120_000,
      });
      assert.equal(run.status, 2);
      assert.match(run.stderr, message);
      assert.equal(run.stdout, '');
    });
  }

  for (const [environment, message] of [
    [{ GRANTD_OPERATOR_TOKEN: 'short' }, /GRANTD_OPERATOR_TOKEN must be 32 to/],
    [{ GRANTD_OPERATOR_URL: 'https://x' }, /GRANTD_OPERATOR_URL is set, but not GRANTD_OPERATOR_TOKEN/],
    [{ GRANTD_TENANT: 'acme' }, /GRANTD_TENANT must be a tenant ID/],
  ] as const) {
    it(`takes ${Object.keys(environment)} that is wrong for wrong usage of an operator's command`, () => {
      const run = spawnSync(process.execPath, [MAIN, 'subjects', '--json'], {
        encoding: 'utf8',
        env: { ...BARE_ENVIRONMENT, ...environment },
        timeout: 120_000,
      });
      assert.deepEqual([run.status, run.stdout], [2, '']);
      assert.match(JSON.parse(run.stderr).error.message, message);
    });
  }

  it('says where a command looked for the service in vain', () => {
    const run = spawnSync(process.execPath, [MAIN, 'slots'], {
      encoding: 'utf8',
      env: { ...BARE_ENVIRONMENT, GRANTD_DATA_DIR: join(ROOT, 'no-such-directory') },
      timeout: 120_000,
    });
    assert.equal(run.status, 1);
    assert.match(run.stderr, /^grantd: There is no .*no-such-directory\/dev\.json\. Start the service/);
  });
});
