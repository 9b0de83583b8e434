// No file, export or dependency that nothing uses (knip, configured in knip.json).

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';
import { ROOT } from '../kit/source-tree.ts';

it('the project has no dead files, exports or dependencies', () => {
  const run = spawnSync(process.execPath, [join(ROOT, 'node_modules', 'knip', 'bin', 'knip.js'), '--no-progress'], {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: 240_000,
  });
  assert.equal(run.status, 0, `${run.stdout}${run.stderr}`);
});
