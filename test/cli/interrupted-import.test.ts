// An import that somebody interrupts, as a process; its grants have identifiers full of separators.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useDev } from '../kit/dev-process.ts';
import { waitFor } from '../kit/wait-for.ts';
import { runCommand, startCommand } from './support/commands.ts';

const { data: directory } = useDev();

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
