// A Python command for a test, installed from PyPI into a cache folder outside the tree, once per pinned version. If
// the machine has no virtual environments, its packages go into a plain folder.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TOOLS_DIRECTORY } from './tools-directory.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');
const PYTHON = 'python3';
const INSTALL_MS_MAX = 300_000;

/** Packages of PyPI, by the file that pins them. */
interface PythonPackages {
  readonly name: string;
  readonly requirements: string;
}

export const SCHEMATHESIS: PythonPackages = {
  name: 'schemathesis',
  requirements: join(ROOT, 'test', 'conformance', 'schemathesis-requirements.txt'),
};

/** The tools that check and run the Python client. */
export const PYTHON_CLIENT: PythonPackages = {
  name: 'python-client',
  requirements: join(ROOT, 'clients', 'python', 'requirements-test.txt'),
};

/** How to run a module of the installed packages. */
export interface PythonTool {
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
}

type Attempt = (directory: string, requirements: string) => Promise<PythonTool>;

const pip = (command: string, args: readonly string[]): Promise<unknown> =>
  run(command, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...args], {
    timeout: INSTALL_MS_MAX,
  });

const inVirtualEnvironment: Attempt = async (directory, requirements) => {
  await run(PYTHON, ['-m', 'venv', directory], { timeout: INSTALL_MS_MAX });
  const command = join(directory, 'bin', 'python');
  await pip(command, ['--requirement', requirements]);
  return { command, environment: {} };
};

const inVirtualenv: Attempt = async (directory, requirements) => {
  await run(PYTHON, ['-m', 'virtualenv', '--quiet', directory], { timeout: INSTALL_MS_MAX });
  const command = join(directory, 'bin', 'python');
  await pip(command, ['--requirement', requirements]);
  return { command, environment: {} };
};

const inFolder: Attempt = async (directory, requirements) => {
  await pip(PYTHON, ['--target', directory, '--requirement', requirements]);
  return { command: PYTHON, environment: { PYTHONPATH: directory } };
};

/** Throws one error that says why each way of installing failed. */
export async function installPythonTool({ name, requirements }: PythonPackages): Promise<PythonTool> {
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const directory = join(TOOLS_DIRECTORY, `${name}-${digest}`);
  const marker = join(directory, 'installed.json');
  if (existsSync(marker)) return JSON.parse(readFileSync(marker, 'utf8'));
  console.error(`${name}: installing from PyPI (once)`);
  const failures: string[] = [];
  for (const attempt of [inVirtualEnvironment, inVirtualenv, inFolder]) {
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true });
    try {
      const tool = await attempt(directory, requirements);
      writeFileSync(marker, JSON.stringify(tool));
      return tool;
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
  }
  rmSync(directory, { recursive: true, force: true });
  throw new Error(`${name} cannot be installed; it needs ${PYTHON} with venv or pip.\n${failures.join('\n')}`);
}
