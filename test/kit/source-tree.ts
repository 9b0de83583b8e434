// The files of the project as text, for tests that read the code itself. With git: what is tracked or could be; without
// it: everything but what is made (dependencies, data, tools).

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');
const MADE = new Set(['node_modules', '.git', '.grantd', '.tools']);

function walk(directory: string): string[] {
  return readdirSync(join(ROOT, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
    if (MADE.has(entry.name)) return [];
    return entry.isDirectory() ? walk(path) : [path];
  });
}

/** Paths from the root, with `/`, ascending. */
export function listFiles(): string[] {
  const git = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const paths = git.status === 0 ? git.stdout.split('\0').filter((path) => path !== '') : walk('');
  return paths.filter((path) => existsSync(join(ROOT, path))).sort();
}

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The code in these top folders, path to text. Generated code is left out. */
export function readCode(folders: readonly string[]): Map<string, string> {
  const wanted = listFiles().filter(
    (path) =>
      folders.some((folder) => path.startsWith(`${folder}/`)) &&
      /\.m?[jt]s$/.test(path) &&
      !path.startsWith('clients/typescript/src/generated/'),
  );
  return new Map(wanted.map((path) => [path, readText(path)]));
}
