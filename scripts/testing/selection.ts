// Which tests a command line means: words (steps, suites, folders, files), what a change touches, and one part of
// several.

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

/** A word that names nothing, or a part that is none. */
export class SelectionError extends Error {}

const trimmed = (word: string): string => word.replace(/^\.\//, '').replace(/\/+$/, '');

/** Whether the word names the file: by itself, by its suite, or by a folder of it. */
function names(word: string, { suite, path }: SuiteFile): boolean {
  if (path === word || suite.name === word || suite.name.endsWith(`/${word}`)) return true;
  const folder = word.startsWith('test/') ? word : `test/${word}`;
  if (!path.startsWith(`${folder}/`)) return false;
  // A folder above a suite that only runs when it is asked for does not ask for it.
  return suite.runs !== 'asked' || `${folder}/`.startsWith(`test/${suite.name}/`);
}

/** Without words: everything but what only runs when it is asked for. */
export function select(words: readonly string[], all: readonly SuiteFile[]): Selection {
  if (words.length === 0) return { steps: STEPS, files: all.filter(({ suite }) => suite.runs !== 'asked') };
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
  if (of < 1 || index < 1 || index > of) throw new SelectionError(`--part ${text} is none: write 1/4, 2/4 and so on.`);
  return { index, of };
}

/**
 * One of several parts that together hold each step and each file once. Files are dealt suite by suite, so that each
 * part has its share of every suite; the steps that need no tests come with the first.
 */
export function partOf({ steps, files }: Selection, { index, of }: Part): Selection {
  const mine = files.filter((_file, at) => at % of === index - 1);
  const isMine = ({ neededBy }: Step): boolean =>
    neededBy === undefined ? index === 1 : mine.some(({ suite }) => neededBy.includes(suite.name));
  return { steps: steps.filter(isMine), files: mine };
}
