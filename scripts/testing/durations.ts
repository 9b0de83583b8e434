// How long each test file took when it last ran on this machine. What takes longest starts first, so that no long file
// is left to run by itself at the end. Only an order hangs on it: the file may be lost at any time.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SuiteFile } from './suites.ts';

export type Durations = ReadonlyMap<string, number>;

export function readDurations(path: string): Durations {
  try {
    const entries: [string, unknown][] = Object.entries(JSON.parse(readFileSync(path, 'utf8')));
    return new Map(entries.flatMap(([file, ms]) => (typeof ms === 'number' ? [[file, ms]] : [])));
  } catch {
    // There is none yet, or it was cut off while it was written.
    return new Map();
  }
}

/** What is known stays known for files that did not run. */
export function writeDurations(path: string, measured: Durations): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(Object.fromEntries([...readDurations(path), ...measured])));
}

/** What was never measured comes first: it may be the longest. */
export function longestFirst(files: readonly SuiteFile[], durations: Durations): SuiteFile[] {
  const of = ({ path }: SuiteFile): number => durations.get(path) ?? Number.MAX_VALUE;
  return files.toSorted((a, b) => of(b) - of(a));
}
