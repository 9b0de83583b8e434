// Makes the package @grantd/cli, ready for `npm publish`, in a folder: `node build.ts FOLDER`. Everything it runs is in
// it, so that it has no dependencies: an installation is one download, and nothing else gets into it later. The texts
// of the licenses of what is inside are in THIRD-PARTY-LICENSES.txt.

import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';

const HERE = import.meta.dirname;
const ROOT = join(HERE, '..', '..');

/** The packages of which a file is inside, ascending. */
function packagesIn({ inputs }: Metafile): readonly string[] {
  const names = Object.keys(inputs).flatMap(
    (path) => /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
  );
  return [...new Set(names)].filter((name) => !name.startsWith('@grantd/')).toSorted();
}

function licenseOf(name: string): string {
  const folder = [HERE, ROOT].map((each) => join(each, 'node_modules', name)).find((each) => existsSync(each));
  if (folder === undefined) throw new Error(`${name} is not where npm installs it.`);
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file));
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return [`${name} ${version} (${license})`, ...texts].join('\n\n');
}

function writeManifest(directory: string): void {
  const {
    private: _,
    exports: __,
    devDependencies: ___,
    ...manifest
  } = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8'));
  const published = {
    ...manifest,
    repository: { type: 'git', url: 'git+https://github.com/grantd/grantd.git', directory: 'packages/cli' },
    keywords: ['authorization', 'permissions', 'rebac', 'mcp', 'grantd'],
    bin: { grantd: 'dist/grantd.js' },
    files: ['dist', 'THIRD-PARTY-LICENSES.txt'],
  };
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);
}

async function buildPackage(directory: string): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { grantd: 'packages/cli/src/start.ts' },
    outdir: join(directory, 'dist'),
    bundle: true,
    // What a command imports when it runs stays a file of its own, so that no other command loads it.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    // Only a job in a cluster writes keys into a Secret, and it runs the image. It is larger than all the rest.
    external: ['@kubernetes/client-node'],
    metafile: true,
    logLevel: 'warning',
    // Libraries that are CommonJS ask for modules of Node with it.
    banner: { js: "import{createRequire as __r}from'node:module';const require=__r(import.meta.url);" },
  });
  chmodSync(join(directory, 'dist', 'grantd.js'), 0o755);
  writeManifest(directory);
  const licenses = packagesIn(metafile)
    .map(licenseOf)
    .join(`\n\n${'-'.repeat(80)}\n\n`);
  writeFileSync(join(directory, 'THIRD-PARTY-LICENSES.txt'), `${licenses}\n`);
  cpSync(join(HERE, 'README.md'), join(directory, 'README.md'));
  cpSync(join(ROOT, 'LICENSE'), join(directory, 'LICENSE'));
}

await buildPackage(process.argv[2] ?? join(HERE, 'dist'));
