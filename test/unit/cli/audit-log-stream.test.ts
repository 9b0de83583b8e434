// `grantd audit-log --all`: the audit log of all tenants, up to now and followed, and the cursor file.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { GrantdError } from '../../../src/core/errors.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import { OPERATOR_TOKEN, startConsole } from '../../kit/console-service.ts';
import { useDirectory } from '../../kit/directory.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { type CliRun, type CliRunOptions, useOperatorCli } from './cli-run.ts';

const directory = useDirectory();

const cli = await useOperatorCli();
const { service } = cli;
const grantd = (args: readonly string[], options: Partial<CliRunOptions> = {}): Promise<CliRun> =>
  cli.grantd(['audit-log', ...args], options);
const createTenant = (name: string) => cli.createTenant(name, `user:${name}\tviewer\tdoc:1\n`);

const linesOf = ({ stdout }: CliRun) => stdout.split('\n').filter((line) => line !== '');

describe('the audit log of all tenants', () => {
  test('is printed up to now, with a cursor for the rest, whatever tenant is the default one', async () => {
    const id = await createTenant('Acme');
    const run = await grantd(['--all'], { tenant: 'ten_00000000000000000000000000' });
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stdout, new RegExp(`Z {2}${id} {2}operator:alice {2}grant\\.created {2}subject=user:Acme .*req_`));
    const cursor = /^Continue with --cursor (\S+)$/m.exec(run.stderr)?.[1] ?? '';
    assert.deepEqual(linesOf(await grantd(['--all', '--cursor', cursor])), []);
    const next = await createTenant('Next');
    const json = linesOf(await grantd(['--all', '--cursor', cursor, '--json']));
    assert.deepEqual(
      json.map((line) => JSON.parse(line).tenant_id),
      json.map(() => next),
    );
    assert.ok(json.length > 0);
  });

  test('is printed as CloudEvents with checkpoints, and goes on from its cursor file', async () => {
    const file = join(directory, 'audit.cursor');
    const args = ['--all', '--output', 'cloudevents', '--cursor-file', file];
    const all = linesOf(await grantd(args)).map((line) => JSON.parse(line));
    assert.ok(all.length > 1);
    assert.deepEqual(
      all.map(({ type }) => type),
      [...all.slice(1).map(() => 'grantd.audit.v1'), 'grantd.audit-checkpoint.v1'],
    );
    assert.equal(readFileSync(file, 'utf8'), `${all.at(-1)?.data.cursor}\n`);
    const id = await createTenant('Later');
    const later = linesOf(await grantd(args)).map((line) => JSON.parse(line));
    assert.ok(later.length > 1);
    assert.ok(later.slice(0, -1).every(({ subject }) => subject === id));
  });

  test('is followed until it is interrupted, through slots that cannot be read', async () => {
    const file = join(directory, 'followed.cursor');
    service.operator.slotsMissing = 1;
    const args = ['audit-log', '--all', '--follow', '--json', '--cursor-file', file];
    const { ended, waitToShow, interrupt } = cli.start(args);
    try {
      await waitToShow('Acme');
      service.operator.slotsMissing = 0;
      await waitToShow(await createTenant('Followed'));
      await waitFor('its cursor', () => existsSync(file));
    } finally {
      service.operator.slotsMissing = 0;
      interrupt();
    }
    assert.equal((await ended).code, 130);
    const lines = linesOf(await ended);
    assert.equal(new Set(lines).size, lines.length, 'each change once');
  });

  test('leaves the cursor file as it was if the service refuses it', async () => {
    const file = join(directory, 'old.cursor');
    writeFileSync(file, 'old\n');
    // A service of its own: nobody else may get the refusal.
    await using refusing = await startConsole({ clock: systemClock, random: systemRandom });
    refusing.operator.faults.push(new GrantdError('cursor-too-old', 'Too old.', { details: { earliest: 'earlier' } }));
    const target = { url: refusing.url, token: OPERATOR_TOKEN };
    const run = await grantd(['--all', '--follow', '--cursor-file', file], { target });
    assert.deepEqual([run.code, run.stdout], [1, '']);
    assert.match(run.stderr, /Changes are missing/);
    assert.equal(readFileSync(file, 'utf8'), 'old\n');
  });

  test('fails if the cursor file cannot be written', async () => {
    const run = await grantd(['--all', '--cursor-file', join(directory, 'missing', 'file')]);
    assert.equal(run.code, 1);
    assert.match(run.stderr, /cursor file cannot be written/);
  });

  for (const [what, args] of [
    ['a filter', ['--all', '--actor', 'system']],
    ['a tenant', ['--all', '--tenant', 'ten_00000000000000000000000000']],
    ['a time and a cursor', ['--all', '--since', '1h', '--cursor', 'a']],
    ['a cursor and its file', ['--all', '--cursor', 'a', '--cursor-file', 'b']],
    ['JSON and CloudEvents', ['--all', '--json', '--output', 'cloudevents']],
    ['an output of one tenant', ['--tenant', 'ten_00000000000000000000000000', '--output', 'cloudevents']],
    ['a cursor file of one tenant', ['--tenant', 'ten_00000000000000000000000000', '--cursor-file', 'a']],
  ] as const) {
    test(`${what} is a wrong usage`, async () => {
      const { code, stdout } = await grantd(args);
      assert.deepEqual([code, stdout], [2, '']);
    });
  }
});
