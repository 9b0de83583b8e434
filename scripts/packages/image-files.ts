// Makes the folder that the container image contains: `node image-files.ts FOLDER`. The program is bundled with all
// that it imports: a process reads some large files instead of a thousand small ones, and no types, so that it starts
// with a quarter of the processor time. Invariants: what a file asks for by its own address is in the folder at that
// address; no package is inside that an installation without development and optional ones would lack.

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, posix, relative } from 'node:path';
import type { Plugin } from 'esbuild';
import { bundleProgram } from './bundled-program.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** By the names of what is built for each. Threads start with a file of their own. */
const ENTRIES: Readonly<Record<string, string>> = {
  grantd: 'src/main.ts',
  'dev-thread': 'src/roles/dev-thread.ts',
  'sqlite-worker': 'src/store/sqlite/worker/worker.ts',
};
/** What the program reads while it runs, as it is in the repository. */
const FILES = ['LICENSE', 'proto', 'src/http/pages/assets', 'packages/console/src/assets'];
/** Packages for browsers: the program serves a file of each. */
const SERVED: Readonly<Record<string, readonly string[]>> = {
  '@picocss/pico': ['package.json', 'LICENSE.md', 'css/pico.min.css'],
  'htmx.org': ['package.json', 'LICENSE', 'dist/htmx.min.js'],
};

/** Packages that are here only for the development, or where something optional is wanted. */
function listExcluded(): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  return Object.entries<{ dev?: true; optional?: true; devOptional?: true }>(packages)
    .filter(([, { dev, optional, devOptional }]) => dev ?? optional ?? devOptional)
    .flatMap(([path]) => /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1] ?? []);
}

/** A file asks for others by its address, which is that of the bundle when it runs. */
const addresses: Plugin = {
  name: 'addresses',
  setup({ onLoad }) {
    onLoad({ filter: /\/(?:src|packages)\/.*\.ts$/ }, async ({ path }) => {
      const source = relative(ROOT, path);
      const text = await readFile(path, 'utf8');
      if (source.startsWith('..') || !text.includes('import.meta.url')) return undefined;
      const contents = text
        .replace(/new URL\('(\.[^']+\.ts)', import\.meta\.url\)/g, (_, target) => {
          const wanted = posix.join(dirname(source), target);
          const [entry] = Object.entries(ENTRIES).find(([, each]) => each === wanted) ?? [];
          if (entry === undefined) throw new Error(`${source} starts ${wanted}, which is not built.`);
          return `new URL(import.meta.resolve('./${entry}.js'))`;
        })
        .replaceAll('import.meta.url', `new URL('../${source}', import.meta.url)`);
      return { contents, loader: 'ts' };
    });
  },
};

async function buildImageFiles(directory: string): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  await bundleProgram(
    directory,
    ROOT,
    [
      {
        entryPoints: ENTRIES,
        target: 'node26',
        chunkNames: '[name]-[hash]',
        // Of each package the very files that Node would load.
        conditions: [],
        external: [...listExcluded()],
        plugins: [addresses],
      },
    ],
    Object.keys(SERVED),
  );
  for (const path of FILES) cpSync(join(ROOT, path), join(directory, path), { recursive: true });
  for (const [name, paths] of Object.entries(SERVED)) {
    for (const path of paths)
      cpSync(join(ROOT, 'node_modules', name, path), join(directory, 'node_modules', name, path));
  }
  const { name, version, license, type } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify({ name, version, license, type }, undefined, 2)}\n`);
}

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('Usage: node image-files.ts FOLDER');
await buildImageFiles(directory);
