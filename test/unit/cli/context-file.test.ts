// The file of contexts: whole at any moment, for its owner only, and refused if it is not.

import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { ContextFile, contextFilePath, type ServiceContext } from '../../../packages/cli/src/context-file.ts';
import { CliFailure } from '../../../packages/cli/src/failures.ts';
import { useDirectory } from '../../kit/directory.ts';

const root = useDirectory();

const DEV: ServiceContext = { api: 'public', url: 'http://127.0.0.1:8080', secret: 'gk1_secret' };
const PROD: ServiceContext = { api: 'operator', url: 'https://x.example', secret: 'the token', tenant: 'ten_1' };

describe('the file of contexts', () => {
  let path: string;
  beforeEach(() => {
    path = join(mkdtempSync(join(root, 'home-')), 'grantd', 'contexts.json');
  });
  const fails = (run: () => unknown, what: RegExp): void =>
    assert.throws(run, (error) => {
      assert.ok(error instanceof CliFailure);
      assert.match(error.message, what);
      assert.ok(error.message.startsWith(path), error.message);
      assert.doesNotMatch(error.message, /gk1_|the token/);
      return true;
    });

  it('is where programs keep such files', () => {
    assert.equal(contextFilePath({}, '/people/ann'), '/people/ann/.config/grantd/contexts.json');
    assert.equal(contextFilePath({ XDG_CONFIG_HOME: '/cfg' }, '/people/ann'), '/cfg/grantd/contexts.json');
    assert.equal(
      contextFilePath({ XDG_CONFIG_HOME: 'cfg' }, '/people/ann'),
      '/people/ann/.config/grantd/contexts.json',
    );
  });

  it('is none at first, and keeps what was written, for its owner only', () => {
    const file = new ContextFile(path);
    assert.deepEqual([file.read().current, file.read().named.size], [undefined, 0]);
    const named = new Map([
      ['dev', DEV],
      ['prod', PROD],
    ]);
    const before = process.umask(0);
    try {
      file.write({ current: 'dev', named });
    } finally {
      process.umask(before);
    }
    assert.deepEqual(new ContextFile(path).read(), { current: 'dev', named });
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(dirname(path)), ['contexts.json'], 'no draft stays');
  });

  it('is replaced, not overwritten, also behind a link', () => {
    const elsewhere = join(dirname(dirname(path)), 'dotfiles.json');
    mkdirSync(dirname(path));
    writeFileSync(elsewhere, '{"contexts":{}}', { mode: 0o600 });
    symlinkSync(elsewhere, path);
    const { ino } = statSync(elsewhere);
    new ContextFile(path).write({ current: undefined, named: new Map([['dev', DEV]]) });
    assert.notEqual(statSync(elsewhere).ino, ino);
    assert.match(readFileSync(elsewhere, 'utf8'), /gk1_secret/);
    assert.equal(readdirSync(dirname(path)).length, 1);
  });

  // Which modes others can read or write: private-file.test.ts.
  it('is refused if others can read it, and then not changed', () => {
    new ContextFile(path).write({ current: undefined, named: new Map([['dev', DEV]]) });
    chmodSync(path, 0o640);
    fails(() => new ContextFile(path).read(), /other users.*chmod 600/);
    assert.equal(statSync(path).mode & 0o777, 0o640);
  });

  it('is refused if it is damaged, too large or no file', () => {
    mkdirSync(dirname(path));
    for (const text of [
      '',
      '[]',
      '{}',
      '{"contexts":{"a":{"url":"http://x"}}}',
      '{"contexts":{"a":{"url":"http://x","key":"k","operator_token":"t"}}}',
      '{"contexts":{"../a":{"url":"http://x","key":"k"}}}',
      '{"current":1,"contexts":{}}',
    ]) {
      writeFileSync(path, text, { mode: 0o600 });
      fails(() => new ContextFile(path).read(), /damaged/);
    }
    writeFileSync(path, ' '.repeat(1024 * 1024 + 1));
    fails(() => new ContextFile(path).read(), /larger than/);
    rmSync(path);
    mkdirSync(path, { mode: 0o700 });
    fails(() => new ContextFile(path).read(), /is not a regular file/);
  });

  it('holds a thousand contexts, and no more', () => {
    const named = new Map(Array.from({ length: 1001 }, (_, index) => [`c${index}`, DEV] as const));
    fails(() => new ContextFile(path).write({ current: undefined, named }), /more than 1000/);
  });
});
