// The oldest Node that the TypeScript client supports, from npm, installed once outside the tree.

import { execFile } from 'node:child_process';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TOOLS_DIRECTORY } from './tools-directory.ts';

const VERSION = '20.20.2';
const INSTALL_MS_MAX = 300_000;

/** Its command. Rejects if it cannot be had. */
export async function installNode20(): Promise<string> {
  const name = `node-linux-${process.arch}`;
  const directory = join(TOOLS_DIRECTORY, `node-${VERSION}`);
  const command = join(directory, 'node_modules', name, 'bin', 'node');
  if (existsSync(command)) return command;
  // Another run may install it at the same time: whoever is first gives the folder its name.
  const attempt = `${directory}-${process.pid}`;
  console.error(`installing Node ${VERSION} from npm into ${directory}`);
  try {
    const args = ['install', '--prefix', attempt, '--no-save', '--ignore-scripts', `${name}@${VERSION}`];
    await promisify(execFile)('npm', args, { timeout: INSTALL_MS_MAX });
    if (!existsSync(command)) renameSync(attempt, directory);
  } finally {
    rmSync(attempt, { recursive: true, force: true });
  }
  return command;
}
