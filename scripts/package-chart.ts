// Packages the chart of a release, which names the image of that release and the repository that it comes from:
//
//   node scripts/package-chart.ts --image ghcr.io/grantd/grantd --source https://github.com/grantd/grantd --to FOLDER
//
// The chart of a checkout names no image, because its image is in no registry. So a fork releases a chart that installs
// the image of the fork. Needs `helm` and no package of npm: the job that publishes runs no code of a dependency.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = join(import.meta.dirname, '..');
const USAGE = 'usage: package-chart.ts --image REGISTRY/REPOSITORY --source https://github.com/OWNER/NAME --to FOLDER';
const GITHUB = 'https://github.com/';
const CHART_SOURCE = 'github.com/grantd/grantd';
const RAW_SOURCE = 'raw.githubusercontent.com/grantd/grantd';
/** Registries refuse upper case, which the name of a repository on GitHub may have. */
const IMAGE = /^(?<registry>[a-z0-9.-]+(?::\d+)?)\/(?<repository>[a-z0-9]+(?:[._/-]+[a-z0-9]+)*)$/;
const SOURCE = /^https:\/\/github\.com\/[\w.-]+\/[\w.-]+$/;
/** Of Artifact Hub; changes under another heading are of the kind `changed`. */
const KINDS = ['added', 'changed', 'deprecated', 'removed', 'fixed', 'security'];
/** Artifact Hub shows each change in a line. */
const CHANGE_LENGTH_MAX = 160;
const CHANGES_MAX = 50;

/** Replaces the only occurrence: a file that has changed its form must not pass unnoticed. */
function replaceOnly(text: string, old: string, replacement: string): string {
  if (text.split(old).length !== 2) throw new Error(`"${old}" is not in the file exactly once.`);
  return text.replace(old, () => replacement);
}

/** The first sentence of an entry of the changelog, without links and emphasis. */
function summaryOf(entry: string): string {
  const plain = entry
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '');
  const sentence = /^.*?[.:](?= |$)/.exec(plain)?.[0] ?? plain;
  const short = sentence.replace(/[.:]$/, '').trim();
  return short.length > CHANGE_LENGTH_MAX ? `${short.slice(0, CHANGE_LENGTH_MAX - 1)}…` : short;
}

interface Change {
  readonly kind: string;
  readonly description: string;
}

/** The entries of a version in the changelog. */
function changesOf(changelog: string, version: string): Change[] {
  const section = changelog.split(/^## /m).find((each) => each.startsWith(`${version} - `));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section of ${version}.`);
  const changes = section.split(/^### /m).flatMap((part, index) => {
    const heading = index === 0 ? '' : (part.split('\n', 1)[0] ?? '').trim().toLowerCase();
    const kind = KINDS.includes(heading) ? heading : 'changed';
    return part
      .split(/^- /m)
      .slice(1)
      .map((entry) => ({ kind, description: summaryOf(entry) }));
  });
  return changes.slice(0, CHANGES_MAX);
}

/** Annotations are texts that hold YAML, of which JSON is a part. */
const annotation = (name: string, value: unknown): string =>
  `  artifacthub.io/${name}: ${quoted(JSON.stringify(value))}\n`;
const quoted = (text: string): string => JSON.stringify(text);

export interface ReleasedChart {
  /** With its registry, without a tag. */
  readonly image: string;
  /** The address of the repository on GitHub. */
  readonly source: string;
  readonly changelog: string;
}

/** values.yaml and Chart.yaml of a checkout as the released chart has them. */
export function releasedFiles(
  values: string,
  chart: string,
  { image, source, changelog }: ReleasedChart,
): { readonly values: string; readonly chart: string } {
  const { registry = '', repository = '' } = IMAGE.exec(image)?.groups ?? {};
  if (registry === '') throw new Error(`"${image}" is not a registry, a slash and a repository in lower case.`);
  if (!SOURCE.test(source)) throw new Error(`"${source}" is not the address of a repository on GitHub.`);
  const version = /^version: (.+)$/m.exec(chart)?.[1] ?? '';
  const name = source.slice(GITHUB.length);
  return {
    values: replaceOnly(
      replaceOnly(values, '\n  registry: ""\n', `\n  registry: ${quoted(registry)}\n`),
      '\n  repository: ""\n',
      `\n  repository: ${quoted(repository)}\n`,
    ),
    chart: [
      chart.replaceAll(CHART_SOURCE, `github.com/${name}`).replaceAll(RAW_SOURCE, `raw.githubusercontent.com/${name}`),
      annotation('images', [
        { name: 'grantd', image: `${image}:${version}`, platforms: ['linux/amd64', 'linux/arm64'] },
      ]),
      annotation('changes', changesOf(changelog, version)),
    ].join(''),
  };
}

function packageChart(image: string, source: string, folder: string): void {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-chart-'));
  try {
    const chart = join(directory, 'grantd');
    cpSync(join(ROOT, 'charts', 'grantd'), chart, { recursive: true });
    const read = (name: string): string => readFileSync(join(chart, name), 'utf8');
    const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
    const released = releasedFiles(read('values.yaml'), read('Chart.yaml'), { image, source, changelog });
    writeFileSync(join(chart, 'values.yaml'), released.values);
    writeFileSync(join(chart, 'Chart.yaml'), released.chart);
    execFileSync('helm', ['package', chart, '--destination', folder], { stdio: ['ignore', 'inherit', 'inherit'] });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

if (import.meta.main) {
  const options = { image: { type: 'string' }, source: { type: 'string' }, to: { type: 'string' } } as const;
  try {
    const { image, source, to } = parseArgs({ options }).values;
    if (image === undefined || source === undefined || to === undefined) throw new Error(USAGE);
    packageChart(image, source, to);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 2;
  }
}
