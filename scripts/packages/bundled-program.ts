// Bundles a program of this repository into a package, with everything that it runs: the package has no dependencies,
// so an installation is one download, and nothing else gets into it later. The texts of the licenses of what is inside
// are in THIRD-PARTY-LICENSES.txt.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Metafile } from 'esbuild';

const ROOT = join(import.meta.dirname, '..', '..');

/** What Node gives a CommonJS library, and no module. */
const COMMON_JS = [
  "import{createRequire as __r}from'node:module'",
  'const require=__r(import.meta.url)',
  'const __filename=import.meta.filename,__dirname=import.meta.dirname;',
].join(';');

/** The packages of which a file is inside, ascending. */
function packagesIn(metafiles: readonly Metafile[]): readonly string[] {
  const names = metafiles
    .flatMap(({ inputs }) => Object.keys(inputs))
    .flatMap((path) => /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(names)].filter((name) => !name.startsWith('@grantd/')).toSorted();
}

/**
 * Throws if our code imports a CommonJS package only when it runs: esbuild then gives the package as a whole, where
 * Node gives its names as well. A module that imports the package has them.
 */
function assertNamed(metafiles: readonly Metafile[]): void {
  for (const { inputs, outputs } of metafiles) {
    const nameless = new Set(
      Object.values(outputs)
        .filter((output) => String(output.exports) === 'default')
        .map(({ entryPoint }) => entryPoint),
    );
    for (const [path, { imports }] of Object.entries(inputs)) {
      const wrong = imports.find((each) => each.kind === 'dynamic-import' && nameless.has(each.path));
      if (wrong === undefined || path.includes('node_modules/')) continue;
      throw new Error(`${path} imports ${wrong.path} when it runs: import it in a module, and load that.`);
    }
  }
}

function licenseOf(name: string, home: string): string {
  const manifest = findPackageJSON(name, pathToFileURL(join(home, 'package.json')));
  if (manifest === undefined) throw new Error(`${name} is not where npm installs it.`);
  const folder = dirname(manifest);
  const { version, license } = JSON.parse(readFileSync(manifest, 'utf8'));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file));
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return [`${name} ${version} (${license})`, ...texts].join('\n\n');
}

/**
 * `home`: the folder of the package in the repository. `parts`: what is built, each with its own options. `copied`:
 * other packages of which a file is in the package.
 */
export async function bundleProgram(
  directory: string,
  home: string,
  parts: readonly (BuildOptions & Required<Pick<BuildOptions, 'entryPoints' | 'target'>>)[],
  copied: readonly string[] = [],
): Promise<void> {
  const results = await Promise.all(
    parts.map((options) =>
      build({
        outdir: join(directory, 'dist'),
        ...options,
        absWorkingDir: ROOT,
        bundle: true,
        // What is imported only when it runs stays a file of its own.
        splitting: true,
        format: 'esm',
        platform: 'node',
        legalComments: 'none',
        metafile: true,
        logLevel: 'warning',
        banner: { js: COMMON_JS },
      }),
    ),
  );
  const metafiles = results.map(({ metafile }) => metafile);
  assertNamed(metafiles);
  const licenses = [...packagesIn(metafiles), ...copied]
    .map((name) => licenseOf(name, home))
    .join(`\n\n${'-'.repeat(80)}\n\n`);
  writeFileSync(join(directory, 'THIRD-PARTY-LICENSES.txt'), `${licenses}\n`);
}
