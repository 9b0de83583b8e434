// Commands that somebody interrupts, as processes: `grantd audit-log --follow` over a restart of the service, and an
// import, whose grants have identifiers full of separators.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDevFacts, startDev, useDev } from '../kit/dev-process.ts';
import { waitFor } from '../kit/wait-for.ts';
import { runCommand, startCommand } from './support/commands.ts';

const service = useDev();
const { data: directory } = service;

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
  await service.process.stop();
  await waitFor('the word that the service is away', () => said.includes('Retrying'));
  service.process = await startDev(directory, { environment: { GRANTD_CONSOLE_ADDRESS: host } });
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

/** As a container platform names its roles. */
const RESOURCES = ['url:get:/api/*', 'permission:*:*/*', 'permission:list:storage.k8s.io/*', 'role:system:basic-user'];

test('an interrupted import says what stands, and the same import finishes it', async () => {
  const made = await runCommand(directory, ['tenants', 'create', 'Interrupted', '--json']);
  const of = ['--tenant', JSON.parse(made.stdout).tenant_id];
  const lines = Array.from({ length: 5000 }, (_, index) => `group:system:${index}\tviewer\t${RESOURCES[index % 4]}\n`);
  const { child, result } = startCommand(directory, ['import', '-', ...of]);
  child.stdin?.write(lines.slice(0, 2500).join(''));
  await waitFor('the first batches', async () => {
    const { stdout } = await runCommand(directory, ['export', ...of]);
    return stdout.split('\n').length > 2000;
  });
  child.kill('SIGINT');
  const interrupted = await result;
  assert.equal(interrupted.code, 130, interrupted.stderr);
  assert.match(interrupted.stdout, /^2,000 lines .*: 2,000 created, 0 changed, 0 unchanged, 0 refused\n$/);
  assert.match(interrupted.stderr, /^Interrupted\. .*run the same import again; this is safe\.\n$/m);
  const again = await runCommand(directory, ['import', '-', ...of], lines.join(''));
  assert.match(again.stdout, /: 3,000 created, 0 changed, 2,000 unchanged, 0 refused\n$/);
  const exported = await startCommand(directory, ['export', ...of], '').result;
  assert.deepEqual(exported, { code: 0, stdout: lines.toSorted().join(''), stderr: '' });
  for (const resource of RESOURCES) {
    const index = RESOURCES.indexOf(resource);
    for (const [subject, answer] of [
      [`group:system:${index}`, 'authorized true\n'],
      [`group:system:${index + 1}`, 'authorized false\n'],
    ] as const) {
      assert.equal((await runCommand(directory, ['check', subject, 'viewer', resource, ...of])).stdout, answer);
    }
  }
});
