// What is wrong with an environment, and settings in files, for the tests of settings.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { ConfigError, type Environment, readConfig } from '../../../src/config/read-config.ts';
import type { Role } from '../../../src/config/setting.ts';

/** Empty if nothing is. */
export function problemsOf(environment: Environment, role: Role = 'dev'): readonly string[] {
  try {
    readConfig(role, environment);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    for (const problem of error.problems) assert.ok(error.message.includes(problem));
    return error.problems;
  }
}

/** A directory that goes with the tests around, and how to write a file into it. */
export function settingFiles() {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-settings-'));
  after(() => rmSync(directory, { recursive: true }));
  let count = 0;
  const file = (text: string): string => {
    count += 1;
    const path = join(directory, `file-${count}`);
    writeFileSync(path, text);
    return path;
  };
  return { directory, file };
}
