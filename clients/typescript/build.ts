// Makes the packages @grantd/client and @grantd/testing, ready for `npm publish`, in two folders: `node build.ts
// FOLDER`. The service for tests stays out of the package that applications deploy. Invariant: a package holds only
// what its entry points reach.

import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { bundleProgram } from '../../scripts/packages/bundled-program.ts';

const HERE = import.meta.dirname;
const ROOT = join(HERE, '..', '..');
const CLIENT_ENTRIES = ['exports', 'express', 'fastify', 'nest', 'otel'];

function emitDeclarations(project: string, directory: string): void {
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [tsc, '-p', join(HERE, project), '--emitDeclarationOnly', '--outDir', directory];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The compiler failed:\n${stdout}`);
}

/** The declarations that the entries reach, with the names that files have after the build. */
function copyDeclarations(from: string, to: string, entries: readonly string[]): void {
  const files = new Set(entries);
  // Iterating a set includes elements added meanwhile.
  for (const file of files) {
    const text = readFileSync(join(from, `${file}.d.ts`), 'utf8');
    const rewritten = text
      .replaceAll("'../src/exports.ts'", "'@grantd/client'")
      .replaceAll(/'\.\/([\w/-]+)\.ts'/g, (_, name: string) => {
        files.add(join(dirname(file), name));
        return `'./${name}.js'`;
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

/** Not minified: Node prints the line of an uncaught error, and people read stack traces. */
const COMMON = {
  absWorkingDir: HERE,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  packages: 'external',
  logLevel: 'warning',
} as const;

const CLIENT_APART: Plugin = {
  name: 'the client is a package of its own',
  setup: ({ onResolve }) => onResolve({ filter: /\/exports\.ts$/ }, () => ({ path: '@grantd/client', external: true })),
};

/** What the service finds beside its sources or in a package, and where that is in the bundle, by the end of a path. */
const MOVED: readonly (readonly [file: string, from: string, to: string])[] = [
  ['sqlite/worker-client.ts', "'./worker/worker.ts'", "'./worker.js'"],
  [
    'pages/assets.ts',
    "import.meta.resolve('@picocss/pico/css/pico.min.css')",
    "new URL('assets/pico.min.css', import.meta.url)",
  ],
];
const MOVED_FILES: Plugin = {
  name: 'what the service finds beside its sources is in the package',
  setup: ({ onLoad }) =>
    onLoad({ filter: /(worker-client|assets)\.ts$/ }, ({ path }) => {
      const [, from, to] = MOVED.find(([file]) => path.endsWith(file)) ?? [];
      if (from === undefined || to === undefined) return undefined;
      const text = readFileSync(path, 'utf8');
      if (!text.includes(from)) throw new Error(`${path} does not have ${from}.`);
      return { loader: 'ts', contents: text.replace(from, to) };
    }),
};

/** Files that the service reads lie around its bundle as they lie around its sources. */
async function bundleService(directory: string): Promise<void> {
  const parts = { outdir: join(directory, 'dist', 'service'), target: 'node24' };
  await bundleProgram(
    directory,
    HERE,
    [
      {
        ...parts,
        entryPoints: { start: 'clients/typescript/testing/start.ts' },
        external: ['cassandra-driver'],
        plugins: [MOVED_FILES],
      },
      { ...parts, entryPoints: { worker: 'src/store/sqlite/worker/worker.ts' } },
    ],
    // The reference, which is a file of the repository, has its license in it.
    ['@picocss/pico'],
  );
  const service = join(directory, 'dist', 'service');
  chmodSync(join(service, 'start.js'), 0o755);
  cpSync(join(ROOT, 'src', 'http', 'pages', 'assets'), join(service, 'assets'), { recursive: true });
  const pico = fileURLToPath(import.meta.resolve('@picocss/pico/css/pico.min.css'));
  cpSync(pico, join(service, 'assets', 'pico.min.css'));
  cpSync(join(ROOT, 'proto'), join(directory, 'proto'), { recursive: true });
}

async function buildPackages(directory: string): Promise<void> {
  const [client, testing] = [join(directory, 'client'), join(directory, 'testing')];
  for (const each of [client, testing]) rmSync(each, { recursive: true, force: true });
  const declarations = mkdtempSync(join(tmpdir(), 'grantd-declarations-'));
  try {
    emitDeclarations('tsconfig.build.json', join(declarations, 'client'));
    copyManifest(HERE, client);
    copyDeclarations(join(declarations, 'client'), join(client, 'dist'), CLIENT_ENTRIES);
    emitDeclarations('testing/tsconfig.build.json', join(declarations, 'testing'));
    copyManifest(join(HERE, 'testing'), testing);
    copyDeclarations(join(declarations, 'testing', 'testing'), join(testing, 'dist'), ['testing']);
  } finally {
    rmSync(declarations, { recursive: true });
  }
  const entryPoints = CLIENT_ENTRIES.map((name) => `src/${name}.ts`);
  await build({ ...COMMON, entryPoints, splitting: true, outdir: join(client, 'dist') });
  const helper = { entryPoints: ['testing/testing.ts'], plugins: [CLIENT_APART], outdir: join(testing, 'dist') };
  await build({ ...COMMON, ...helper });
  await bundleService(testing);
}

await buildPackages(resolve(process.argv[2] ?? join(HERE, 'dist')));
