// The version of a release stands in many files. All of them say that of package.json, so that a tag publishes one
// version of everything; the API has a version of its own, since clients see that one.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listFiles, readText } from '../kit/source-tree.ts';

const { version } = JSON.parse(readText('package.json'));
const SEMANTIC = String.raw`(\d+\.\d+\.\d+)`;

const JAVA_PARENT = new RegExp(`<artifactId>grantd-parent</artifactId>\\s*<version>${SEMANTIC}</version>`, 'g');

/** Each finds at least one version, and all versions of a release in its file. */
const PLACES: Readonly<Record<string, RegExp>> = {
  'package-lock.json': new RegExp(`(?<="name": "grantd",\\s+"version": )"${SEMANTIC}"`, 'g'),
  'package.json': new RegExp(`"@grantd/convert": "${SEMANTIC}"`, 'g'),
  'packages/cli/package.json': new RegExp(`"version": "${SEMANTIC}"`, 'g'),
  'packages/console/package.json': new RegExp(`"version": "${SEMANTIC}"`, 'g'),
  'packages/convert/package.json': new RegExp(`"version": "${SEMANTIC}"`, 'g'),
  'packages/sync/package.json': new RegExp(`"version": "${SEMANTIC}"`, 'g'),
  'charts/grantd/Chart.yaml': new RegExp(`(?:^(?:version|appVersion): |/v)${SEMANTIC}`, 'gm'),
  'clients/typescript/package.json': new RegExp(`"version": "${SEMANTIC}"`, 'g'),
  'clients/typescript/testing/package.json': new RegExp(`"(?:version|@grantd/client)": "\\^?${SEMANTIC}"`, 'g'),
  'clients/typescript/src/agent.ts': new RegExp(`^const VERSION = '${SEMANTIC}';$`, 'gm'),
  'clients/python/pyproject.toml': new RegExp(`^version = "${SEMANTIC}"$`, 'gm'),
  'clients/python/src/grantd/__init__.py': new RegExp(`^__version__ = "${SEMANTIC}"$`, 'gm'),
  'clients/python/src/grantd/_core.py': new RegExp(`^VERSION = "${SEMANTIC}"$`, 'gm'),
  'clients/go/grantdotel/go.mod': new RegExp(`^\\s*github.com/grantd/grantd/clients/go v${SEMANTIC}$`, 'gm'),
  'clients/java/pom.xml': JAVA_PARENT,
  'clients/java/client/pom.xml': JAVA_PARENT,
  'clients/java/testing/pom.xml': JAVA_PARENT,
  'clients/java/examples/pom.xml': JAVA_PARENT,
  'clients/java/client/src/main/java/io/github/grantd/GrantdBuilder.java': new RegExp(
    `String VERSION = "${SEMANTIC}";`,
    'g',
  ),
  'clients/java/README.md': new RegExp(`<version>${SEMANTIC}</version>`, 'g'),
  'clients/go/client.go': new RegExp(`^\\s*version = "${SEMANTIC}"$`, 'gm'),
};
const COUNTS: Readonly<Record<string, number>> = {
  'package-lock.json': 2,
  'charts/grantd/Chart.yaml': 6,
  'clients/typescript/testing/package.json': 2,
};

const found = (path: string, pattern: RegExp): (string | undefined)[] =>
  [...readText(path).matchAll(pattern)].map(([, each]) => each);

describe('the version of a release', () => {
  for (const [path, pattern] of Object.entries(PLACES)) {
    it(`stands in ${path}`, () => {
      assert.deepEqual(found(path, pattern), Array(COUNTS[path] ?? 1).fill(version));
    });
  }

  it('is that of the newest entry of the changelog, below what is not released', () => {
    const headings = [...readText('CHANGELOG.md').matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading);
    const [unreleased, newest = ''] = headings;
    assert.equal(unreleased, 'Unreleased');
    const [named, date = ''] = newest.split(' - ');
    assert.equal(named, version);
    assert.match(date, /^\d{4}-\d{2}-\d{2}$/);
  });

  it('is the one of every image that a page or an example names', () => {
    const IMAGE = new RegExp(`(?:\\bgrantd[:-]|--version |--build-arg VERSION=)${SEMANTIC}`, 'g');
    const pages = listFiles().filter(
      (path) => /^(README\.md|docs\/|k8s\/|examples\/)/.test(path) && /\.(md|ya?ml)$/.test(path),
    );
    const named = pages.flatMap((path) => found(path, IMAGE).map((each) => ({ path, version: each })));
    assert.ok(named.length > 0);
    assert.deepEqual(
      named.filter((each) => each.version !== version),
      [],
    );
  });

  it('is not that of the API, whose first number is in its paths', () => {
    for (const path of ['docs/reference/openapi.json', 'docs/reference/operator-openapi.json']) {
      const { info, paths } = JSON.parse(readText(path));
      const [major] = info.version.split('.');
      assert.ok(
        Object.keys(paths).some((each) => each.split('/').includes(`v${major}`)),
        path,
      );
    }
  });
});
