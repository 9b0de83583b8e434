// What the Dockerfile puts into the image, against what the program needs from its checkout and from npm.

import { posix } from 'node:path';
import { importsOf } from '../../tidy/support/layers.ts';

interface Instruction {
  readonly word: string;
  readonly text: string;
}

export interface Stage {
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

/** The instructions in their order, one list per FROM; comments are gone and lines that go on are joined. */
export function parseStages(dockerfile: string): Stage[] {
  const lines = dockerfile
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: { base: string; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [word = '', ...rest] = line.trim().split(' ');
    if (word === 'FROM') stages.push({ base: rest[0] ?? '', instructions: [] });
    else stages.at(-1)?.instructions.push({ word, text: rest.join(' ') });
  }
  return stages;
}

/** What a stage copies, from the checkout or from another stage. */
function sourcesOf(stage: Stage | undefined, origin: 'checkout' | 'stage'): string[] {
  return (stage?.instructions ?? [])
    .filter(({ word, text }) => word === 'COPY' && text.startsWith('--from=') === (origin === 'stage'))
    .flatMap(({ text }) =>
      text
        .split(' ')
        .filter((part) => !part.startsWith('--'))
        .slice(0, -1),
    );
}

/** Files and folders of the checkout that take part in the build. */
export const listBuildSources = (stages: readonly Stage[]): string[] =>
  stages.flatMap((stage) => sourcesOf(stage, 'checkout'));

/** Files and folders that are in the image, as they are named in the checkout. */
function listShipped(stages: readonly Stage[]): string[] {
  const workingDirectory = stages[0]?.instructions.find(({ word }) => word === 'WORKDIR')?.text ?? '';
  return sourcesOf(stages.at(-1), 'stage').map((source) => posix.relative(workingDirectory, source));
}

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/**
 * What the files of src/ (path to text) load when they run and the image does not have: a line each, the file and what
 * it misses. Imports of types alone are erased before they run.
 */
export function findMissing(
  stages: readonly Stage[],
  files: ReadonlyMap<string, string>,
  dependencies: readonly string[],
): string[] {
  const shipped = listShipped(stages);
  const packages = new Set(dependencies);
  const missing: string[] = [];
  for (const [path, text] of files) {
    const specifiers = importsOf(text).filter(({ typeOnly }) => !typeOnly);
    const urls = [...text.matchAll(/new URL\('(?<target>[^']+)', import\.meta\.url\)/g)];
    const named = [
      ...specifiers.map(({ specifier }) => specifier).filter((specifier) => specifier.startsWith('.')),
      ...urls.map(({ groups }) => groups?.target ?? ''),
    ].map((target) => posix.join(posix.dirname(path), target));
    for (const wanted of [path, ...named]) {
      if (!shipped.some((folder) => isWithin(wanted, folder))) missing.push(`${path}: ${wanted}`);
    }
    for (const { specifier } of specifiers) {
      if (specifier.startsWith('.') || specifier.startsWith('node:')) continue;
      const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
      if (!packages.has(name)) missing.push(`${path}: ${name}`);
    }
  }
  if (dependencies.length > 0 && !shipped.includes('node_modules')) missing.push('node_modules');
  return missing;
}
