// `bin/grantd`: the command line from a checkout. It runs from any folder, on the pinned Node, and its standard output
// is the command's alone.

import assert from 'node:assert/strict';
import { type ExecFileException, execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { useDev } from '../kit/dev-process.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const WRAPPER = join(ROOT, 'bin', 'grantd');
const packageFile = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const { version } = packageFile;
const GRANTS = 'user:ann\tviewer\tdoc:a\nuser:ann\tviewer\tdoc:b\n';

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('bin/grantd', () => {
  const { directory, data } = useDev('data here');
  const work = join(directory, 'work here');
  const programs = join(directory, 'programs');
  before(() => {
    mkdirSync(work);
    mkdirSync(programs);
    // The machine's Node, as it must not be used.
    writeFileSync(join(programs, 'node'), '#!/bin/sh\necho "an old Node ran" >&2\nexit 99\n');
    chmodSync(join(programs, 'node'), 0o755);
    symlinkSync(WRAPPER, join(programs, 'first'));
    symlinkSync('first', join(programs, 'grantd'));
  });

  /** In the folder `work here`, with `programs` first in the path. */
  const shell = (script: string): Promise<Run> =>
    new Promise((resolve) => {
      const options = {
        cwd: work,
        env: { PATH: `${programs}:${process.env.PATH}`, GRANTD_DATA_DIR: data },
        timeout: 120_000,
      };
      execFile('sh', ['-euc', script], options, (error: ExecFileException | null, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });

  it('runs by its path, through links and from the PATH, on the pinned Node', async () => {
    symlinkSync(ROOT, join(work, 'checkout'));
    for (const command of [`'${WRAPPER}'`, './checkout/bin/grantd', '../programs/grantd', 'grantd']) {
      assert.deepEqual(
        await shell(`${command} --version`),
        { code: 0, stdout: `${version}\n`, stderr: '' },
        `${command} --version`,
      );
    }
  });

  it('imports from and exports to relative paths, with nothing but grants in the file', async () => {
    writeFileSync(join(work, 'grants in.tsv'), GRANTS);
    const run = await shell(
      [
        `tenant=$(grantd tenants create Acme --json | sed -n 's/.*"tenant_id": "\\(.*\\)",/\\1/p')`,
        'grantd import "grants in.tsv" --tenant "$tenant" > summary',
        'grantd export --tenant "$tenant" > out.tsv',
      ].join('\n'),
    );
    assert.equal(run.code, 0, run.stderr);
    assert.equal(readFileSync(join(work, 'out.tsv'), 'utf8'), GRANTS);
  });

  it('passes arguments on as they are, and the exit code back', async () => {
    const made = await shell(`grantd tenants create 'a "b"  $c *' --json`);
    assert.equal(JSON.parse(made.stdout).name, 'a "b"  $c *');
    assert.equal((await shell('grantd tenants nonsense')).code, 2);
  });

  it('is a command after "npm link"', async () => {
    const checkout = join(directory, 'linked');
    const prefix = join(directory, 'prefix');
    mkdirSync(join(checkout, 'bin'), { recursive: true });
    mkdirSync(prefix);
    // Of the real one, npm would look at all packages.
    const { dependencies, optionalDependencies, devDependencies, workspaces, ...rest } = packageFile;
    writeFileSync(join(checkout, 'package.json'), JSON.stringify(rest));
    writeFileSync(join(checkout, 'bin', 'grantd'), readFileSync(WRAPPER), { mode: 0o755 });
    const settings = `npm_config_prefix='${prefix}' npm_config_offline=true npm_config_update_notifier=false`;
    const path = `PATH='${process.env.PATH}'`;
    const linked = await shell(`cd '${checkout}' && ${path} HOME='${directory}' ${settings} npm link`);
    assert.equal(linked.code, 0, linked.stderr);
    symlinkSync(join(ROOT, 'src'), join(checkout, 'src'));
    mkdirSync(join(checkout, 'node_modules', '.bin'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', '.bin', 'node'), join(checkout, 'node_modules', '.bin', 'node'));
    assert.deepEqual(await shell(`'${prefix}/bin/grantd' --version`), { code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('says what to do where nothing is installed', async () => {
    const copy = join(directory, 'fresh');
    mkdirSync(join(copy, 'bin'), { recursive: true });
    writeFileSync(join(copy, 'bin', 'grantd'), readFileSync(WRAPPER), { mode: 0o755 });
    const run = await shell(`'${join(copy, 'bin', 'grantd')}' --version`);
    assert.deepEqual([run.code, run.stdout], [1, '']);
    assert.match(run.stderr, /Run "npm ci" in .*fresh first\./);
  });
});
