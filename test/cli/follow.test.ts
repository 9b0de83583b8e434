// `grantd audit-log --follow` against a real service that is killed, stays away for a while and comes back.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type DevProcess, readDevFacts, startDev } from '../kit/dev-process.ts';
import { waitFor } from '../kit/wait-for.ts';
import { runCommand, startCommand } from './support/commands.ts';

let directory: string;
let service: DevProcess;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'grantd-follow-'));
  service = await startDev(directory);
});
after(async () => {
  await service?.stop();
  await rm(directory, { recursive: true, force: true });
});

test('each change is printed once, over a restart of the service, until the command is interrupted', async () => {
  const made = await runCommand(directory, ['tenants', 'create', 'Acme', '--json']);
  assert.equal(made.code, 0, made.stderr);
  const tenant = JSON.parse(made.stdout).tenant_id;
  const grant = async (object: string): Promise<void> => {
    const run = await runCommand(directory, ['grants', 'add', 'user:ann', 'viewer', object, '--tenant', tenant]);
    assert.equal(run.code, 0, run.stderr);
  };
  await grant('doc:1');
  const { child, result } = startCommand(directory, ['audit-log', '--tenant', tenant, '--follow', '--json'], '');
  let printed = '';
  let said = '';
  child.stdout?.on('data', (chunk) => {
    printed += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  const shows = (what: string) => waitFor(what, () => printed.includes(`"${what}"`));
  await shows('doc:1');
  await grant('doc:2');
  await shows('doc:2');
  const { host } = new URL(readDevFacts(directory).console_url);
  await service.stop();
  await waitFor('the word that the service is away', () => said.includes('Retrying'));
  service = await startDev(directory, { environment: { GRANTD_CONSOLE_ADDRESS: host } });
  await grant('doc:3');
  await shows('doc:3');
  child.kill('SIGINT');
  const { code, stdout, stderr } = await result;
  const objects = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).change.object)
    .filter((object) => object !== undefined);
  assert.deepEqual(objects, ['doc:1', 'doc:2', 'doc:3']);
  assert.match(
    stderr,
    /^No response from the operator's API at http:\S+: .*Retrying until it responds\.\nThe service responds again\.\n$/,
  );
  assert.equal(code, 130);
});
