// What the runner installs beside the suites: each test file waits for everything that it would install at its head.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { importersOf } from '../../scripts/testing/changes.ts';
import { listTestFiles, SUITES } from '../../scripts/testing/suites.ts';
import { INSTALLS } from '../../tools/engines/install.ts';
import { ROOT, readText } from '../kit/source-tree.ts';

const files = listTestFiles();
const names = INSTALLS.map(({ name }) => name);

/** What a file that imports a function of the engines may install by it. */
const PROVIDERS: readonly (readonly [imported: RegExp, install: string])[] = [
  [/\bmissingCassandra\b/, 'cassandra'],
  [/\bmissingRedis\b/, 'redis'],
  [/\bmissingPostgres\b/, 'postgres'],
  [/\bmissingOpenSearch\b/, 'opensearch'],
  [/\bmissingChromium\b/, 'chromium'],
  [/\bmissingHelm\b|\bmissingKustomize\b|\bmissingRegistry\b/, 'helm'],
  [/\bfindK6\b/, 'k6'],
  [/\binstallNpmProgram\b|\boldestNode\b/, 'runtimes'],
  [/\binstallPythonTool\b.*\bSCHEMATHESIS\b/, 'schemathesis'],
  [/\binstallPythonTool\b.*\bPYTHON_CLIENT\b/, 'python-client'],
  [/\bprovideJava\b/, 'java'],
  [/\bprovideJdbcDriver\b/, 'jdbc'],
  [/\binstallMaven\b/, 'java-client'],
  [/\bmissingShell\b/, 'shells'],
  [/\bmissingKubernetes\b|\bmissingImageTools\b/, 'kubernetes'],
  [/\binstallTool\b/, 'peers'],
];

describe('the installs', () => {
  it('have names of their own, and are needed by suites and test files that exist', () => {
    assert.equal(new Set(names).size, names.length);
    const known = new Set([...SUITES.map(({ name }) => name), ...files.map(({ path }) => path)]);
    for (const { name, neededBy } of INSTALLS) {
      assert.ok(neededBy.length > 0, name);
      for (const each of neededBy) assert.ok(known.has(each), `${name}: ${each}`);
    }
  });

  it('are waited for by each test file that would install the same at its head', () => {
    const importers = importersOf(
      new Map(globSync('{test,tools,scripts,bench}/**/*.ts', { cwd: ROOT }).map((path) => [path, readText(path)])),
    );
    const seen = new Set<string>();
    for (const [imported, name] of PROVIDERS) {
      const { neededBy = [] } = INSTALLS.find((each) => each.name === name) ?? {};
      const users = globSync('test/*/**/*.ts', { cwd: ROOT, exclude: ['test/tidy/**'] });
      const reached = new Set(users.filter((path) => imported.test(readText(path))));
      for (const path of reached) for (const importer of importers.get(path) ?? []) reached.add(importer);
      const needing = files.filter(({ path }) => reached.has(path));
      assert.ok(needing.length > 0, name);
      for (const { path, suite } of needing) {
        assert.ok(neededBy.includes(path) || neededBy.includes(suite.name), `${path} needs ${name}`);
      }
      seen.add(name);
    }
    assert.deepEqual([...seen].toSorted(), names.toSorted());
  });

  it('end with 2 for a name that is not known', () => {
    const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'tools/engines/install.ts'), 'nothing'], {
      encoding: 'utf8',
    });
    assert.equal(status, 2);
    assert.match(stderr, /^There is no nothing, but k6, helm, /);
  });
});
