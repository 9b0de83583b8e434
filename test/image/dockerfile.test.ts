// The Dockerfile and .dockerignore against the code: nothing else of the checkout gets near the image.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SETTINGS } from '../../src/config/settings.ts';
import { splitAddress } from '../../src/core/text/addresses.ts';
import { ROOT, readText } from '../kit/source-tree.ts';
import { listBuildSources, parseStages } from './support/dockerfile.ts';

const text = readText('Dockerfile');
const stages = parseStages(text);
const packageFile = JSON.parse(readText('package.json'));

const textOf = (word: string): string | undefined =>
  stages.at(-1)?.instructions.findLast((instruction) => instruction.word === word)?.text;

describe('the Dockerfile', () => {
  it('is given what it copies and nothing else of the checkout', () => {
    const [first, ...others] = readText('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    assert.equal(first, '*');
    const sources = listBuildSources(stages);
    assert.deepEqual(others.toSorted(), sources.map((source) => `!${source}`).toSorted());
    for (const each of ['.git', 'test', 'docs', '.grantd', 'node_modules', '.', '*']) {
      assert.ok(!sources.includes(each), each);
    }
  });

  it('starts every stage from the Node that the tests run on', () => {
    const [version = ''] = Object.values<string>(packageFile.optionalDependencies);
    assert.deepEqual(
      stages.map(({ base }) => base),
      stages.map(() => `node:${version.split('.')[0]}-slim`),
    );
  });

  it('names the ports that the roles listen on', () => {
    const defaults = [
      SETTINGS.httpAddress.defaults.front,
      SETTINGS.opsAddress.defaults.shard,
      SETTINGS.rpcAddress.defaults.shard,
      SETTINGS.consoleAddress.defaults.console,
    ];
    assert.equal(textOf('EXPOSE'), defaults.map((address) => splitAddress(address).port).join(' '));
  });

  it('runs the program as process 1, as a user that is not root by its number', () => {
    assert.equal(textOf('ENTRYPOINT'), '["node", "/opt/grantd/dist/grantd.js"]');
    assert.equal(textOf('WORKDIR'), '/opt/grantd');
    assert.match(textOf('USER') ?? '', /^[1-9]\d*:[1-9]\d*$/);
  });
});

describe('the list of packages in the image', () => {
  const run = (document: object, epoch?: string): Record<string, unknown> & { readonly documentNamespace: string } =>
    JSON.parse(
      execFileSync(process.execPath, [join(ROOT, 'scripts', 'reproducible-sbom.mjs')], {
        input: JSON.stringify(document),
        env: epoch === undefined ? {} : { SOURCE_DATE_EPOCH: epoch },
      }).toString(),
    );
  const listOf = (random: string, created: string, packages: readonly object[] = [{ name: 'x' }]) => ({
    name: 'grantd@1.0.0',
    documentNamespace: `http://spdx.org/spdxdocs/grantd-1.0.0-${random}`,
    creationInfo: { created, creators: ['Tool: npm'] },
    packages,
  });
  const first = listOf('70be07b3-7dba', '2026-11-22T20:49:38.284Z');
  const second = listOf('10a90377-d57c', '2026-11-23T00:00:00.000Z');

  it('is the same for the same packages, whenever npm made it', () => {
    assert.deepEqual(run(first), run(second));
    assert.deepEqual(run(first, '1700000000'), run(second, '1700000000'));
    const { documentNamespace, packages, creationInfo } = run(first, '1700000000');
    assert.match(documentNamespace, /^http:\/\/spdx\.org\/spdxdocs\/grantd-1\.0\.0-[0-9a-f]{64}$/);
    assert.deepEqual(packages, first.packages);
    assert.deepEqual(creationInfo, { created: '2023-11-14T22:13:20.000Z', creators: ['Tool: npm'] });
  });

  it('has another address where it holds something else', () => {
    const other = listOf('70be07b3-7dba', '2026-11-22T20:49:38.284Z', [{ name: 'y' }]);
    assert.notEqual(run(first).documentNamespace, run(other).documentNamespace);
  });

  it('goes through that in the build', () => {
    const commands = stages[0]?.instructions.filter(({ word }) => word === 'RUN').map((each) => each.text) ?? [];
    assert.ok(
      commands.some((each) => each.includes('npm sbom --sbom-format=spdx | node scripts/reproducible-sbom.mjs >')),
    );
    // npm refuses to list packages that any package.json here asks for and that are not installed.
    const forgets = 'npm pkg delete devDependencies optionalDependencies --workspaces --include-workspace-root';
    assert.ok(commands.some((each) => each.includes(forgets)));
  });
});
