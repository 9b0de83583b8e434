// The packages of the TypeScript client, built, packed and installed in a folder as an application has them, beside the
// frameworks that it may use.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..', '..');
export const CLIENT = join(ROOT, 'clients', 'typescript');
/** What an application may have beside the client. */
const PEERS = ['@nestjs', '@opentelemetry', '@types', 'express', 'fastify', 'reflect-metadata', 'rxjs'];

export interface PackedPackage {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly files: readonly string[];
}

export interface ClientPackages {
  /** Of the application. */
  readonly directory: string;
  readonly packed: readonly PackedPackage[];
  remove(): void;
}

interface PackReport {
  readonly name: string;
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

async function pack(folders: readonly string[], to: string): Promise<readonly PackedPackage[]> {
  const { stdout } = await run('npm', ['pack', ...folders, '--json', '--pack-destination', to], { cwd: to });
  const reports: PackReport[] = JSON.parse(stdout);
  return reports.map(({ name, filename, files }) => {
    const path = join(to, filename);
    return { name, path, bytes: statSync(path).size, files: files.map((file) => file.path) };
  });
}

export async function buildClientPackages(): Promise<ClientPackages> {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-client-'));
  await run(process.execPath, [join(CLIENT, 'build.ts'), join(directory, 'built')]);
  const built = ['client', 'testing'].map((name) => join(directory, 'built', name));
  const packed = await pack(built, directory);
  for (const { name, path } of packed) {
    const target = join(directory, 'node_modules', name);
    mkdirSync(target, { recursive: true });
    await run('tar', ['-xzf', path, '--strip-components=1', '-C', target]);
  }
  for (const name of PEERS) symlinkSync(join(ROOT, 'node_modules', name), join(directory, 'node_modules', name));
  return { directory, packed, remove: () => rmSync(directory, { recursive: true }) };
}

/** The programs in a page, in their order. */
export function programsIn(page: string): readonly string[] {
  const text = readFileSync(join(CLIENT, page), 'utf8');
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block = '']) => block);
}

/** Type-checks a project. Rejects with what the compiler says. */
export async function checkTypes(project: string): Promise<void> {
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  try {
    await run(process.execPath, [tsc, '-p', project]);
  } catch (error) {
    if (error instanceof Error && 'stdout' in error) throw new Error(`${project} has type errors:\n${error.stdout}`);
    throw error;
  }
}

/** Type-checks the JavaScript of an example, in which it leaves a project. */
export async function checkScripts(directory: string): Promise<void> {
  const options = JSON.parse(readFileSync(join(CLIENT, 'examples', 'tsconfig.json'), 'utf8'));
  const compilerOptions = {
    ...options.compilerOptions,
    lib: ['es2023'],
    allowJs: true,
    checkJs: true,
    skipLibCheck: true,
    typeRoots: [join(ROOT, 'node_modules', '@types')],
  };
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['**/*.js'] }));
  await checkTypes(directory);
}

/** Runs a tool of npm. Rejects with its output if it fails. */
export async function runTool(name: string, args: readonly string[]): Promise<string> {
  const command = join(ROOT, 'node_modules', '.bin', name);
  try {
    return (await run(command, [...args])).stdout;
  } catch (error) {
    const output = error instanceof Error && 'stdout' in error ? `${error.stdout}` : String(error);
    throw new Error(`${name} ${args.join(' ')}\n${output}`);
  }
}

/** A program without types, and without the packages that it imports. */
export async function compile(source: string, target: string): Promise<void> {
  await build({
    entryPoints: [source],
    outfile: target,
    bundle: true,
    packages: 'external',
    format: 'esm',
    target: 'es2022',
    logLevel: 'silent',
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
  });
}
