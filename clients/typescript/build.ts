// Makes the packages @grantd/client and @grantd/testing, ready for `npm publish`, in two folders: `node build.ts
// FOLDER`. They come from one tree; the fake stays out of the package that applications deploy. Invariant: a package
// holds only what its entry points reach.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

const HERE = import.meta.dirname;
const ROOT = join(HERE, '..', '..');
const CLIENT_ENTRIES = ['exports', 'express', 'fastify', 'nest', 'otel'];

function emitDeclarations(directory: string): void {
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [tsc, '-p', join(HERE, 'tsconfig.build.json'), '--emitDeclarationOnly', '--outDir', directory];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The compiler failed:\n${stdout}`);
}

/** The declarations that the entries reach, with the names that files have after the build. */
function copyDeclarations(
  from: string,
  to: string,
  entries: readonly string[],
  external = new Map<string, string>(),
): void {
  const files = new Set(entries);
  // Iterating a set includes elements added meanwhile.
  for (const file of files) {
    const text = readFileSync(join(from, `${file}.d.ts`), 'utf8');
    const rewritten = text.replaceAll(/'\.\/([\w/-]+)\.ts'/g, (_, name: string) => {
      const other = external.get(name);
      if (other === undefined) files.add(join(dirname(file), name));
      return `'${other ?? `./${name}.js`}'`;
    });
    const target = join(to, `${file}.d.ts`);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, rewritten);
  }
}

function copyManifest(from: string, to: string): void {
  const { scripts: _, ...manifest } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'));
  mkdirSync(to, { recursive: true });
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  cpSync(join(from, 'README.md'), join(to, 'README.md'));
  cpSync(join(ROOT, 'LICENSE'), join(to, 'LICENSE'));
}

/** As it is written: Node prints the line of an uncaught error, and people read stack traces. */
const COMMON = {
  absWorkingDir: HERE,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  packages: 'external',
  logLevel: 'warning',
} as const;

async function buildPackages(directory: string): Promise<void> {
  const [client, testing] = [join(directory, 'client'), join(directory, 'testing')];
  for (const each of [client, testing]) rmSync(each, { recursive: true, force: true });
  const declarations = mkdtempSync(join(tmpdir(), 'grantd-declarations-'));
  try {
    emitDeclarations(declarations);
    copyManifest(HERE, client);
    copyDeclarations(declarations, join(client, 'dist'), CLIENT_ENTRIES);
    copyManifest(join(HERE, 'testing'), testing);
    copyDeclarations(declarations, join(testing, 'dist'), ['testing'], new Map([['exports', '@grantd/client']]));
  } finally {
    rmSync(declarations, { recursive: true });
  }
  const entryPoints = CLIENT_ENTRIES.map((name) => `src/${name}.ts`);
  await build({ ...COMMON, entryPoints, splitting: true, outdir: join(client, 'dist') });
  await build({
    ...COMMON,
    entryPoints: ['src/testing.ts'],
    outdir: join(testing, 'dist'),
    plugins: [
      {
        name: 'the client is a package of its own',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^\.\/exports\.ts$/ }, () => ({ path: '@grantd/client', external: true })),
      },
    ],
  });
}

await buildPackages(process.argv[2] ?? join(HERE, 'dist'));
