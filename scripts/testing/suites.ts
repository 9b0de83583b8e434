// The test suites, by folder alone: a file belongs to the suite with the longest matching folder, and to no other. A
// file outside every suite is an error, so that no test is forgotten.

import { globSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

export interface Suite {
  /** Its folder in `test`. CONTRIBUTING.md says what it protects. */
  readonly name: string;
  /**
   * `together`: many files in one process, beside others. `beside`: each file in a process of its own, beside others.
   * `alone`: one file at a time, with nothing beside it, after the others: for tests that judge a time. `on-request`:
   * alone, and only when named.
   */
  readonly runs: 'together' | 'beside' | 'alone' | 'on-request';
  /** Processors that a process of it keeps busy, until that is measured on this machine. */
  readonly weight: number;
}

const EVERY_PROCESSOR = Number.POSITIVE_INFINITY;
const row = (name: string, runs: Suite['runs'], weight = 1): Suite => ({ name, runs, weight });

/** In the order in which they start without known durations. */
export const SUITES: readonly Suite[] = [
  row('contract', 'beside', 0.75),
  row('cluster/smoke', 'beside', 0.75),
  row('browser', 'beside', 0.5),
  row('clients', 'beside', 0.9),
  row('conformance', 'beside', 0.7),
  row('cli', 'beside', 0.9),
  row('loadtest', 'beside', 0.9),
  row('chart', 'beside'),
  row('model', 'beside'),
  row('differential', 'beside'),
  row('tidy', 'together', 0.5),
  row('unit', 'together', 0.5),
  row('image', 'beside'),
  row('simulation', 'beside', EVERY_PROCESSOR),
  row('alone', 'alone'),
  row('cluster/faults', 'alone'),
  row('simulation/slow', 'on-request', EVERY_PROCESSOR),
  row('contract/slow', 'on-request'),
  row('clients/slow', 'on-request'),
  row('conformance/slow', 'on-request'),
  row('cluster/slow', 'on-request'),
  row('browser/slow', 'on-request'),
  row('model/slow', 'on-request'),
  row('property/slow', 'on-request'),
  row('differential/slow', 'on-request'),
  row('kubernetes', 'on-request'),
];

/** They measure the memory of their process, so each has one of its own although its suite shares one. */
export const MEASURES_ITS_PROCESS: readonly string[] = [
  'test/unit/shard/log/idempotency/operation-table.test.ts',
  'test/unit/shard/memory/tenant-memory.test.ts',
];

const MINUTE_MS = 60_000;
/** These only end files that hang. */
const FILE_MS_MAX = 15 * MINUTE_MS;
const ON_REQUEST_FILE_MS_MAX = 180 * MINUTE_MS;

export const timeoutOf = ({ runs }: Suite): number => (runs === 'on-request' ? ON_REQUEST_FILE_MS_MAX : FILE_MS_MAX);

export interface SuiteFile {
  readonly suite: Suite;
  /** From the root of the project. */
  readonly path: string;
}

/** Undefined for a path outside every suite. */
export function suiteOf(path: string): Suite | undefined {
  const homes = SUITES.filter(({ name }) => path.startsWith(`test/${name}/`));
  return homes.toSorted((a, b) => b.name.length - a.name.length)[0];
}

/** Every test file, suite by suite. Throws if a file is in no suite. */
export function listTestFiles(paths: readonly string[] = globSync('test/**/*.test.ts', { cwd: ROOT })): SuiteFile[] {
  const files = paths.toSorted().map((path): SuiteFile => {
    const suite = suiteOf(path);
    if (suite === undefined) throw new Error(`${path} is in the folder of no suite (scripts/testing/suites.ts).`);
    return { suite, path };
  });
  return files.toSorted((a, b) => SUITES.indexOf(a.suite) - SUITES.indexOf(b.suite));
}
