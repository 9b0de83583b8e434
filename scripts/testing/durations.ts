// How long each test file took in its last run on this machine. The slowest start first, so that none is left to run
// alone at the end. Only the order depends on it: the file may be lost at any time.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SuiteFile } from './suites.ts';

export type Durations = ReadonlyMap<string, number>;

export function readDurations(path: string): Durations {
  try {
    const entries: [string, unknown][] = Object.entries(JSON.parse(readFileSync(path, 'utf8')));
    return new Map(entries.flatMap(([file, ms]) => (typeof ms === 'number' ? [[file, ms]] : [])));
  } catch {
    // There is none yet, or writing it was interrupted.
    return new Map();
  }
}

/** Files that did not run keep their earlier durations. */
export function writeDurations(path: string, measured: Durations): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(Object.fromEntries([...readDurations(path), ...measured])));
}

/** Files never measured come first: one of them may be the slowest. */
export function longestFirst(files: readonly SuiteFile[], durations: Durations): SuiteFile[] {
  const of = ({ path }: SuiteFile): number => durations.get(path) ?? Number.MAX_VALUE;
  return files.toSorted((a, b) => of(b) - of(a));
}
