// The npm scripts and the check of a change: on the pinned Node, and failing when a step fails.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT, readText } from '../kit/source-tree.ts';

const packageFile = JSON.parse(readText('package.json'));
const scripts: Record<string, string> = packageFile.scripts;

describe('the npm scripts', () => {
  it('serve and test with two commands', () => {
    assert.match(scripts.start ?? '', /src\/main\.ts dev$/);
    assert.match(scripts.grantd ?? '', /src\/main\.ts$/);
    // Without `exec` a shell stands between npm and the service, and a signal to npm ends the shell alone.
    for (const name of ['start', 'grantd']) assert.match(scripts[name] ?? '', /^exec node /);
  });

  it('are few: what is run by hand, and one runner of tests', () => {
    assert.ok(Object.keys(scripts).length <= 14);
    assert.match(scripts.test ?? '', / scripts\/test\.ts$/);
    assert.match(scripts.check ?? '', / scripts\/test\.ts lint types unit tidy$/);
  });

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
    for (const name of [
      'start',
      'grantd',
      'test',
      'check',
      'simulate',
      'fuzz',
      'soak',
      'cluster',
      'loadtest',
      'generate',
      'screenshots',
    ])
      assert.match(scripts[name] ?? '', /--import \.\/scripts\/require-node\.mjs/);
  });

  it('need no script of a dependency to be run at its installation', () => {
    assert.equal(scripts.postinstall ?? scripts.preinstall ?? scripts.prepare, undefined);
  });

  it('come without warnings of npm about a Node that only runs npm', () => {
    assert.match(readText('.npmrc'), /^loglevel=error$/m);
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

describe('.ci/run', () => {
  /** Runs a copy beside an npm that only says what it was asked, and fails where told. */
  function runWith(failing: string): { status: number | null; stdout: string } {
    const directory = mkdtempSync(join(tmpdir(), 'grantd-ci-'));
    try {
      mkdirSync(join(directory, '.ci'));
      mkdirSync(join(directory, 'bin'));
      cpSync(join(ROOT, '.ci', 'run'), join(directory, '.ci', 'run'));
      const npm = join(directory, 'bin', 'npm');
      writeFileSync(
        npm,
        `#!/bin/sh\n[ "$*" = --version ] || echo "asked: $*" >> "${directory}/asked"\n[ "$*" != "${failing}" ]\n`,
      );
      chmodSync(npm, 0o755);
      const run = spawnSync(join(directory, '.ci', 'run'), {
        encoding: 'utf8',
        env: { PATH: `${join(directory, 'bin')}:${process.env.PATH}` },
      });
      return { status: run.status, stdout: readFileSync(join(directory, 'asked'), 'utf8') };
    } finally {
      rmSync(directory, { recursive: true });
    }
  }

  it('can be run', () => {
    assert.ok((statSync(join(ROOT, '.ci', 'run')).mode & 0o111) !== 0);
  });

  it('installs and tests', () => {
    assert.deepEqual(runWith('nothing'), { status: 0, stdout: 'asked: ci\nasked: test\n' });
  });

  it('fails where the installation or a test fails', () => {
    assert.deepEqual(runWith('ci'), { status: 1, stdout: 'asked: ci\n' });
    assert.deepEqual(runWith('test'), { status: 1, stdout: 'asked: ci\nasked: test\n' });
  });
});
