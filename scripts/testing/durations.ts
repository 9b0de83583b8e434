// The time of each test file in its last run on this machine. It only affects the order and grouping of files, so the
// record may be lost at any time.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export interface Duration {
  readonly ms: number;
  /** Processor time, with that of the processes it started. */
  readonly cpuMs: number;
}

/** By path. */
export type Durations = ReadonlyMap<string, Duration>;

export function readDurations(path: string): Durations {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(path, 'utf8'))));
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
