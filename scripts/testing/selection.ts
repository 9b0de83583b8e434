// Resolves a command line to tests: arguments (steps, suites, folders, files), tests that a change touches, and one
// part of several.

import { STEPS, type Step } from './steps.ts';
import type { SuiteFile } from './suites.ts';

export interface Selection {
  readonly steps: readonly Step[];
  readonly files: readonly SuiteFile[];
}

export interface Part {
  readonly index: number;
  readonly of: number;
}

/** An argument that names nothing, or an invalid part. */
export class SelectionError extends Error {}

const trimmed = (word: string): string => word.replace(/^\.\//, '').replace(/\/+$/, '');

/** Whether the argument names the file: by its path, its suite, or one of its folders. */
function names(word: string, { suite, path }: SuiteFile): boolean {
  if (path === word || suite.name === word || suite.name.endsWith(`/${word}`)) return true;
  const folder = word.startsWith('test/') ? word : `test/${word}`;
  if (!path.startsWith(`${folder}/`)) return false;
  // A suite that only runs on request is not selected by a folder above it.
  return suite.runs !== 'on-request' || `${folder}/`.startsWith(`test/${suite.name}/`);
}

/** Without arguments: everything except suites on request. */
export function select(words: readonly string[], all: readonly SuiteFile[]): Selection {
  if (words.length === 0) return { steps: STEPS, files: all.filter(({ suite }) => suite.runs !== 'on-request') };
  const files = new Set<SuiteFile>();
  const steps = new Set<Step>();
  for (const given of words) {
    const word = trimmed(given);
    const step = STEPS.find(({ name }) => name === word);
    const named = all.filter((file) => names(word, file));
    if (step === undefined && named.length === 0) {
      throw new SelectionError(`"${given}" names no suite, folder or file of tests. See npm test -- --list.`);
    }
    if (step !== undefined) steps.add(step);
    for (const file of named) files.add(file);
  }
  return { steps: STEPS.filter((step) => steps.has(step)), files: all.filter((file) => files.has(file)) };
}

export function parsePart(text: string): Part {
  const [, index = 0, of = 0] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (of < 1 || index < 1 || index > of)
    throw new SelectionError(`--part ${text} is invalid: write 1/4, 2/4 and so on.`);
  return { index, of };
}

/**
 * One of several parts that together contain each step and each file once. Files are distributed suite by suite, so
 * that each part has its share of every suite. The steps belong to the first part.
 */
export const partOf = ({ steps, files }: Selection, { index, of }: Part): Selection => ({
  steps: index === 1 ? steps : [],
  files: files.filter((_file, at) => at % of === index - 1),
});
