// dev.json: whole, private, and refused when it is not what was written.

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { readConfig } from '../../../../src/config/read-config.ts';
import { readDevFile, resolveOperatorTarget, writeDevFile } from '../../../../src/roles/dev/dev-file.ts';
import { StartError } from '../../../../src/roles/process/start-error.ts';

const FILE = {
  base_url: 'http://127.0.0.1:1',
  ops_url: 'http://127.0.0.1:2',
  console_url: 'http://127.0.0.1:3',
  operator_token: 't'.repeat(43),
  tenant_id: 'ten_x',
  key: 'gk1_x',
};

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'grantd-dev-file-'));
});
afterEach(() => rmSync(directory, { recursive: true }));
const path = (): string => join(directory, 'dev.json');

describe('dev.json', () => {
  it('comes back as it was written, with or without a demo tenant', () => {
    const { tenant_id: _tenant, key: _key, ...bare } = FILE;
    for (const file of [FILE, bare]) {
      writeDevFile(directory, file);
      assert.deepEqual(readDevFile(directory), file);
    }
  });

  it('is readable by its owner alone, even over one that was not, and leaves nothing beside it', () => {
    writeFileSync(path(), '{}', { mode: 0o644 });
    writeDevFile(directory, FILE);
    assert.equal(statSync(path()).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(directory), ['dev.json']);
  });

  it('has each field on a line of its own, so that the shell can read it', () => {
    writeDevFile(directory, FILE);
    assert.match(readFileSync(path(), 'utf8'), /^ {2}"key": "gk1_x"$/m);
  });

  it('is refused if others can read or write it, also by the service that would adopt its token', () => {
    for (const mode of [0o644, 0o620, 0o602, 0o604, 0o777]) {
      writeDevFile(directory, FILE);
      chmodSync(path(), mode);
      assert.throws(
        () => readDevFile(directory),
        (error) =>
          error instanceof StartError &&
          /dev\.json can be read or written by other users.*chmod 600/.test(error.message),
      );
    }
  });

  it('does not take over a draft that another has left', () => {
    writeFileSync(`${path()}.new`, '', { mode: 0o666 });
    chmodSync(`${path()}.new`, 0o666);
    writeDevFile(directory, FILE);
    assert.equal(statSync(path()).mode & 0o777, 0o600);
    assert.deepEqual(readDevFile(directory), FILE);
  });

  it('is undefined if it does not exist', () => {
    assert.equal(readDevFile(directory), undefined);
    assert.equal(readDevFile(join(directory, 'missing')), undefined);
    writeFileSync(path(), 'x');
    assert.equal(readDevFile(path()), undefined);
  });

  it('is refused if it is incomplete', () => {
    for (const text of [
      '',
      '{',
      '[]',
      'null',
      '{}',
      JSON.stringify({ ...FILE, key: 1 }),
      JSON.stringify({ ...FILE, base_url: undefined }),
    ]) {
      writeFileSync(path(), text, { mode: 0o600 });
      assert.throws(
        () => readDevFile(directory),
        (error) => error instanceof StartError && error.message.includes(path()),
        text,
      );
    }
  });
});

describe("the target of the operator's commands", () => {
  const resolve = (environment: Record<string, string>) =>
    resolveOperatorTarget(readConfig('cli', { GRANTD_DATA_DIR: directory, ...environment }));
  const token = 'o'.repeat(40);

  it('is what dev.json says', () => {
    writeDevFile(directory, FILE);
    assert.deepEqual(resolve({}), { api: 'operator', url: FILE.console_url, secret: FILE.operator_token });
  });

  it('is what the settings say, without a dev.json', () => {
    assert.deepEqual(resolve({ GRANTD_OPERATOR_URL: 'https://console.example.com/', GRANTD_OPERATOR_TOKEN: token }), {
      api: 'operator',
      url: 'https://console.example.com',
      secret: token,
    });
  });

  it('is never an address of dev.json with another token of the settings', () => {
    writeDevFile(directory, FILE);
    assert.throws(
      () => resolve({ GRANTD_OPERATOR_TOKEN: token }),
      (error) =>
        error instanceof StartError && /Set GRANTD_OPERATOR_URL/.test(error.message) && !error.message.includes(token),
    );
    assert.deepEqual(resolve({ GRANTD_OPERATOR_TOKEN: FILE.operator_token }), resolve({}));
  });

  it('is on this machine', () => {
    for (const url of [
      'http://127.0.0.1:1',
      'http://127.9.9.9',
      'http://localhost:1',
      'http://[::1]:2',
      'http://0.0.0.0:3',
    ]) {
      writeDevFile(directory, { ...FILE, console_url: url, base_url: url });
      assert.equal(resolve({}).url, url);
    }
    for (const url of [
      'https://evil.example',
      'http://127.0.0.1.evil.example',
      'http://localhost@192.0.2.1/',
      '127.0.0.1',
      '',
    ]) {
      for (const changed of [{ console_url: url }, { base_url: url }]) {
        writeDevFile(directory, { ...FILE, ...changed });
        assert.throws(
          () => resolve({}),
          (error) => error instanceof StartError && /is not on this machine.*GRANTD_OPERATOR_URL/.test(error.message),
          url,
        );
      }
    }
  });

  it('explains what to do if nothing names the service', () => {
    assert.throws(() => resolve({}), /There is no .*dev\.json\. Start the service with "npm start"/);
    assert.throws(
      () => resolve({ GRANTD_OPERATOR_URL: 'https://x' }),
      /GRANTD_OPERATOR_URL is set, but not GRANTD_OPERATOR_TOKEN/,
    );
  });
});
