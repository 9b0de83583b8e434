// `grantd grants revoke --subject …` and `--object …`: counted, confirmed, complete, and safe to repeat.

import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { GrantdError } from '../../../src/core/errors.ts';
import { type CliRun, type CliRunOptions, useOperatorCli } from './cli-run.ts';

const { service, grantd, createTenant } = await useOperatorCli();
let tenant: string;

const revoke = (args: readonly string[], options: Partial<CliRunOptions> = {}): Promise<CliRun> =>
  grantd(['grants', 'revoke', ...args, '--tenant', tenant], options);
const exported = async (): Promise<string> => (await grantd(['export', '--tenant', tenant])).stdout;
const revocations = (): number => service.operator.calls.filter(({ name }) => name === 'revokeGrants').length;

beforeEach(async () => {
  service.operator.faults.length = 0;
  service.operator.revokedPerCall = 1000;
  const lines = Array.from({ length: 12 }, (_, index) => `user:ada\tviewer\tdoc:${index}\n`);
  tenant = await createTenant('Acme', `${lines.join('')}user:ada\teditor\tdoc:1\nuser:bob\tviewer\tdoc:1\n`);
});

describe('a revocation by filter', () => {
  test('counts, asks for the name, and revokes until none is left', async () => {
    service.operator.revokedPerCall = 5;
    const calls = revocations();
    const run = await revoke(['--subject', 'user:ada'], { terminal: true, stdin: 'user:ada\n' });
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stderr, /13 grants of user:ada in tenant ten_\w+ will be revoked\. This cannot be undone\.\n/);
    assert.match(run.stderr, /Type user:ada to continue:/);
    assert.equal(run.stdout, '13 grants of user:ada were revoked.\n');
    assert.equal(revocations() - calls, 3);
    assert.equal(await exported(), 'user:bob\tviewer\tdoc:1\n');
  });

  test('changes nothing if another name is typed', async () => {
    const before = await exported();
    for (const stdin of ['yes\n', 'user:bob\n', '']) {
      const run = await revoke(['--object', 'doc:1', '--relation', 'viewer'], { terminal: true, stdin });
      assert.equal(run.code, 1);
      assert.match(run.stderr, /2 viewer grants on doc:1 in tenant .*Nothing was revoked\./s);
    }
    assert.equal(await exported(), before);
  });

  test('counts with --dry-run, however many there are, and neither asks nor revokes', async () => {
    const before = await exported();
    const calls = revocations();
    for (const perCall of [1000, 5]) {
      service.operator.revokedPerCall = perCall;
      const run = await revoke(['--subject', 'user:ada', '--dry-run']);
      assert.deepEqual([run.code, run.stdout], [0, '13 grants of user:ada would be revoked. Nothing was changed.\n']);
      const viewers = await revoke(['--object', 'doc:1', '--relation', 'viewer', '--dry-run', '--yes', '--json']);
      assert.deepEqual([viewers.code, JSON.parse(viewers.stdout)], [0, { dry_run: true, revoked: 2 }]);
    }
    assert.equal((await revoke(['user:ada', 'viewer', 'doc:1', '--dry-run'])).code, 2);
    assert.equal((await revoke(['--dry-run'])).code, 2);
    assert.deepEqual([await exported(), revocations()], [before, calls]);
  });

  test('never begins without a terminal unless --yes confirms it', async () => {
    const before = await exported();
    const run = await revoke(['--object', 'doc:1']);
    assert.equal(run.code, 2);
    assert.match(run.stderr, /3 grants on doc:1 in tenant .* needs confirmation\. Without a terminal, pass --yes\./);
    assert.equal(await exported(), before);
    const confirmed = await revoke(['--object', 'doc:1', '--yes', '--json']);
    assert.deepEqual([confirmed.code, JSON.parse(confirmed.stdout)], [0, { revoked: 3, complete: true }]);
  });

  test('without a grant that matches needs no confirmation', async () => {
    const run = await revoke(['--subject', 'user:nobody']);
    assert.deepEqual([run.code, run.stdout], [0, '0 grants of user:nobody were revoked.\n']);
  });

  test('outlasts a service that is away, and says that it may have revoked more', async () => {
    service.operator.revokedPerCall = 5;
    service.operator.faults.push(undefined, undefined, undefined, new GrantdError('unavailable', 'Not now.'));
    const run = await revoke(['--subject', 'user:ada', '--yes']);
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stderr, /Not now.*Retrying in/);
    assert.equal(run.stdout, 'At least 13 grants of user:ada were revoked.\n');
  });

  test('says how far it came if it fails or is interrupted, and goes on when it is repeated', async () => {
    service.operator.revokedPerCall = 5;
    service.operator.faults.push(undefined, undefined, undefined, new GrantdError('internal', 'It broke.'));
    const failed = await revoke(['--subject', 'user:ada', '--yes']);
    assert.deepEqual([failed.code, failed.stdout], [1, '5 grants of user:ada were revoked.\n']);
    assert.match(failed.stderr, /It broke.*The revocation stopped early\. To finish, run the same command again/s);
    const interrupted = await revoke(['--subject', 'user:ada', '--yes'], {
      onInterrupt: (listener) => {
        listener();
        return () => {};
      },
    });
    assert.deepEqual([interrupted.code, interrupted.stdout], [130, '0 grants of user:ada were revoked.\n']);
    assert.match(interrupted.stderr, /Interrupted\. To finish/);
    const repeated = await revoke(['--subject', 'user:ada', '--yes']);
    assert.deepEqual([repeated.code, repeated.stdout], [0, '8 grants of user:ada were revoked.\n']);
  });

  test('needs a subject or an object, and nothing beside them', async () => {
    const wrong = [
      [],
      ['--relation', 'viewer'],
      ['--subject', 'user:ada', '--object', 'doc:1'],
      ['user:ada'],
      ['user:ada', 'viewer'],
      ['user:ada', '--object', 'doc:1'],
      ['user:ada', 'viewer', 'doc:1', '--relation', 'viewer'],
    ];
    const before = await exported();
    for (const args of wrong) {
      const run = await revoke([...args, '--yes']);
      assert.equal(run.code, 2, args.join(' '));
      assert.match(run.stderr, /Pass either|is missing/);
    }
    const empty = await revoke(['--subject', '', '--yes']);
    assert.equal(empty.code, 1);
    assert.match(empty.stderr, /invalid-subject/);
    assert.equal(await exported(), before);
  });
});
