// Chooses the tests that a change touches: those that import a changed file, directly or indirectly. Suites that start
// the whole program do not import it, so a change of the program chooses none of them.

import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { ROOT, type SuiteFile } from './suites.ts';

/** Files without imports, and the suites that read them. */
const READERS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(charts|k8s)\//, ['chart', 'tidy']],
  [/^(Dockerfile|\.dockerignore)$/, ['image', 'tidy']],
  [/^(package(-lock)?\.json|tsconfig\.json|\.npmrc)$/, ['unit', 'tidy', 'image']],
  [/^docs\/reference\/openapi\.json$|^test\/conformance\/.*\.(json|txt)$/, ['conformance', 'clients', 'tidy']],
  [/^clients\//, ['clients', 'tidy']],
  [/^proto\//, ['unit', 'tidy']],
];
const IMPORTS = /(?:\bfrom|\bimport\s*\(?|\bimport\.meta\.resolve\(|\bnew URL\()\s*'(\.{1,2}\/[^']+\.(?:m?[jt]s))'/g;
/** Every suite that starts the program names it; following that would choose all of them for every change. */
const PROGRAM = 'src/main.ts';

/** Maps each file to those that import it. */
export function importersOf(texts: ReadonlyMap<string, string>): Map<string, Set<string>> {
  const importers = new Map<string, Set<string>>();
  for (const [path, text] of texts) {
    for (const [, specifier = ''] of text.matchAll(IMPORTS)) {
      const target = posix.join(posix.dirname(path), specifier);
      if (target === PROGRAM) continue;
      const those = importers.get(target) ?? new Set();
      importers.set(target, those.add(path));
    }
  }
  return importers;
}

/** The test files that a change of these paths touches. Tests that read the text of the whole project always run. */
export function touchedBy(
  changed: readonly string[],
  all: readonly SuiteFile[],
  importers: ReadonlyMap<string, ReadonlySet<string>>,
): SuiteFile[] {
  if (changed.length === 0) return [];
  const reached = new Set(changed);
  for (const path of reached) {
    for (const importer of importers.get(path) ?? []) reached.add(importer);
  }
  const suites = new Set(['tidy']);
  for (const [pattern, names] of READERS) {
    if (changed.some((path) => pattern.test(path))) for (const name of names) suites.add(name);
  }
  return all.filter(({ path, suite }) => suite.runs !== 'on-request' && (reached.has(path) || suites.has(suite.name)));
}

function git(...args: readonly string[]): string[] {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.trim()}`);
  return stdout.split('\n').filter((line) => line !== '');
}

/** Since the branch left `main`, including uncommitted changes. */
export function changedPaths(): string[] {
  const [base = 'HEAD'] = git('merge-base', 'main', 'HEAD');
  return [...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')];
}

export function listChangedTests(all: readonly SuiteFile[]): SuiteFile[] {
  const paths = globSync('{src,packages,test,scripts,tools,bench,loadtest}/**/*.{ts,mjs}', { cwd: ROOT });
  const texts = new Map(paths.map((path) => [path, readFileSync(`${ROOT}/${path}`, 'utf8')]));
  return touchedBy(changedPaths(), all, importersOf(texts));
}
