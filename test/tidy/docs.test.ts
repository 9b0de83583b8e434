// The docs against the code: generated pages are fresh, and every command, link and setting that a page names exists.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { renderApiPage } from '../../scripts/docs/api-page.ts';
import { renderMetricsPage } from '../../scripts/docs/metrics-page.ts';
import { renderQuotedFiles } from '../../scripts/docs/quoted-files.ts';
import { renderSettingsPage } from '../../scripts/docs/settings-page.ts';
import { FOREIGN_NAMES, variableNames } from '../../src/config/read-config.ts';
import { ERROR_CATALOGUE } from '../../src/core/errors.ts';
import { LOCK_TABLE } from '../../src/store/cassandra/schema/migration-lock.ts';
import { MIGRATIONS } from '../../src/store/cassandra/schema/migrations.ts';
import { listFiles, ROOT, readCode, readText } from '../kit/source-tree.ts';

const pages = listFiles()
  .filter((path) => path.endsWith('.md'))
  .map((path) => ({ path, text: readText(path) }));
const scripts: Record<string, string> = JSON.parse(readText('package.json')).scripts;
const FRESHEN = 'Run `npm run generate -- docs`.';
const NAMED_FILES =
  /`(?<file>(?:src|packages|examples|test|scripts|tools|proto|docs|bench|loadtest|charts|k8s)\/[\w./-]*[\w/])`/g;

/** Programs and scripts that a reader runs: the blocks of code of the pages, and the files beside them. */
const samples = [
  ...pages
    .filter(({ path }) => path !== 'CHANGELOG.md')
    .flatMap(({ path, text }) =>
      [...text.matchAll(/^ *```(\w+)\n(.*?)^ *```$/gms)].map(([, language = '', code = '']) => ({
        path,
        language,
        code,
      })),
    ),
  ...listFiles()
    .filter((path) => /^(?:docs|examples)\/.*\.(?:sh|js|mjs|ts)$/.test(path))
    .map((path) => ({ path, language: path.slice(path.lastIndexOf('.') + 1), code: readText(path) })),
];

