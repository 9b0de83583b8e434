// The chart as a release packages it: pushed to a registry on loopback, and found there by Helm, with the image that
// the same registry serves.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';
import packageFile from '../../package.json' with { type: 'json' };
import { releasedFiles } from '../../scripts/package-chart.ts';
import { missingRegistry, OciRegistry } from '../../tools/engines/oci-registry.ts';
import { PROGRAMS_DIRECTORY } from '../../tools/engines/tools-directory.ts';
import { useDirectory } from '../kit/directory.ts';
import { CHART, type KubernetesObject, missingHelm } from './support/helm.ts';
import { mirrorCommands, packagingCommands } from './support/install-guide.ts';
import { containersOf, podsOf } from './support/pods.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SCRIPT = join(ROOT, 'scripts', 'package-chart.ts');
const { version } = packageFile;
const readRoot = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const run = promisify(execFile);
/** A fork, whose chart leads nowhere else. */
const SOURCE = 'https://github.com/Platform/grantd.fork';

const WHAT = 'the chart of a release in a registry';
const missing = (await missingHelm(WHAT)) ?? (await missingRegistry(WHAT));

describe('the chart of a release', { skip: missing ?? false }, () => {
  const folder = useDirectory();
  /** They play the public registry, and that of a platform team. */
  let publicRegistry: OciRegistry;
  let registry: OciRegistry;
  let digest = '';

  async function inFolder(command: string, ...args: readonly string[]): Promise<string> {
    const env = { HOME: folder, PATH: `${PROGRAMS_DIRECTORY}:${process.env.PATH}` };
    return (await run(command, args, { cwd: folder, env })).stdout;
  }

  /** What Helm makes of the chart at that address: without values, but for those that a cluster must give. */
  async function renderFrom(chart: string, ...set: readonly string[]): Promise<KubernetesObject[]> {
    const args = ['template', 'grantd', `oci://${chart}`, '--version', version, '--plain-http'];
    const values = ['standalone.enabled=true', ...set].flatMap((each) => ['--set', each]);
    const text = await inFolder('helm', ...args, ...values);
    return parseAllDocuments(text).flatMap((document) => (document.toJS() as KubernetesObject | null) ?? []);
  }

  function imageOf(objects: readonly KubernetesObject[]): string {
    const images = new Set(podsOf(objects).flatMap((pod) => containersOf(pod).map(({ image }) => image)));
    assert.equal(images.size, 1);
    return [...images][0] ?? '';
  }

  before(async () => {
    [publicRegistry, registry] = await Promise.all([OciRegistry.start(), OciRegistry.start()]);
    symlinkSync(join(ROOT, 'scripts'), join(folder, 'scripts'));
    writeFileSync(join(folder, 'layer'), version);
    await inFolder('tar', '--create', '--file', 'layer.tar', 'layer');
    const image = `${publicRegistry.address}/grantd/grantd`;
    const layer = ['--new_layer', join(folder, 'layer.tar'), '--new_tag', `${image}:${version}`];
    await publicRegistry.crane('append', ...layer);
    digest = await publicRegistry.crane('digest', `${image}:${version}`);
    // As the workflow of a release does it.
    await inFolder(process.execPath, SCRIPT, '--image', image, '--source', SOURCE, '--to', folder);
    const charts = `oci://${publicRegistry.address}/grantd/charts`;
    await inFolder('helm', 'push', `grantd-${version}.tgz`, charts, '--plain-http');
  });
  after(() => Promise.all([publicRegistry?.stop(), registry?.stop()]));

  it('installs the image that the release pushed, in every container', async () => {
    const { address } = publicRegistry;
    const image = imageOf(await renderFrom(`${address}/grantd/charts/grantd`));
    assert.equal(image, `${address}/grantd/grantd:${version}`);
    assert.equal(await publicRegistry.crane('digest', image), digest);
  });

  it('installs the image of a mirror that is made as the guide says, by either value', async () => {
    const { address } = registry;
    await inFolder('bash', '-euc', mirrorCommands(publicRegistry.address, address, version));
    for (const value of ['image.registry', 'global.imageRegistry']) {
      const image = imageOf(await renderFrom(`${address}/grantd/charts/grantd`, `${value}=${address}`));
      assert.equal(image, `${address}/grantd/grantd:${version}`);
      assert.equal(await registry.crane('digest', image), digest);
    }
  });

  it('names the image of a platform team that packages it as the guide says', async () => {
    const { address } = registry;
    await inFolder('bash', '-euc', packagingCommands(address));
    const image = imageOf(await renderFrom(`${address}/platform/charts/grantd`));
    assert.equal(image, `${address}/platform/grantd:${version}`);
  });

  it('says what it is, where it comes from and what is new', async () => {
    const chart = `oci://${publicRegistry.address}/grantd/charts/grantd`;
    const shown = parse(await inFolder('helm', 'show', 'chart', chart, '--version', version, '--plain-http'));
    assert.deepEqual([shown.version, shown.appVersion], [version, version]);
    assert.equal(shown.home, SOURCE);
    assert.deepEqual(shown.sources, [shown.home]);
    assert.doesNotMatch(JSON.stringify([shown.icon, shown.annotations]), /github(usercontent)?\.com\/grantd\/grantd/);
    const [image] = parse(shown.annotations['artifacthub.io/images']);
    assert.equal(image.image, `${publicRegistry.address}/grantd/grantd:${version}`);
    const changes: { kind: string; description: string }[] = parse(shown.annotations['artifacthub.io/changes']);
    assert.ok(changes.length > 5);
    for (const { kind, description } of changes) {
      assert.match(kind, /^(added|changed|deprecated|removed|fixed|security)$/);
      assert.match(description, /^[^\n]{5,160}$/);
      assert.doesNotMatch(description, /\*\*|\]\(/);
    }
    assert.equal(shown.annotations['artifacthub.io/signKey'], undefined);
  });

  it('has no examples in it, which would name another image', async () => {
    const files = await inFolder('tar', '--list', '--file', `grantd-${version}.tgz`);
    assert.match(files, /^grantd\/values\.yaml$/m);
    assert.doesNotMatch(files, /^grantd\/ci\//m);
  });

  it('is refused for an image or a repository that no registry would take', async () => {
    const packaged = (image: string, source: string) =>
      inFolder(process.execPath, SCRIPT, '--image', image, '--source', source, '--to', folder);
    const source = 'https://github.com/grantd/grantd';
    await assert.rejects(packaged('ghcr.io/Platform/grantd', source), /in lower case/);
    await assert.rejects(packaged('grantd', source), /is not a registry, a slash and a repository/);
    await assert.rejects(
      packaged('ghcr.io/grantd/grantd', 'https://example.com/x'),
      /is not the address of a repository/,
    );
  });
});

describe('what a release writes into the chart', () => {
  const [values, chart] = [readRoot('charts/grantd/values.yaml'), readRoot('charts/grantd/Chart.yaml')];
  const options = { image: 'ghcr.io/grantd/grantd', source: 'https://github.com/grantd/grantd' };
  const changelog = `# Changelog\n\n## Unreleased\n\n## ${version} - 2026-01-01\n\n### Added\n\n- **One thing**: with\n  [more](a.md) words.\n\n### Fixed\n\n- Another. And so on.\n\n## 0.0.1 - 2025-01-01\n\n- Old.\n`;

  it('is the image alone, of all values', () => {
    const released = parse(releasedFiles(values, chart, { ...options, changelog }).values);
    const { image, ...others } = parse(values);
    assert.deepEqual(released, {
      ...others,
      image: { ...image, registry: 'ghcr.io', repository: 'grantd/grantd' },
    });
  });

  it('are the changes of its version, each in a line with its kind', () => {
    const { annotations } = parse(releasedFiles(values, chart, { ...options, changelog }).chart);
    assert.deepEqual(parse(annotations['artifacthub.io/changes']), [
      { kind: 'added', description: 'One thing' },
      { kind: 'fixed', description: 'Another' },
    ]);
  });

  it('cannot be written without a section of the version in the changelog, or into values of another form', () => {
    assert.throws(() => releasedFiles(values, chart, { ...options, changelog: '# Changelog\n' }), /has no section of/);
    const changed = values.replace('  repository: ""', '  repository: grantd');
    assert.throws(() => releasedFiles(changed, chart, { ...options, changelog }), /is not in the file exactly once/);
  });
});

describe('Chart.yaml', () => {
  const chart = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'));

  it('leads to files of the repository: its icon and its links', () => {
    const links: { name: string; url: string }[] = parse(chart.annotations['artifacthub.io/links']);
    const raw = chart.home.replace('https://github.com/', 'https://raw.githubusercontent.com/');
    const urls = [chart.icon, ...links.map(({ url }) => url)];
    assert.ok(urls.length > 2);
    for (const url of urls) {
      const [, path = ''] = new RegExp(`^(?:${raw}|${chart.home}/blob)/v${version}/(.+)$`).exec(url) ?? [];
      assert.ok(path !== '' && existsSync(join(ROOT, path)), url);
    }
    assert.deepEqual(chart.sources, [chart.home]);
    assert.ok(chart.maintainers.every(({ name, url }: Record<string, string>) => name && url));
  });
});
