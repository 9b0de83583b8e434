// Commands as processes, whose output does not arrive: on a full disk, in a closed pipe, on nothing at all. None of
// them ends with 0 and has lost something; what takes only a part of a write is found out too.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { MAIN, readDevFacts, useDev } from '../kit/dev-process.ts';
import { runCommand } from './support/commands.ts';

const WRAPPER = join(import.meta.dirname, '..', '..', 'bin', 'grantd');
const RUN_MS_MAX = 120_000;
const GRANTS = Array.from({ length: 400 }, (_, index) => `user:${index}\tviewer\tdoc:${index}\n`).join('');

describe('output that does not arrive', () => {
  const { directory, data } = useDev();
  before(async () => {
    const imported = await runCommand(data, ['import', '-', '--tenant', readDevFacts(data).tenant_id ?? ''], GRANTS);
    assert.equal(imported.code, 0, imported.stderr);
  });

  /** `grantd` is the program itself, `wrapper` that of a checkout. */
  const shell = (script: string): Promise<{ code: number; stdout: string; stderr: string }> =>
    new Promise((resolve) => {
      const functions = `grantd() { "${process.execPath}" "${MAIN}" "$@"; }; wrapper() { "${WRAPPER}" "$@"; }`;
      const env = {
        ...{ PATH: process.env.PATH, GRANTD_DATA_DIR: data, XDG_CONFIG_HOME: join(directory, 'config') },
        GRANTD_TENANT: readDevFacts(data).tenant_id ?? '',
      };
      const options = { cwd: directory, env, timeout: RUN_MS_MAX };
      execFile('bash', ['--norc', '-c', `${functions}; ${script}`], options, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });

  const FULL = /ENOSPC: no space left on device/;
  // Of every command, the unit tests say the same; here is what its process adds.
  for (const args of ['export', 'complete -- te', '--help', '--version', 'dev --help']) {
    it(`on a full device is a failure of "grantd ${args}"`, async () => {
      const { code, stderr } = await shell(`grantd ${args} > /dev/full`);
      assert.notEqual(code, 0);
      assert.match(stderr, FULL);
    });
  }

  it('is found out if the disk takes only a part of the last write', async () => {
    for (const [args, file] of [
      ['export --format ndjson', 'cut.ndjson'],
      ['export', 'cut.tsv'],
      ['tenants list --json', 'cut.json'],
    ]) {
      // The limit of a file, in blocks of 1,024 bytes, is as a disk that is full in the middle of a write.
      const { code, stderr } = await shell(
        `${file === 'cut.json' ? 'printf %1000s > cut.json;' : ''} (ulimit -f 1; grantd ${args} >> ${file})`,
      );
      assert.equal(code, 1, `${args}: ${stderr}`);
      assert.match(stderr, /The output is incomplete: it cannot be written \(EFBIG/);
      assert.equal(statSync(join(directory, file ?? '')).size, 1024);
    }
    const { code, stderr } = await shell('grantd import cut.ndjson');
    assert.equal(code, 1);
    assert.match(stderr, /cut\.ndjson is incomplete\. Line 1 begins an export that has no end line/);
  });

  it('leaves a file as it was, and nothing beside it', async () => {
    const rules = '{"rules": [\n{"namespace":"doc","name":"can_read","any_of":["viewer"]}]}';
    const model = 'definition user {}\ndefinition doc { relation viewer: user }\n';
    const folder = join(directory, 'files');
    mkdirSync(folder);
    writeFileSync(join(folder, 'rules.json'), rules);
    writeFileSync(join(folder, 'model.zed'), model);
    writeFileSync(join(folder, 'types.go'), 'the former types\n');
    for (const command of [
      'rules format files/rules.json',
      'rules convert files/model.zed --output files/rules.json',
      'rules types --out files/types.go',
    ]) {
      const { code, stderr } = await shell(`ulimit -f 0; grantd ${command} | cat; exit "\${PIPESTATUS[0]}"`);
      assert.equal(code, 1, command);
      assert.match(stderr, /Cannot write files\/\S+: EFBIG/);
    }
    assert.deepEqual(readdirSync(folder).sort(), ['model.zed', 'rules.json', 'types.go']);
    assert.equal(readFileSync(join(folder, 'rules.json'), 'utf8'), rules);
    assert.equal(readFileSync(join(folder, 'types.go'), 'utf8'), 'the former types\n');
  });

  it('is a failure of an export whose reader leaves, and of no listing', async () => {
    const piped = (args: string) => shell(`grantd ${args} | true; exit "\${PIPESTATUS[0]}"`);
    const exported = await piped('export');
    assert.equal(exported.code, 1);
    assert.match(exported.stderr, /^grantd: The output is incomplete: its reader has left\.\n$/);
    assert.deepEqual(await piped('tenants list'), { code: 0, stdout: '', stderr: '' });
  });

  it('is a failure where standard output is closed', async () => {
    for (const args of ['export', 'tenants list', '--help']) {
      const { code, stderr } = await shell(`wrapper ${args} >&-`);
      assert.equal(code, 1, args);
      assert.match(stderr, /EBADF: bad file descriptor/);
    }
    // The program itself finds /dev/null there, which Node has opened.
    const { code, stderr } = await shell('grantd export >&-');
    assert.equal(code, 2);
    assert.match(stderr, /Standard output is closed or discarded/);
    assert.equal((await shell('grantd export > /dev/null')).code, 0);
  });

  it('is whole in a file, with its end line, and comes back', async () => {
    const { code, stderr } = await shell('grantd export --format ndjson > whole.ndjson');
    assert.deepEqual([code, stderr], [0, '']);
    const text = readFileSync(join(directory, 'whole.ndjson'), 'utf8');
    assert.match(text, /\{"end":\{"grants":\d+\}\}\n$/);
    const again = await shell('grantd import whole.ndjson --json');
    assert.equal(again.code, 0, again.stderr);
    assert.equal(JSON.parse(again.stdout).refused, 0);
  });
});
