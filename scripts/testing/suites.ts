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
   * `alone`: one file at a time, with nothing beside it, after the others: for tests that judge a time. `on-request`:
   * alone, and only when named.
   */
  readonly runs: 'together' | 'beside' | 'alone' | 'on-request';
  /** Processors that a process of it keeps busy, until that is measured on this machine. */
  readonly weight: number;
}

const EVERY_PROCESSOR = Number.POSITIVE_INFINITY;
const row = (name: string, runs: Suite['runs'], weight: number, what: string): Suite => ({ name, runs, weight, what });

/** In the order in which they start without known durations. */
export const SUITES: readonly Suite[] = [
  row('contract', 'beside', 0.75, 'each port, on each of its adapters'),
  row('cluster/smoke', 'beside', 0.75, 'whole processes: start, stop, kill, refusals'),
  row('browser', 'beside', 0.5, 'the console and an example in a real browser'),
  row('clients', 'beside', 0.9, 'the clients: their contract on a real service over faults, and on their fakes'),
  row('conformance', 'beside', 0.7, 'the public interface over HTTP, as a black box'),
  row('cli', 'beside', 0.9, 'the command line as a process'),
  row('loadtest', 'beside', 0.9, 'the load scenarios of k6'),
  row('chart', 'beside', 1, 'the Helm chart, rendered'),
  row('model', 'beside', 1, 'a shard compared with a plain map, and the checker of histories'),
  row('differential', 'beside', 1, 'random rules and questions, compared with the definition of rules'),
  row('tidy', 'together', 0.5, 'the code and the docs read as text'),
  row('unit', 'together', 0.5, 'single parts of the code, in the folders of src'),
  row('image', 'beside', 1, 'the Dockerfile compared with what the program loads'),
  row(
    'simulation',
    'beside',
    EVERY_PROCESSOR,
    'the cluster on virtual time: seeds, and mutations at their recorded seeds',
  ),
  row('alone', 'alone', 1, 'rates that several fronts share over Redis'),
  row('cluster/faults', 'alone', 1, 'a whole cluster under faults, and the attacks of one tenant on another'),
  row(
    'simulation/slow',
    'on-request',
    EVERY_PROCESSOR,
    'many seeds, and every mutation searched for from the first seed',
  ),
  row('contract/slow', 'on-request', 1, 'the store on three nodes of Cassandra that fail'),
  row('clients/slow', 'on-request', 1, 'the clients on each runtime, built and installed as their pages say'),
  row(
    'conformance/slow',
    'on-request',
    1,
    'the public interface, searched by schemathesis at length, and answered by readers',
  ),
  row('cluster/slow', 'on-request', 1, 'longer faults of a whole cluster'),
  row('browser/slow', 'on-request', 1, 'the console of a tenant with a million grants'),
  row(
    'model/slow',
    'on-request',
    1,
    'a shard compared with a plain map in many more random sequences, and longer histories',
  ),
  row('property/slow', 'on-request', 1, 'random cases of rules, conditions and conversions, in great numbers'),
  row(
    'differential/slow',
    'on-request',
    1,
    'the same questions to grantd, OpenFGA and SpiceDB; the same conditions to grantd and cel-go',
  ),
  row('kubernetes', 'on-request', 1, 'the image, and the chart on a real cluster; needs root'),
];

/** They measure the memory of their process, so each has one of its own although its suite shares one. */
export const MEASURES_ITS_PROCESS: readonly string[] = [
  'test/unit/shard/log/idempotency/operation-table.test.ts',
  'test/unit/shard/memory/tenant-memory.test.ts',
];

const MINUTE_MS = 60_000;
/** These only end files that hang. */
const FILE_MS_MAX = 30 * MINUTE_MS;
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
