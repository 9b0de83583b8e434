// The npm scripts run on the pinned Node, and the lock file installs on every platform.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT, readText } from '../kit/source-tree.ts';

const packageFile = JSON.parse(readText('package.json'));
const scripts: Record<string, string> = packageFile.scripts;

describe('the npm scripts', () => {
  it('refuse an older Node in words', () => {
    const old = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' });`;
    const path = join(ROOT, 'scripts', 'require-node.mjs');
    const run = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', `${old} await import(${JSON.stringify(path)});`],
      {
        encoding: 'utf8',
      },
    );
    assert.equal(run.status, 1);
    assert.match(run.stderr, /^grantd needs Node 26 or newer; this is Node 20\.20\.2\.$/m);
    for (const command of Object.values(scripts).filter((each) => each.startsWith('exec node '))) {
      assert.match(command, /--import \.\/scripts\/require-node\.mjs/);
    }
  });

  it('need no script of a dependency to be run at its installation', () => {
    assert.equal(scripts.postinstall ?? scripts.preinstall ?? scripts.prepare, undefined);
  });

  it('run on the exact Node that is pinned', () => {
    const versions: string[] = Object.values(packageFile.optionalDependencies);
    assert.ok(versions.every((version) => /^26\.\d+\.\d+$/.test(version)));
    assert.equal(new Set(versions).size, 1);
  });
});

describe('package-lock.json', () => {
  it('has a checksum of every package, for every platform', () => {
    const { packages } = JSON.parse(readText('package-lock.json'));
    const entries = Object.entries<{ integrity?: string; link?: boolean }>(packages);
    const unchecked = entries.filter(
      ([path, entry]) => path.startsWith('node_modules/') && !entry.link && !entry.integrity,
    );
    assert.deepEqual(unchecked, []);
  });
});
