// Programs that npm has as packages with a binary, such as other runtimes for the TypeScript client: installed once
// outside the tree, on first use, without running any script of the package.

import { execFile } from 'node:child_process';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { reportMissing } from './engine-script.ts';
import { TOOLS_DIRECTORY } from './tools-directory.ts';

const INSTALL_MS_MAX = 300_000;

interface NpmProgram {
  readonly name: string;
  readonly version: string;
  readonly package: string;
  /** Within the package. */
  readonly path: string;
}

/** The oldest Node that the TypeScript client supports. */
export const NODE_20: NpmProgram = {
  name: 'node',
  version: '20.20.2',
  package: `node-linux-${process.arch}`,
  path: 'bin/node',
};

/** The oldest Node that the package of the command line supports. */
export const NODE_22: NpmProgram = { ...NODE_20, version: '22.23.3' };

/** The oldest Node on which the service for tests runs from its package. */
export const NODE_24: NpmProgram = { ...NODE_20, version: '24.22.3' };

export const DENO: NpmProgram = {
  name: 'deno',
  version: '2.9.6',
  package: `@deno/linux-${process.arch}-glibc`,
  path: 'deno',
};

export const BUN: NpmProgram = {
  name: 'bun',
  version: '1.4.5',
  package: `@oven/bun-linux-${process.arch === 'arm64' ? 'aarch64' : process.arch}`,
  path: 'bin/bun',
};

/** Its command. Rejects if it cannot be installed. */
export async function installNpmProgram(program: NpmProgram): Promise<string> {
  const { name, version } = program;
  const directory = join(TOOLS_DIRECTORY, `${name}-${version}`);
  const command = join(directory, 'node_modules', program.package, program.path);
  if (existsSync(command)) return command;
  // Another run may install it at the same time: the first to finish renames its folder.
  const attempt = `${directory}-${process.pid}`;
  console.error(`${name}: installing ${version} from npm (once)`);
  try {
    const args = ['install', '--prefix', attempt, '--no-save', '--ignore-scripts', `${program.package}@${version}`];
    await promisify(execFile)('npm', args, { timeout: INSTALL_MS_MAX });
    if (!existsSync(command)) renameSync(attempt, directory);
  } finally {
    rmSync(attempt, { recursive: true, force: true });
  }
  return command;
}

/** The command of the oldest Node on which something runs; where it cannot be had, says so, and gives this one. */
export const oldestNode = (program: NpmProgram, what: string): Promise<string> =>
  installNpmProgram(program).catch((error: unknown) => {
    reportMissing(`${what} on Node ${program.version}`, String(error));
    return process.execPath;
  });