/** Where a sample names a variable, and the one name that it has on all pages. */
const VARIABLES: readonly (readonly [RegExp, string])[] = [
  [/\bBearer \$\{?([A-Z]\w*)/g, 'GRANTD_KEY'],
  [/\b(?!GRANTD_)([A-Z]\w*)=\S*(?:"key"|\$GRANTD_KEY|gk1_)/g, 'GRANTD_KEY'],
  [/\$\{?([A-Z]\w*)\}?\/(?:v1|access)\//g, 'GRANTD_URL'],
  [/"\$\{?([A-Z]\w*)\}?\$/g, 'GRANTD_URL'],
  [/\b(?!GRANTD_)([A-Z]\w*)=http:\/\/127\.0\.0\.1:8080\b/g, 'GRANTD_URL'],
];

/** The names in a sample that other pages have for the same. */
const findOtherNames = (code: string): string[] =>
  VARIABLES.flatMap(([pattern, name]) =>
    [...code.matchAll(pattern)].map(([, found = '']) => found).filter((found) => found !== name),
  );

const NOT_POSIX = /<<<|<\(|>\(|(?:^|[;&|]) *(?:source|local|\[\[) |\$\{[@\w]+:\d|\$'|&>|--output-delimiter/gm;
/** What of a script only some shells, or only GNU's tools, understand. The files that it writes are no part of it. */
const findNotPosix = (code: string): string[] =>
  code
    .replace(/<< ?'END'.*?^END$/gms, '')
    .match(NOT_POSIX)
    ?.map((found) => found.trim()) ?? [];

/** As GitHub makes the anchor of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
const withoutCode = (text: string): string => text.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '');

/** The pages of `docs` to which no links lead from its index, over other pages of `docs`. `texts`: by path. */
function findUnreachable(texts: ReadonlyMap<string, string>): string[] {
  const reached = new Set(['docs/README.md']);
  for (const path of reached) {
    for (const { groups } of withoutCode(texts.get(path) ?? '').matchAll(/\]\((?<file>[^)\s#]+\.md)/g)) {
      const linked = join(dirname(path), groups?.file ?? '');
      if (linked.startsWith('docs/') && texts.has(linked)) reached.add(linked);
    }
  }
  return [...texts.keys()].filter((path) => path.startsWith('docs/') && !reached.has(path));
}

describe('the docs', () => {
  it('hold the table of settings as it is in the code', () => {
    assert.equal(readText('docs/reference/settings.md'), renderSettingsPage(), FRESHEN);
  });

  it('hold the reference of the API as its operations say', () => {
    assert.equal(readText('docs/reference/api.md'), renderApiPage(), FRESHEN);
  });

  it('quote files of the examples as they are', () => {
    const stale = pages.filter(({ path, text }) => renderQuotedFiles(path, text) !== text).map(({ path }) => path);
    assert.deepEqual(stale, [], FRESHEN);
    const page = readText('docs/cookbook/drive.md');
    assert.ok(page.includes(readText('examples/models/drive/rules.grantd')));
    assert.equal(renderQuotedFiles('docs/cookbook/drive.md', page.replaceAll('can_share', 'can_steal')), page);
  });

  it('name every error at an operation that may answer with it', () => {
    const documents = ['openapi', 'operator-openapi'].map((name) =>
      JSON.parse(readText(`docs/reference/${name}.json`)),
    );
    const operations = JSON.stringify(documents.map(({ paths }) => paths));
    // A method that a path does not have is no operation.
    const named = Object.keys(ERROR_CATALOGUE).filter((code) => code !== 'method-not-allowed');
    assert.deepEqual(
      named.filter((code) => !operations.includes(`"${code}"`)),
      [],
    );
  });

  it('hold the metrics as the program serves them', async () => {
    assert.equal(readText('docs/reference/metrics.md'), await renderMetricsPage(), FRESHEN);
  });

  it('name npm scripts that exist', () => {
    const found = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\bnpm (?:run )(?:-s |--silent )?(?<name>[a-z][a-z0-9:-]*)/g)]
        .map(({ groups }) => groups?.name ?? '')
        .filter((name) => !(name in scripts))
        .map((name) => `${path}: npm run ${name}`),
    );
    assert.deepEqual(found, []);
  });

  it('link to files and headings that exist', () => {
    const found = pages.flatMap(({ path, text }) =>
      [...withoutCode(text).matchAll(/\[[^\]]*\]\((?<target>[^)\s]+)\)/g)].flatMap(({ groups }) => {
        const target = groups?.target ?? '';
        if (/^[a-z]+:/.test(target)) return [];
        const [file = '', anchor] = target.split('#');
        const linked = file === '' ? path : join(dirname(path), file);
        if (!existsSync(join(ROOT, linked))) return [`${path}: ${target}`];
        if (anchor === undefined || !linked.endsWith('.md')) return [];
        const anchors = [...readText(linked).matchAll(/^#+ (?<heading>.+)$/gm)].map((match) =>
          anchorOf(match.groups?.heading ?? ''),
        );
        return anchors.includes(anchor) ? [] : [`${path}: ${target}`];
      }),
    );
    assert.deepEqual(found, []);
  });

  it('lead to every page from their index', () => {
    assert.ok(pages.length > 50);
    assert.deepEqual(findUnreachable(new Map(pages.map(({ path, text }) => [path, text]))), []);
    const lost = new Map([
      ['docs/README.md', '[a](guides/a.md)'],
      ['docs/guides/a.md', '[b](b.md#x), [c](../../README.md), `[d](d.md)`'],
      ['docs/guides/b.md', ''],
      ['docs/guides/d.md', ''],
      ['README.md', '[e](docs/guides/d.md)'],
    ]);
    assert.deepEqual(findUnreachable(lost), ['docs/guides/d.md']);
  });

  it('name settings that exist', () => {
    const known = new Set([...variableNames(), ...FOREIGN_NAMES]);
    const found = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\bGRANTD_[A-Z_]*[A-Z]\b/g)]
        .map(([name]) => name)
        .filter((name) => !known.has(name))
        .map((name) => `${path}: ${name}`),
    );
    assert.deepEqual(found, []);
  });

  it('name types of the code in the glossary that exist', () => {
    const code = [...readCode(['src']).values()].join('\n');
    const named = [...readText('docs/reference/glossary.md').matchAll(/^\|[^|]+\|[^|]+\| `(\w+)` +\|$/gm)];
    assert.ok(named.length >= 40);
    assert.deepEqual(
      named.filter(
        ([, type = '']) =>
          !new RegExp(`^(?:export )?(?:abstract )?(?:class|interface|type) ${type}\\b`, 'm').test(code),
      ),
      [],
    );
  });

  it('name each table of Cassandra, and have one step of a snapshot for it', () => {
    const statements = MIGRATIONS.flatMap((migration) => migration.statements('ks'));
    const created = statements.flatMap((text) => /CREATE TABLE IF NOT EXISTS ks\.(\w+)/.exec(text)?.[1] ?? []);
    const tables = [LOCK_TABLE, ...created].sort();
    const steps = readText('docs/operating/backup.md').matchAll(/^nodetool snapshot .* -kt (.+)$/gm);
    const inSteps = [...steps].flatMap(([, names = '']) => names.split(','));
    assert.deepEqual(
      inSteps.sort(),
      tables.map((table) => `grantd.${table}`),
    );
    const page = readText('docs/operating/cassandra.md');
    assert.deepEqual(
      tables.filter((table) => !page.includes(`\`${table}\``)),
      [],
    );
  });

  it('name files of the project that exist', () => {
    const found = pages
      .filter(({ path }) => path !== 'CHANGELOG.md')
      .flatMap(({ path, text }) =>
        [...text.matchAll(NAMED_FILES)]
          .map(({ groups }) => groups?.file ?? '')
          .filter((file) => !existsSync(join(ROOT, file)))
          .map((file) => `${path}: ${file}`),
      );
    assert.deepEqual(found, []);
  });

  it('name source files that exist by the end of their path', () => {
    const sources = listFiles().map((path) => `/${path}`);
    const found = pages
      .filter(({ path }) => path !== 'CHANGELOG.md')
      .flatMap(({ path, text }) =>
        [...text.matchAll(/`(?<file>[\w./-]+\.ts)`/g)]
          .map(({ groups }) => groups?.file ?? '')
          .filter((file) => !sources.some((source) => source.endsWith(`/${file}`)))
          .map((file) => `${path}: ${file}`),
      );
    assert.deepEqual(found, []);
  });

  it('call the address and the key of the service by the same names everywhere', () => {
    assert.deepEqual(findOtherNames('curl "$BASE_URL/v1/check" -H "Authorization: Bearer $KEY"'), ['KEY', 'BASE_URL']);
    assert.deepEqual(findOtherNames('PDP_URL=http://127.0.0.1:8080 PDP_KEY=$GRANTD_KEY node x.mjs'), [
      'PDP_KEY',
      'PDP_URL',
    ]);
    assert.ok(samples.length > 100);
    const found = samples.flatMap(({ path, code }) => findOtherNames(code).map((name) => `${path}: ${name}`));
    assert.deepEqual(found, []);
  });

  it('have commands for every POSIX shell, or name the shell that they need', () => {
    assert.deepEqual(findNotPosix('local x=1; cat <<< x | cut --output-delimiter " "'), [
      'local',
      '<<<',
      '--output-delimiter',
    ]);
    const found = samples
      .filter(({ path, language }) => language === 'sh' && !/\bbash\b/.test(readText(path)))
      .flatMap(({ path, code }) => findNotPosix(code).map((what) => `${path}: ${what}`));
    assert.deepEqual(found, []);
  });

  it('say at each comparison which versions were compared, and when', () => {
    const tools = readText('bench/compare/tools.sh');
    const run = ['OPENFGA', 'SPICEDB'].map((name) => new RegExp(`^${name}=v(.+)$`, 'm').exec(tools)?.[1] ?? '?');
    const shown = ([openfga = '', spicedb = '']: readonly string[]): RegExp[] => [
      /\b2026-\d\d-\d\d\b/,
      new RegExp(`OpenFGA[\\s|]+${openfga}\\b`),
      new RegExp(`SpiceDB[\\s|]+${spicedb}\\b`),
    ];
    const measured = shown(run.map((version) => RegExp.escape(version)));
    const found = [
      { path: 'README.md', patterns: measured },
      { path: 'docs/compare.md', patterns: measured },
      { path: 'docs/guides/coming-from-openfga-or-spicedb.md', patterns: measured },
      // Read, not run: it may be of later versions.
      { path: 'docs/compare-features.md', patterns: shown(run.map(() => '\\d+\\.\\d+\\.\\d+')) },
    ].flatMap(({ path, patterns }) =>
      patterns.filter((pattern) => !pattern.test(readText(path))).map((pattern) => `${path}: ${pattern.source}`),
    );
    assert.deepEqual(found, []);
  });

  it('link the issues of other projects', () => {
    const found = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/(?<!\[)\bissues? #?\d+/g)].map(([named]) => `${path}: ${named}`),
    );
    assert.deepEqual(found, []);
  });

  it('say beside each package, image or chart of a registry that it is not there yet', () => {
    const shown = new RegExp(
      [
        /\bnpx (?!--no\b)[^\n`]*@grantd\//,
        /\bnpm (?:i|install)\b[^\n`]* @grantd\//,
        /\bpip install grantd\b/,
        /\bgo get github\.com\/grantd\//,
        /\bhelm repo add\b/,
        /\boci:\/\/ghcr\.io\/grantd\//,
        /\bghcr\.io\/grantd\/grantd\b/,
        /<groupId>io\.github\.grantd</,
      ]
        .map(({ source }) => source)
        .join('|'),
    );
    const said =
      /nothing .{0,20}\b(?:on|in) .{0,25}(?:before|until)|no version is tagged before|no release is published yet|once there is a release|neither .* is published yet|nothing is published yet/i;
    /** Up to the next heading: what is said elsewhere may not be read. */
    const sectionsOf = (text: string): string[] => text.split(/^(?=#{1,6} )/m);
    assert.ok(shown.test('helm repo add grantd') && shown.test('npm install --save-dev @grantd/testing'));
    assert.ok(
      !shown.test('npx --no grantd check') && !shown.test('npm install ./grantd/clients/typescript/dist/client'),
    );
    const sections = pages
      .filter(({ path }) => path !== 'CHANGELOG.md' && path !== 'docs/contributing/releasing.md')
      .flatMap(({ path, text }) => sectionsOf(text).map((section) => ({ path, section })))
      .filter(({ section }) => shown.test(section));
    assert.ok(sections.length >= 7);
    const silent = sections.filter(({ section }) => !said.test(section.replaceAll(/\s+/g, ' ')));
    assert.deepEqual(
      silent.map(({ path, section }) => `${path}: ${shown.exec(section)?.[0]}`),
      [],
    );
  });

  it('run no package from a registry in which it may be of somebody else', () => {
    // `--no` runs what is installed; `npx node` and the like are packages of this repository.
    const unsafe = /\bnpx\b["', [\]:\na-z]*?(?:--yes|-y|@grantd\/|\bgrantd\b)/g;
    assert.equal('"command": "npx",\n "args": ["--yes", "@grantd/cli", "mcp"]'.match(unsafe)?.length, 1);
    assert.equal('npx --no grantd check\nnpx node x.ts'.match(unsafe), null);
    const programs = listFiles()
      .filter((path) => /^(?:clients|packages|examples)\/.*\.(?:ts|js|mjs|py|go|java)$/.test(path))
      .map((path) => ({ path, code: readText(path) }));
    assert.ok(programs.length > 200);
    const found = [...samples, ...programs].flatMap(({ path, code }) =>
      (code.match(unsafe) ?? []).map((text) => `${path}: ${text}`),
    );
    assert.deepEqual(found, []);
  });
});
