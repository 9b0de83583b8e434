// The test suites, by folder alone: a file belongs to the suite with the longest matching folder, and to no other. A
// file outside every suite is an error, so that no test is forgotten.

import { globSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

export interface Suite {
  /** Its folder in `test`. */
  readonly name: string;
  readonly what: string;
  /**
   * `together`: many files in one process, beside others. `beside`: each file in a process of its own, beside others.
   * `behind`: one file at a time, from the start of the run and at the lowest priority, so that it takes only processor
   * time that the others leave; for tests on virtual time. `alone`: one file at a time, with nothing but those behind.
   * `asked`: alone, and only when named.
   */
  readonly runs: 'together' | 'beside' | 'behind' | 'alone' | 'asked';
  readonly timeoutMs: number;
}

const MINUTE_MS = 60_000;
const row = (name: string, runs: Suite['runs'], minutes: number, what: string): Suite => ({
  name,
  what,
  runs,
  timeoutMs: minutes * MINUTE_MS,
});

/** In the order in which they run without known durations; among those that run in parallel, the longest first. */
export const SUITES: readonly Suite[] = [
  row('cluster/smoke', 'beside', 5, 'whole processes: start, stop, kill, refusals'),
  row('contract', 'beside', 5, 'each port, on each of its adapters'),
  row('browser', 'beside', 5, 'the console and an example in a real browser'),
  row('cli', 'beside', 5, 'the command line as a process'),
  row('loadtest', 'beside', 5, 'the load scenarios of k6'),
  row('conformance', 'beside', 5, 'the public interface over HTTP, as a black box'),
  row('clients', 'beside', 10, 'the clients: their contract on a real service over faults, and on their fakes'),
  row('chart', 'beside', 5, 'the Helm chart, rendered'),
  row('model', 'beside', 5, 'a shard compared with a plain map, and the checker of histories'),
  row('differential', 'beside', 15, 'random rules and questions, compared with the definition of rules'),
  row('tidy', 'together', 5, 'the code and the docs read as text'),
  row('property', 'together', 5, 'random cases of rules and conversions, in great numbers'),
  row('unit', 'together', 5, 'single parts of the code, in the folders of src'),
  row('image', 'beside', 5, 'the Dockerfile compared with what the program loads'),
  row('simulation', 'behind', 5, 'the cluster on virtual time: seeds and mutations'),
  row('alone', 'alone', 5, 'Redis under load'),
  row('cluster/faults', 'alone', 15, 'a whole cluster under faults, and the attacks of one tenant on another'),
  row('conformance/slow', 'asked', 60, 'the public interface, searched by schemathesis at length'),
  row('cluster/slow', 'asked', 15, 'longer faults of a whole cluster'),
  row('browser/slow', 'asked', 15, 'the console of a tenant with a million grants'),
  row('differential/slow', 'asked', 60, 'the same questions asked of OpenFGA and SpiceDB'),
  row('kubernetes', 'asked', 30, 'the image, and the chart on a real cluster; needs root'),
];

/** They measure what their whole process holds, so each has a process of its own although its suite shares one. */
export const MEASURES_ITS_PROCESS: readonly string[] = [
  'test/unit/shard/log/idempotency/operation-table.test.ts',
  'test/unit/shard/memory/tenant-memory.test.ts',
];

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
